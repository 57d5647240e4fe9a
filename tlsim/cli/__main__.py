"""`python -m tlsim.cli`, the same as `tlsim`."""

from tlsim.cli import main

main()
