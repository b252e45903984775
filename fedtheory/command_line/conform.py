"""The command ``conform``."""

from __future__ import annotations

import contextlib
import json
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.method_options import MethodCommand, make_click_option, read_values
from fedtheory.command_line.options import EXIT_FAILED, OutputFile, interrupt_option, is_terminal, write_output

if TYPE_CHECKING:
    from fedtheory.conformance.adapters import Adapter
    from fedtheory.conformance.report import Conformance


class TellingCommand(MethodCommand):
    """A `MethodCommand` whose defaults are numbers no two of which coincide, so that one in another's place is seen."""

    make_option = staticmethod(lambda option: make_click_option(option, option.telling_value))


@click.command(cls=TellingCommand)
@click.argument("adapter", metavar="FILE.py[:OBJECT]")
@click.option(
    "--method",
    required=True,
    shell_complete=complete_methods,
    help="The method it should be ('fedtheory list algorithms' names them).",
)
@click.option("--clients", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--dimension", type=click.IntRange(min=1), default=3, show_default=True)
@click.option(
    "--participants",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Clients a round in the trials with partial participation.",
)
@click.option("--full-participation", is_flag=True, help="Leave out the trials in which only some clients take part.")
@click.option("--equal-steps", is_flag=True, help="Leave out the trials with unequal numbers of local steps.")
@click.option("--smooth", is_flag=True, help="Leave out the trials with a shared regulariser.")
@click.option("--rounds", type=click.IntRange(min=1), default=6, show_default=True)
@click.option(
    "--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Random instances of each kind of trial."
)
@click.option("--json", "json_file", type=OutputFile(), help="Write the findings as JSON ('-': to the terminal).")
@click.option("--sarif", type=OutputFile(), help="Write the findings as SARIF 2.1.0, for code hosts.")
@interrupt_option
def conform_command(adapter: str, method: str, **options: Any) -> None:
    """Compare somebody's implementation with the reference of a method, variable by variable, round by round.

    OBJECT is an adapter (see docs/conformance.md), or a class or function that makes one. Where the implementation differs, the first
    variable and round are named, and known mistakes and published variants that would explain it are looked for.

    Exit status: 0 when it conforms up to rounding, 1 when it differs, 2 when it could not be compared.
    """
    from fedtheory.algorithms import listed
    from fedtheory.conformance.adapters import load_adapter
    from fedtheory.conformance.compare import conform as compare

    values = read_values(listed(method), options)
    with (
        _failures_are_no_findings(),
        contextlib.redirect_stdout(sys.stderr),
    ):  # what the implementation prints is not the answer
        made = load_adapter(adapter)
        found = compare(
            made,
            method,
            values=values,
            clients=options["clients"],
            dimension=options["dimension"],
            participants=None if options["full_participation"] else options["participants"],
            unequal=not options["equal_steps"],
            regularisers=not options["smooth"],
            rounds=options["rounds"],
            seeds=options["seeds"],
        )
    if options["json_file"] is not None:
        document = json.dumps({"adapter": adapter, **found.as_dict()}, indent=1)
        write_output(document + "\n", options["json_file"])
    if options["sarif"] is not None:
        _write_sarif(options["sarif"], made, adapter, found)
    if not is_terminal(options["json_file"]):
        click.echo(str(found))
    sys.exit(0 if found.conforms else EXIT_FAILED)


def _write_sarif(file: Path, made: Adapter, adapter: str, found: Conformance) -> None:
    """Write what was found, at the adapter's class."""
    import inspect

    from fedtheory.tools.sarif import Result, Rule, write_sarif

    rules = (
        Rule("differs", "The implementation differs from the method's reference.", level="error"),
        Rule("differs-where-silent", "It differs in nothing but choices that the paper leaves open.", level="note"),
        Rule("conforms", "The implementation agrees with the method's reference up to rounding.", kind="pass"),
    )
    rule = "conforms" if found.conforms else "differs-where-silent" if found.silent else "differs"
    where, line = Path(adapter.partition(".py")[0] + ".py"), 1
    with contextlib.suppress(OSError, TypeError):  # a class that was made at run time stands in no line
        where, line = Path(inspect.getfile(type(made))), inspect.getsourcelines(type(made))[1]
    result = Result(rule, str(found), f"{type(made).__name__} as {found.method}", where, line)
    write_sarif(file, rules, [result])


@contextlib.contextmanager
def _failures_are_no_findings() -> Iterator[None]:
    """End with the status of "could not be compared" when this package itself fails: 1 is kept for code that differs."""
    from fedtheory.core.errors import FedtheoryError, InvalidInput, NotAvailable, describe

    try:
        yield
    except (InvalidInput, NotAvailable, OSError):
        raise  # one line, and status 2
    except Exception as error:
        if not isinstance(error, FedtheoryError):
            traceback.print_exc()
        click.echo(
            f"error: the comparison failed, which says nothing of the implementation: {describe(error)}", err=True
        )
        sys.exit(2)
