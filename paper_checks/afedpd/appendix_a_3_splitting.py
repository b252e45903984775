"""Appendix A.3: how many classes a client has under Dirichlet splits, exactly and as drawn (Figure 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Part, Picture, Reading, Setting, at_most, holds
from fedtheory.claims.chance import chance_of_mean
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import claim_ordering
from fedtheory.claims.orderings import make_table
from paper_checks.afedpd.protocol import PROTOCOL
from paper_checks.afedpd.runs import scale
from problems.datasets import cifar10, digits
from problems.splits import dirichlet_labels, label_counts

CLAIMS: list[Claim] = []

# ---- Figure 4 --------------------------------------------------------------------------------------------------------
CLASSES = 10
DRAWS = 20  #: splits of C clients each
STANDARD_ERRORS = 4.0


def largest_share(a: float, classes: int = CLASSES) -> float:
    """E max_c q_c for q ~ Dirichlet(a, ..., a).

    Independent Gamma(a) variables are their sum times q, and sum and q are independent: E max q = E max G / (classes a), with
    E max G = int_0^inf (1 - F(x)^classes) dx.
    """
    from scipy.integrate import quad
    from scipy.stats import gamma

    area = quad(lambda x: 1 - gamma.cdf(x, a) ** classes, 0, 1, limit=200)[0]
    area += quad(lambda x: 1 - gamma.cdf(x, a) ** classes, 1, inf, limit=200)[0]
    return float(area) / (classes * a)


def squares(a: float, classes: int = CLASSES) -> float:
    """E sum_c q_c^2 = (a + 1)/(classes a + 1)."""
    return (a + 1) / (classes * a + 1)


def above_even(a: float, classes: int = CLASSES) -> float:
    """Return the expected number of classes with more than an even share: q_c ~ Beta(a, (classes - 1) a)."""
    from scipy.stats import beta

    return float(classes * beta.sf(1 / classes, a, (classes - 1) * a))


def shares(ctx: Context, a: float) -> NDArray[np.float64]:
    """Class shares ``(DRAWS C, classes)`` of clients as all runs here draw them, from real labels, with concentration a for every class."""
    labels = digits().labels if ctx.size == "laptop" else cifar10(ctx.data).labels
    s = scale(ctx)
    found = []
    first = PROTOCOL.judged(ctx).start
    for seed in range(first, first + DRAWS):
        split = dirichlet_labels(labels, s.clients, a, seed, per_client=s.samples, draw="with")
        found.append(label_counts(labels, split) / s.samples)
    return np.concatenate(found)


def _drawn_as_said(split: str, a: float, sums: NDArray[np.float64], samples: int) -> Part:
    """The mean of the summed squared shares of a client's samples against its expectation."""
    # a client's samples are drawn from q: E sum (counts/m)^2 = E sum q^2 + (1 - E sum q^2)/m
    exact = squares(a) + (1 - squares(a)) / samples
    error = sums.std(ddof=1) / np.sqrt(len(sums))
    part = at_most(
        f"drawn as said: {split}",
        abs(sums.mean() - exact),
        STANDARD_ERRORS * error,
        "real data",
        f"mean over {len(sums)} clients of the summed squared shares {sums.mean():.4f}, exact {exact:.4f}, within {STANDARD_ERRORS:g} errors",
    )
    return part if part.holds else replace(part, chance=chance_of_mean(sums, exact))


def _more_classes(convention: str, low: float, high: float) -> Iterator[Finding]:
    """What the concentrations of Dir-0.1 and Dir-1.0 have in expectation."""
    share = largest_share(low)
    yield holds(
        f"Dir-0.1: a dominant class, {convention}",
        share > 1 / 2,
        "numeric",
        f"expected share of the largest class {share:.3f}, above a half",
    )
    few, many = 1 / squares(low), 1 / squares(high)
    yield holds(
        f"Dir-1.0 has more classes than Dir-0.1, {convention}",
        many > few,
        "numeric",
        f"effective classes {many:.2f} against {few:.2f}",
    )


def check_shares(ctx: Context, *, factor: float = 1.0) -> Iterator[Finding]:
    """Exact expectations of class shares in both conventions, and the drawn splits beside them; ``factor`` draws with another concentration."""
    rows: list[list[str | float]] = []
    pictured = []
    for convention, in_total in (("for every class", False), ("in total", True)):
        for alpha in (0.1, 1.0):
            a = alpha / CLASSES if in_total else alpha
            drawn = shares(ctx, factor * a)
            sums = (drawn**2).sum(axis=1)
            yield _drawn_as_said(f"Dir-{alpha:.1f} {convention}", a, sums, scale(ctx).samples)
            rows.append(
                [
                    f"Dir-{alpha:.1f}, {convention}",
                    largest_share(a),
                    float(drawn.max(axis=1).mean()),
                    1 / squares(a),
                    float(1 / sums.mean()),
                    above_even(a),
                ]
            )
            if not in_total:
                ordered = np.sort(drawn, axis=1)[:, ::-1].reshape(DRAWS, -1, CLASSES).mean(axis=1)
                curve = repeat_curve(f"Dir-{alpha:.1f}", range(1, CLASSES + 1), ordered)
                pictured.append({**curve, "style": "points"})
    counted = []
    for convention, total in (("for every class", 1), ("in total", CLASSES)):
        yield from _more_classes(convention, 0.1 / total, 1.0 / total)
        number, above = 1 / squares(1.0 / total), above_even(1.0 / total)
        counted.append(f"{number:.2f} effective classes 1/E sum q^2 and {above:.2f} above an even share, {convention}")
    text = (
        f"'approximately 3 classes' names no count; with Dir-1.0 a client has {'; '.join(counted)}. None of them is between 2.5 "
        f"and 3.5, and three classes hold more than half of its data where the concentration is for every class"
    )
    yield Part("Dir-1.0: about three classes", None, "numeric", text)
    yield make_table(
        "classes of a client (of 10)",
        (
            "split",
            "largest share, exact",
            "drawn",
            "effective classes, exact",
            "drawn",
            "classes above an even share, exact",
        ),
        rows,
    )
    yield Picture("Class shares of a client, largest first, mean over clients", "class by rank", "share", pictured)
    yield Reading(
        "Concentration for every class is what the authors' public code draws with, and what all runs here use; in total is Hsu et al.'s. "
        "'Almost one dominant class' and 'approximately 3 classes' are the paper's words on a picture; a dominant class is read as one "
        "with more than half of the data, and what counts as a class of a client is left open."
    )


def setting(ctx: Context) -> Setting:
    """Return whose labels are drawn; expectations need none. There is no model."""
    labels = "labels of scikit-learn's digits" if ctx.size == "laptop" else "CIFAR-10's 50000 training labels"
    return Setting(labels, "no model", own=ctx.size != "laptop")


CLAIMS += [
    claim_ordering(
        "AFEDPD-Q11",
        PROTOCOL,
        "Appendix A.3, Fig. 4",
        (
            Clause("With Dir-0.1 a client has a dominant class,", ("Dir-0.1: a dominant class",)),
            Clause("with Dir-1.0 it has more classes,", ("Dir-1.0 has more classes than Dir-0.1",)),
            Clause("approximately 3.", ("Dir-1.0: about three classes",)),
        ),
        check_shares,
        (Fault("three times the concentration", "drawn as said: Dir-0.1 for every class", {"factor": 3.0}),),
        lambda ctx: (),
        setting,
    )
]
