"""Which step sizes are stable: how tight Theorem 1's range is (D7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD
from fedtheory.algorithms.fedpd import FedPDState
from fedtheory.claims.claim import Fault, Finding
from fedtheory.claims.context import Context
from fedtheory.claims.curves import draw_bound
from fedtheory.claims.parts import proved
from fedtheory.claims.statements.limit import Divergence, Limit
from fedtheory.claims.statements.theorems.as_parts import is_proved
from fedtheory.proofs.spectrum import round_map
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.fedpd.common import A1, A2, AveragesModels, HalfDualStep, claim, find_stated, fractions, put, rational
from paper_checks.fedpd.theorems import corrected
from problems.quadratics import Quadratic, scalar_quadratics


def _quadratics(*curvatures: str, linear: tuple[str, ...] = ("3/10", "-1/10", "1", "-1")) -> Quadratic:
    """(h_i/2) x^2 - b_i x in fractions."""
    return Quadratic(fractions(curvatures)[:, None, None], fractions(linear)[:, None])


#: instance I-STEP: four clients, f strongly convex, some f_i concave; L = 1
I_STEP = ("1", "1", "-49/50", "-47/50")


def _stated(kind: Any, region: str, curvatures: tuple[str, ...] = I_STEP, method: Any = FedPD, **more: Any) -> Any:
    """A statement on FedPD with u = m/1000."""
    return kind(
        lambda m: method(rational(m) / 1000),
        problem=lambda: _quadratics(*curvatures),
        region=region,
        name="FedPD with u = m/1000",
        **more,
    )


_BELOW = "I-STEP, u = .519, .520"
D7 = {
    _BELOW: _stated(Limit, "m in 519..520", point="5/2"),  # x*: mean b over mean h
    "I-STEP, u = .530": _stated(Divergence, "m in 530..530"),
    "just above 1/2": _stated(Divergence, "m in 501..501", ("1", "1", "-99967/100000", "-9998/10000")),
}


def unstable_mode(algorithm: Any) -> bool:
    """Check that the difference of two clients of curvature -h, beside two of curvature 1, is multiplied by -u h/(1 - u h)."""
    h, u = symbols("h u", positive=True)
    found = round_map(algorithm(u), scalar_quadratics(np.array([1, 1, -h, -h])), np.zeros(1, dtype=int).astype(object))
    apart = np.array([0, 0, 1, -1], dtype=object)[:, None]
    state = FedPDState(x=0 * apart[:1], x_i=apart, x0_i=0 * apart, lam_i=h * apart, memory=None)
    mode = found.layout.flatten(state)
    return all(is_zero(entry) for entry in found.matrix.dot(mode) + u * h / (1 - u * h) * mode)


def check_d7(ctx: Context, *, algorithm: Any = FedPD, instead: Mapping[str, Any] | None = None) -> Iterator[Finding]:
    """Stable below u = 1/2 by Theorem 1's derivation, an unstable mode above it in symbols, and instances in fractions."""
    text = (
        "for u < 1/2 every round lowers mean L_i by ((1-2u)(1+u)/(2 eta)) mean ||dx_i||^2 + ||dx_0||^2/(2 eta), and mean L_i >= f(x_0): on "
        "quadratics with f bounded below the steps of every trajectory are square summable, so no eigenvalue lies outside the unit circle; at "
        "u = 1/2 by continuity. With curvatures (1, 1, -h, -h) the difference of the two last clients has the multiplier -u h/(1 - u h), of "
        "modulus above one iff u h > 1/2; for every u > 1/2 some h < 1 with 1/2 < u h < 1 does, and f is strongly convex"
    )
    yield proved("stable up to 1/2 and not beyond", is_proved(corrected()) and unstable_mode(algorithm), text)
    yield from find_stated(ctx, D7, instead)
    steps = [k / 100 for k in range(1, 76)]
    yield draw_bound(
        "FedPD's multiplier on curvatures (1, 1, -h, -h): stable below one",
        steps,
        [1.0] * len(steps),
        xlabel="u = L eta (the paper allows 0.309, stable up to 1/2)",
        ylabel="modulus u h/(1 - u h)",
        about="exact local solves, all clients, quadratics; closed form, no seeds; dashed: the edge of stability",
        more=[(f"h = {h:g}", [u * h / (1 - u * h) for u in steps]) for h in (0.5, 0.9, 0.999)],
    )


CLAIMS = [
    claim(
        "FEDPD-D7",
        "bound",
        "how tight the step-size range of Theorem 1 is",
        "With exact solves FedPD is stable on quadratics with f bounded below up to u = L eta = 1/2 and not beyond; the paper's "
        "0.309 is conservative.",
        check_d7,
        put("stable a little beyond", _BELOW, _stated(Limit, "m in 529..530")),
        put("unstable a little before", "I-STEP, u = .530", _stated(Divergence, "m in 519..519")),
        Fault("half a dual step, symbols", "stable up to 1/2 and not beyond", {"algorithm": HalfDualStep}),
        put("server averages x_i alone", _BELOW, _stated(Limit, "m in 519..519", method=AveragesModels)),
        assumes=(A1, A2, "exact local solves", "p = 0"),
    )
]
