"""The command ``lyapunov``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.method_options import MethodCommand, build_algorithm, say_given
from fedtheory.command_line.options import (
    answer_option,
    convexity_option,
    proofs_option,
    smoothness_option,
    solver_limit_option,
    stated_option,
    write_answer,
)
from fedtheory.command_line.weights_of_every_n import (
    describe_weights_of_every_n,
    read_weights_of_every_n,
    tell_weights_of_every_n,
    weights_of_every_n_option,
)

if TYPE_CHECKING:
    from fedtheory.proofs.certificates.upper_bounds import Certificate
    from fedtheory.proofs.potentials.smallest_rate import SmallestRate

INSTANCES, ROUNDS = 5, 20  # of the numeric check


@click.command(cls=MethodCommand)
@click.argument("algorithm", shell_complete=complete_methods)
@smoothness_option
@convexity_option("; 0 for convex")
@click.option("--clients", type=int, metavar="N", help="Number of clients; with --participants only.")
@click.option("--participants", type=int, metavar="S", help="S of the N clients take part, uniformly at random.")
@weights_of_every_n_option
@click.option("--accuracy", default="0.00001", show_default=True, help="Step of the bisection over rates.")
@click.option("--gradients", is_flag=True, help="V may have the gradients at x among its terms; larger programs.")
@stated_option("whose exact rate is computed as well")
@proofs_option
@solver_limit_option
@answer_option
def lyapunov_command(algorithm: str, **options: Any) -> None:
    """Smallest rate of ALGORITHM for which a potential exists, over a class of functions, for every number of clients."""
    from fractions import Fraction

    from fedtheory.claims.statements.unstated import tell_unstated
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.every_n.vectors import Sampling
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.potentials.smallest_rate import rate_of, smallest_rate

    n, s = options["clients"], options["participants"]
    if (n is None) != (s is None):
        raise InvalidInput("--clients N and --participants S go together; without them the answer is for every n >= 2")
    weights = read_weights_of_every_n(options)
    try:
        accuracy = Fraction(options["accuracy"])
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInput(f"--accuracy {options['accuracy']!r} is not a number") from error
    sampling = None if n is None else Sampling(n, s)
    function_class = FunctionClass(options["big_l"], options["mu"])
    method = build_algorithm(algorithm, options)
    said = tell_weights_of_every_n(weights, [method])
    limit = options["time_limit"]
    found = smallest_rate(
        method,
        function_class,
        participation=sampling,
        gradients=options["gradients"],
        accuracy=accuracy,
        time_limit=limit,
    )
    answer = {
        "algorithm": repr(method),
        "class": str(function_class),
        "clients": "any" if n is None else n,
        "participants": s,
        **said,
        **_summary(found),
        "observed": _observed(found, options),
        "unstated": tell_unstated(say_given(algorithm, click.get_current_context())),
    }
    if options["stated"]:
        stated = dict(options["stated"])
        rate = rate_of(method, function_class, stated, participation=sampling, time_limit=limit)
        answer["stated"] = {"weights": stated, "rate": float(rate)}
    if options["certificate"] is not None:
        answer["certificates"] = _write(found, options["certificate"])
    _report(answer, options["json_file"])


def _summary(found: SmallestRate) -> dict[str, Any]:
    exists = found.potential is not None
    return {
        "rate": found.rate if exists else None,
        "none_at": found.none_at,
        "excluded": found.excluded,
        "potential": str(found.potential) if exists else None,
        "residual": found.residual if exists else None,
        "proved": None if found.proved is None else str(found.proved),
        "run_with": [] if found.runs is None else list(found.runs.numbers),
        "no_runs": "" if found.runs is None else found.runs.why_none,
        "relations": [str(relation) for relation in found.relations],
        "from_round": found.first,
        "seconds": round(found.seconds, 4),
        "size": found.size,
    }


def _observed(found: SmallestRate, options: dict[str, Any]) -> dict[str, Any] | None:
    """Largest E V(after) / V(before) that the numeric engine sees on random quadratics of the class; None where there is nothing to see."""
    from math import comb

    import numpy as np

    from fedtheory.core.errors import CannotTrace
    from fedtheory.proofs.potentials.smallest_rate import follow_potential
    from fedtheory.running.enumeration import MOST_SUBSETS
    from fedtheory.running.families import build_problem

    n, s = options["clients"] or 4, options["participants"]
    if found.potential is None or not options["mu"] > 0 or (s is not None and comb(n, s) > MOST_SUBSETS):
        return None
    largest = 0.0
    for seed in range(INSTANCES):
        instance = build_problem(
            "quadratics", clients=n, dimension=3, L=options["big_l"], mu=options["mu"], heterogeneity=1.0, seed=seed
        )
        try:
            before, after = follow_potential(
                found.potential,
                instance,
                instance.solution(),
                np.ones(3),
                ROUNDS,
                participants=None if s == n else s,
                seed=seed,
            )
        except CannotTrace:  # draws that are no coins: their expectations are not enumerated
            return None
        seen = before[found.first :] > 1e-9 * before[0]  # below, it is rounding
        largest = max(largest, float(np.max(after[found.first :][seen] / before[found.first :][seen])))
    return {"largest": largest, "instances": INSTANCES, "rounds": ROUNDS, "clients": n}


def _write(found: SmallestRate, file: Path) -> list[str]:
    from fedtheory.core.errors import SolverFailed

    if found.decrease is None or found.floor is None:
        raise SolverFailed("no exact certificate was found; there is nothing to write")
    return write_proofs((found.decrease, found.floor), file)


def write_proofs(certificates: Sequence[Certificate], file: Path) -> list[str]:
    """Write the certificate of a decrease to a file, and that of the floor, where there is one, beside it; return their names."""
    names = [file, file.with_name(f"{file.stem}-floor{file.suffix}")][: len(certificates)]
    for certificate, name in zip(certificates, names, strict=True):
        certificate.write(name)
    return [str(name) for name in names]


def _report(answer: dict[str, Any], json_file: Path | None) -> None:
    if write_answer(answer, json_file):
        return
    who = (
        "every n >= 2"
        if answer["clients"] == "any"
        else f"n={answer['clients']}, {answer['participants']} of them a round"
    )
    click.echo(f"{answer['algorithm']} over {answer['class']}, {who}")
    if answer["unstated"]:
        click.echo(answer["unstated"])
    if answer["rate"] is None:
        shown = f"shown with residual {answer['excluded']:.1g}" if answer["excluded"] is not None else "none was found"
        click.echo(f"no potential of this form has a rate of at most 1 ({shown}; {answer['seconds']:.2f} s)")
    else:
        since = f" from round {answer['from_round']} on" if answer["from_round"] else ""
        click.echo(
            f"E V(after) <= {answer['rate']:.6g} V(before){since}   ({answer['seconds']:.2f} s, residual {answer['residual']:.1g})"
        )
        click.echo(f"V = {answer['potential']}   (differences to the fixed point; V >= ||x - x*||^2)")
        if answer["none_at"] is not None:
            click.echo(f"no such V at {answer['none_at']:.6g} (residual {answer['excluded']:.1g})")
        if answer["relations"]:
            click.echo(f"proved and used{since}: {'; '.join(answer['relations'])}")
        proved = f"of the rate {answer['proved']}" if answer["proved"] else "none was found"
        click.echo(
            f"exact proof: {proved}"
            + (f" in {' and '.join(answer['certificates'])}" if "certificates" in answer else "")
        )
    for line in describe_weights_of_every_n(answer):
        click.echo(line)
    if answer["run_with"]:
        click.echo(f"held against runs with n = {', '.join(map(str, answer['run_with']))}")
    if answer["no_runs"]:
        click.echo(f"held against no runs: {answer['no_runs']}")
    if answer["observed"] is not None:
        seen = answer["observed"]
        click.echo(
            f"numeric engine: at most {seen['largest']:.6g} a round on {seen['instances']} random quadratics with {seen['clients']} clients, "
            f"{seen['rounds']} rounds each"
        )
    if "stated" in answer:
        shown = " + ".join(f"{weight:g} mean||{name}||^2" for name, weight in answer["stated"]["weights"].items())
        click.echo(f"the stated potential {shown} has the exact rate {answer['stated']['rate']:.9g}")
