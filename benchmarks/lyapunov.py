"""What searches for potentials cost, in CPU seconds, medians of a few repeats: rates of methods, and proofs of theorems for every number of steps.

Three tables: SCAFFOLD's rate beside AutoLyap's; the rate of every listed method that has one; theorems whose proof is found. AutoLyap is asked for
two clients, in an interpreter of its own, ``--autolyap PATH_TO_PYTHON`` (it is no dependency); fedtheory's answer is for every n >= 2. Without
that interpreter its times are those that were measured once on another day, and the table says so.
"""

from common import median  # isort: skip

import json
import os
import statistics
import subprocess
import time
from fractions import Fraction
from functools import partial
from pathlib import Path

import click

from fedtheory import FunctionClass, GradientSteps, Scaffold, smallest_rate
from fedtheory.algorithms import ALGORITHMS
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import CannotTrace
from fedtheory.tools.loading import load_file

ROOT = Path(__file__).resolve().parents[1]
CLASS = FunctionClass(1.0, 0.1)
ACCURACY = Fraction(1, 10**4)
#: CPU seconds of AutoLyap 0.2.1 by the number of local steps, measured once by `peers/autolyap_job.py` (another program of it took 56 s for 8 steps)
RECORDED = {1: 0.08, 2: 0.26, 4: 1.14, 8: 15.5}
#: of every method that has options of these roles; local work is exact where it can be, else two steps
SETTINGS = {"lr": 0.5, "steps": 2, "eta": 0.5, "rho": 1.0, "q": 0.5, "exact": True}


def scaffold(steps, lr, proof=True):
    return smallest_rate(Scaffold(GradientSteps(steps, lr)), CLASS, accuracy=ACCURACY, proof=proof)


def autolyap(python, steps, lr, repeats):
    """Rate and median of CPU seconds of AutoLyap for two clients."""
    script = Path(__file__).parent / "peers" / "autolyap_job.py"
    asked = (steps, lr, CLASS.mu, CLASS.L, float(ACCURACY), repeats)
    ran = subprocess.run([python, script, *map(str, asked)], check=True, capture_output=True, text=True)
    return json.loads(ran.stdout.splitlines()[-1])


def beside_autolyap(python, repeats):
    whose = "measured now" if python else "as measured once on another day"
    print(f"SCAFFOLD, L=1, mu=0.1, bisection to 1e-4: fedtheory for every n >= 2, AutoLyap for n = 2, {whose}")
    print(
        f"  {'K':>3s} {'lr':>5s} {'rate':>8s} {'proved':>8s} {'CPU s':>8s} {'with proof':>10s} {'AutoLyap':>9s} {'its rate':>9s} {'ratio':>6s}"
    )
    for steps, lr in ((1, 1.0), (2, 0.5), (4, 0.25), (8, 0.1)):
        found = scaffold(steps, lr)
        alone, proved = (median(partial(scaffold, steps, lr, proof), repeats) for proof in (False, True))
        theirs = autolyap(python, steps, lr, repeats) if python else {"cpu": RECORDED[steps], "rate": float("nan")}
        print(
            f"  {steps:3d} {lr:5.2f} {found.rate:8.4f} {float(found.proved):8.4f} {alone:8.3f} {proved:10.3f} {theirs['cpu']:9.2f} "
            f"{theirs['rate']:9.4f} {theirs['cpu'] / proved:6.0f}",
            flush=True,
        )


def of_listed_methods(repeats):
    """Rates with their proofs; variables are what V is quadratic in: in common or in deviations, whichever are more, after what rounds keep."""
    print("\nlisted methods, L=1, mu=0.1, every n >= 2, bisection to 1e-5, with proof")
    print(f"  {'method':22s} {'variables':>9s} {'rate':>8s} {'proved':>8s} {'CPU s':>8s}")
    slowest = {}
    for entry in ALGORITHMS:
        algorithm = entry.build(
            **{option.name: SETTINGS[option.role] for option in entry.options if option.role in SETTINGS}
        )
        try:
            found = smallest_rate(algorithm, CLASS)
        except CannotTrace:
            continue
        seconds = median(partial(smallest_rate, algorithm, CLASS), repeats)
        free = {} if found.potential is None else found.potential.free
        variables = max(map(len, free.values()), default=0)
        slowest[variables] = max(slowest.get(variables, (0.0, "")), (seconds, entry.name))
        proved = "-" if found.proved is None else f"{float(found.proved):8.5f}"
        print(f"  {entry.name:22s} {variables:9d} {found.rate:8.5f} {proved:>8s} {seconds:8.3f}", flush=True)
    for variables, (seconds, name) in sorted(slowest.items()):
        print(f"  the slowest with {variables} variables: {name}, {seconds:.3f} s")


def for_every_n():
    """Claims of the literature and of the examples about every round: seconds until each is decided, once, with nothing that was kept."""
    from paper_checks.literature import CLAIMS

    claims = list(CLAIMS)
    for path in sorted((ROOT / "examples" / "kinds_of_theorems").glob("*.py")):
        claims += load_file(path).CLAIMS
    print("\ntheorems for every number of rounds, from their statement to the verdict")
    print(f"  {'claim':28s} {'proof':>7s} {'word':>10s} {'CPU s':>8s}")
    rows = []
    for claim in claims:
        (theorem,) = claim.near_misses.keywords["statements"]
        if isinstance(theorem, Theorem) and theorem.rounds:
            begun = time.process_time()
            verdict = judge_claim(claim, "a benchmark", Context())
            seconds = time.process_time() - begun
            rows.append((seconds, claim.id))
            print(
                f"  {claim.id:28s} {'script' if theorem.proof else 'found':>7s} {verdict.status:>10s} {seconds:8.2f}",
                flush=True,
            )
    middle = statistics.median(seconds for seconds, _ in rows)
    print(f"  {len(rows)} theorems; the slowest: {max(rows)[1]}, {max(rows)[0]:.1f} s; median {middle:.1f} s")


@click.command()
@click.option("--autolyap", "python", metavar="PYTHON", help="An interpreter that has AutoLyap.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True)
def main(python, repeats):
    """Print the three tables."""
    os.environ["FEDTHEORY_PROOFS"] = "none"
    beside_autolyap(python, repeats)
    of_listed_methods(repeats)
    for_every_n()


if __name__ == "__main__":
    main()
