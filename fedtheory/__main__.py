"""``python -m fedtheory`` is the command ``fedtheory``."""

from fedtheory.command_line.main import main

if __name__ == "__main__":
    main(prog_name="fedtheory")
