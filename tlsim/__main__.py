"""`python -m tlsim` is the command `tlsim`."""

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line; Ctrl-C while it is loaded ends it in one line as well."""
    before = signal.signal(signal.SIGINT, _leave)
    from tlsim.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


def _leave(_: int, __: FrameType | None) -> None:
    """End the process: there is nothing to print yet."""
    os.write(2, b"tlsim: interrupted\n")
    os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
