"""`python -m shadowviz` is the command `shadowviz`."""

import sys

from shadowviz.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
