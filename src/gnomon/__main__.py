"""``python -m gnomon``: the command line."""

from gnomon.workbench.cli import main

if __name__ == "__main__":
    main()
