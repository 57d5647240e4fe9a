"""`python -m tlsim` is the command `tlsim`."""

from tlsim.cli import main

if __name__ == "__main__":
    main()
