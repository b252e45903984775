"""Text of small claim files, as a user would write them, and how to read what comes of them."""

import json

#: x_{r+1} = x_r - 0.1 x_r: a statement that holds, one refuted with a counterexample, one repaired, an ordering
GOOD = '''
from fractions import Fraction

from fedtheory.claims import (
    Claim, Covered, Fault, Part, Picture, Reading, Replay, assume, at_most, decided, equal, holds, refute,
)
from fedtheory.proofs import compare


def square(instance):
    """x <= x^2 fails for 0 < x < 1."""
    x = instance["x"]
    exact = Fraction(x).limit_denominator(10**6)
    return Replay(
        "x against x^2", x, x * x, exact, exact * exact, "fractions", (assume("sign", "x > 0", x=exact),)
    )


def decays(ctx, rate=0.9):
    yield Reading("rounds are counted from zero")
    x = [0.9**r for r in range(5)]
    yield at_most("rate", x, [rate**r for r in range(5)], "numeric", f"five rounds, seed {ctx.seed}", error=1e-15,
                  covered=Covered(5, "rounds", whole=True))
    yield Picture("decay", "rounds", "x", [{"label": "<x>", "x": list(range(5)), "y": x}], logy=True)


def false(ctx, x=0.5):
    yield refute("square", square, {"x": x}, text="As printed:")


def repaired(ctx, x=0.5, factor=2):
    yield refute("square", square, {"x": x})
    yield at_most("corrected", 0.5, factor * 0.25, "numeric", "with a factor", role="repaired",
                  covered=Covered(1, "points", whole=True))


def ordering(ctx, first=1.0):
    yield holds("order", first < 2.0, "numeric", "first is smaller")


def proved(ctx, left=1):
    yield decided("identity", compare(left, "==", 1), "one is one", margin=0.0)


def claim(id, kind, check, fault, **more):
    return Claim(id, "toy", kind, "Section 1", f"Statement of {id} & <b>more</b>.", check, (fault,), **more)


CLAIMS = [
    claim("TOY-RATE", "rate", decays, Fault("a better rate", "rate", {"rate": 0.8}), assumptions=("0 < x",)),
    claim("TOY-FALSE", "bound", false, Fault("a true instance", "square", {"x": 2.0}, holds=True), replay=square),
    claim("TOY-REPAIRED", "bound", repaired, Fault("too small", "corrected", {"factor": 1}), repaired="x <= 2 x^2.",
          replay=square),
    claim("TOY-ORDER", "ordering", ordering, Fault("swapped", "order", {"first": 3.0})),
    claim("TOY-PROVED", "identity", proved, Fault("two", "identity", {"left": 2})),
]
'''

#: checks that fail in every way, between two that work; one fault that its check does not reject
TROUBLED = """
import sys

import numpy as np

from fedtheory.claims import Claim, Covered, Fault, Part, holds
from fedtheory.core.errors import AssumptionNotMet


def fine(ctx, value=True):
    yield holds("it", value, "numeric", "fine", covered=Covered(8, "instances"))


def raises(ctx):
    yield holds("it", True, "numeric", "so far so good")
    raise ZeroDivisionError("one over nothing")


def refuses(ctx):
    raise AssumptionNotMet("eta = 0.7 is above 0.5 = 1/(2 L); choose a smaller step")
    yield


def leaves(ctx):
    sys.exit("bye")
    yield


def empty(ctx):
    return iter([])


def strange(ctx):
    yield Part("it", True, "numeric", "holds an object", data={"x": object()})


def arrays(ctx):
    data = {"a": np.arange(3), "b": np.float32(0.5), "c": np.int64(7), "d": (1, float("inf")), "e": np.bool_(True)}
    yield Part("it", np.True_, "numeric", "holds arrays", data=data, margin=np.float64(0.0), covered=Covered(8, "draws"))


def made(id, check, kind="bound"):
    return Claim(id, "toy", kind, "s", f"statement of {id}", check, (Fault("planted", "it", {}),))


CLAIMS = [
    Claim("A-FINE", "toy", "bound", "s", "a", fine, (Fault("negated", "it", {"value": False}),)),
    made("B-RAISES", raises),
    made("C-REFUSES", refuses),
    made("D-LEAVES", leaves),
    made("E-EMPTY", empty),
    made("F-STRANGE", strange),
    made("G-ARRAYS", arrays),
    Claim("H-FINE", "toy", "bound", "s", "h", fine, (Fault("harmless", "it", {"value": True}),)),
]
"""

#: the second claim interrupts the run while the marker file exists
INTERRUPTED = """
import time
from pathlib import Path

from fedtheory.claims import Claim, Fault, holds

HERE = Path(__file__).parent


def once(name):
    def check(ctx):
        with (HERE / "calls").open("a") as calls:
            calls.write(name)
        if (HERE / "interrupt").exists():
            if name == "b":
                raise KeyboardInterrupt
            if name == "c":  # the worker may be here when the interruption arrives
                time.sleep(60)
        yield holds("it", True, "numeric", f"{name}, seed {ctx.seed}")

    return check


CLAIMS = [Claim(f"CLAIM-{n.upper()}", "toy", "bound", "s", n, once(n), (Fault("f", "it", {}),)) for n in "abc"]
"""


def strict(text):
    """JSON as other programs read it: without NaN and Infinity."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)
