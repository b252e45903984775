"""The command line, a module a command; `PURPOSES` names them all."""

from __future__ import annotations

import contextlib
import io
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from fedtheory.command_line.check import check_command, replay_command, selftest_command
from fedtheory.command_line.compare import compare_command
from fedtheory.command_line.conform import conform_command
from fedtheory.command_line.design import design_command
from fedtheory.command_line.devices import devices_command
from fedtheory.command_line.explain import explain_command
from fedtheory.command_line.export import export_command
from fedtheory.command_line.largest import largest_command
from fedtheory.command_line.list import list_command
from fedtheory.command_line.lyapunov import lyapunov_command
from fedtheory.command_line.options import EXIT_FAILED, EXIT_INTERRUPTED
from fedtheory.command_line.prove import new_command, prove_command
from fedtheory.command_line.run import run_command
from fedtheory.command_line.sweep import sweep_command
from fedtheory.command_line.verify_certificate import verify_certificate_command
from fedtheory.command_line.worst_case import worst_case_command

#: commands by purpose, as help shows them
PURPOSES = {
    "Claims of papers": ("check", "selftest", "replay", "list", "new"),
    "Theorems": (
        "prove",
        "worst-case",
        "lyapunov",
        "largest",
        "compare",
        "design",
        "verify-certificate",
        "explain",
        "export",
    ),
    "Running methods": ("run", "sweep", "devices"),
    "Somebody's code": ("conform",),
}


class Commands(click.Group):
    """Shows the project's own errors as one line, and keeps exit status 2 for bad arguments; help shows commands by purpose."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the commands, each with its first sentence whole."""
        width = max(map(len, self.commands))
        for title, names in PURPOSES.items():
            with formatter.section(title):
                shown = [(name.ljust(width), self.commands[name].get_short_help_str(limit=200)) for name in names]
                formatter.write_dl(shown)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from fedtheory.core.errors import CannotTrace, FedtheoryError, InvalidInput, NotAvailable
        from fedtheory.tools.journal import JOURNALS
        from fedtheory.tools.loading import refuse_shadows

        try:
            # a terminal without, say, an ellipsis shows its number, as on standard error
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(errors="backslashreplace")
            refuse_shadows()
            with _termination_as_ctrl_c():
                return super().invoke(ctx)
        except (CannotTrace, InvalidInput, NotAvailable) as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(2)
        except BrokenPipeError:
            raise  # click leaves in silence: who reads has seen enough
        except OSError as error:
            place = f": {error.filename}" if error.filename else ""
            hints = list(getattr(error, "__notes__", ()))
            if error.filename and JOURNALS.name in Path(os.fsdecode(error.filename)).parts:
                hints.append(
                    f"{JOURNALS} keeps what is done, for the case of an interruption: run from a folder that can be written"
                )
            click.echo(
                f"error: {'; '.join([f'a file cannot be read or written ({error.strerror or error}{place})', *hints])}",
                err=True,
            )
            sys.exit(2)
        except MemoryError as error:
            why = f" ({error})" if str(error) else ""
            click.echo(
                f"error: there is not enough memory{why}; ask for fewer clients, rounds or runs, a smaller dimension or a smaller model",
                err=True,
            )
            sys.exit(2)
        except KeyboardInterrupt as stopped:
            click.echo(": ".join(["interrupted", *map(str, stopped.args)]), err=True)
            sys.exit(EXIT_INTERRUPTED)
        except FedtheoryError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(EXIT_FAILED)


ONE_REQUEST = 1.0  #: seconds within which a second SIGTERM is the same request: ``timeout`` sends one to a process and one to its group


@contextlib.contextmanager
def _termination_as_ctrl_c() -> Iterator[None]:
    """Leave as cleanly when the system ends the process (SIGTERM) as when the user does."""
    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield
        return
    asked = -math.inf

    def stop(number: int, frame: object) -> None:
        nonlocal asked
        again, asked = time.monotonic() - asked < ONE_REQUEST, time.monotonic()
        if not again:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="fedtheory")
def main() -> None:
    """Check the theory of federated optimisation: verdicts with evidence on the claims of papers."""


for command in (
    check_command,
    replay_command,
    selftest_command,
    list_command,
    devices_command,
    run_command,
    conform_command,
    sweep_command,
    worst_case_command,
    lyapunov_command,
    largest_command,
    compare_command,
    design_command,
    prove_command,
    new_command,
    verify_certificate_command,
    explain_command,
    export_command,
):
    main.add_command(command)
