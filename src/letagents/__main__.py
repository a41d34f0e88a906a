"""`python -m letagents` is the command line."""

from letagents.entrypoints.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
