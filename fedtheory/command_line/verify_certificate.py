"""The command ``verify-certificate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fedtheory.command_line.options import EXIT_FAILED, interrupt_option

_THAT_OF_THE_METHOD = "the system is that of this method, made anew from its round in exact arithmetic"


@click.command("verify-certificate")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--system-only", is_flag=True, help="Do not ask whether the inequality system is that of the method.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="STEPS",
    help="Give up on a certificate that takes more steps to check [default: some two seconds].",
)
@interrupt_option
def verify_certificate_command(file: Path, system_only: bool, limit: int | None) -> None:
    """Check an exact certificate, a derivation or a proof term in FILE; no solver and no floating-point number takes part.

    Of a certificate first its inequality system: that the hypotheses which are listed imply the bound. Then that this system is the one of the
    method, class, measure, start and number of rounds that the file names: it is made anew from the method's round. So are the systems of a term
    whose states are those of a listed method. Exit status 1 where either fails, 2 where it could not be checked: the file is no proof, or takes
    more steps than the limit.
    """
    from fedtheory.proofs.checker.certificates import CERTIFICATE_FORMAT, check, describe_system
    from fedtheory.proofs.checker.files import check_proof, read_proof
    from fedtheory.proofs.checker.reading import MOST_STEPS
    from fedtheory.proofs.checker.refusals import NotChecked, Refused
    from fedtheory.proofs.checker.terms import TERM_FORMAT

    most = MOST_STEPS if limit is None else limit
    try:
        data = read_proof(file)
        if data["format"] == TERM_FORMAT and not system_only:
            click.echo("\n".join(_check_whole_term(data, most)))
            return
        if system_only or data["format"] != CERTIFICATE_FORMAT:
            click.echo("\n".join(check_proof(data, most)))
            return
        check(data, most)
        click.echo("\n".join(describe_system(data)))
        from fedtheory.proofs.rebuilt import verify_method

        sentence = verify_method(data, most_steps=most)
    except Refused as error:
        click.echo(f"refused: {error}", err=True)
        sys.exit(2 if isinstance(error, NotChecked) else EXIT_FAILED)
    click.echo(_THAT_OF_THE_METHOD)
    click.echo(f"verified: {sentence}")


def _check_whole_term(data: dict[str, Any], most: int) -> list[str]:
    """What a term shows, in lines; of a term about states of a listed method, that its systems are those of the method."""
    from fedtheory.claims.statements.theorems.rebuilding import verify_states
    from fedtheory.proofs.checker.files import check_proof

    *lines, unchecked = check_proof(data, most)
    return [*lines, f"  {data['states']}: {_THAT_OF_THE_METHOD}" if verify_states(data) else unchecked]
