"""DualFL's experiments (Section 7, Figure 1): orderings over ten draws of data and coins, at the size that the verdict names.

Each comparison is of logarithms of relative energy errors, draw by draw; Student intervals of 95 % decide (`fedtheory.claims.orderings`).
What "similar", "does not deteriorate" and "several" mean is said below as numbers, before anything is run; the paper says none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.chance import Chance
from fedtheory.claims.claim import Claim, Fault, Finding, Part, Reading, Role
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training, claim_ordering, list_runs, read_runs
from fedtheory.claims.orderings import ordered
from fedtheory.claims.protocol import Clause, Setting
from fedtheory.core.errors import NotAvailable
from paper_checks.dualfl import runs
from paper_checks.dualfl.protocol import FAR, KEPT, NEAR, PROTOCOL, SEVERAL
from paper_checks.dualfl.runs import DUALFL, MNIST, MU, OTHERS, PRINTED, REFLECTED, SPLITTING, STUDIES, Scale, Study

PLANTED = 0.9  # far from the chosen value, for a planted fault
DIGITS = " in log10"


#: with which DualFL converges to no solution
WRONG = "sign of the control variate in local work"


def _curves(ctx: Context, scale: Scale, mistake: str = "") -> dict[str, NDArray[np.float64]]:
    """Errors of all methods at the settings chosen for them, on the judged draws; DualFL with a mistake in it as a fault."""
    groups = {name: runs.judged(ctx, scale, name, runs.chosen(ctx, scale, name)) for name in runs.BENCHMARKS}
    groups[DUALFL] = groups[DUALFL].mistaken(mistake)
    return {name: runs.errors(ctx, scale, group) for name, group in groups.items()}


@dataclass(frozen=True)
class MethodRuns:
    """All runs of a method for one study, as work that claims share: its grid, then the draws that are judged; of DualFL also panels b and c."""

    study: Study
    name: str

    @property
    def key(self) -> str:
        """The study's name and the method's."""
        return f"dualfl-{self.study.name}-{self.name}"

    def judged(self, ctx: Context, settings: Mapping[str, Any] | None = None) -> list[Training]:
        """Return the runs that are judged, whose settings follow from the grid's runs where none are given."""
        scale = self.study.at(ctx)
        settings = settings or runs.chosen(ctx, scale, self.name)
        groups = [runs.judged(ctx, scale, self.name, settings)]
        if self.name == DUALFL:
            groups += [runs.judged(ctx, scale, self.name, settings, clients=n) for n in scale.counts]
            rhos = dict.fromkeys((settings["rho"], *NEAR, FAR, PLANTED))
            groups += [runs.judged(ctx, scale.longest, self.name, {**settings, "rho": rho}) for rho in rhos]
        if self.name in PRINTED:
            groups.append(runs.judged(ctx, scale, self.name, PRINTED[self.name]))
        return list_runs(groups)

    def grid(self, ctx: Context) -> list[Training]:
        """Return the runs that a setting is chosen by."""
        return list_runs(runs.tuning_runs(ctx, self.study.at(ctx), self.name))

    def trainings(self, ctx: Context) -> list[Training]:
        """Return all runs; as long as those of the grid are not kept, its first settings stand for the chosen ones, and without the data all do."""
        grid, candidates = self.grid(ctx), runs.BENCHMARKS[self.name].candidates(self.study.at(ctx))
        if not all(t.is_done(ctx) for t in grid):
            return grid + self.judged(ctx, candidates[0])
        try:
            return grid + self.judged(ctx)
        except NotAvailable:  # settings are chosen by errors, and these are measured on the data
            return grid + [t for settings in candidates for t in self.judged(ctx, settings)]

    def is_done(self, ctx: Context) -> bool:
        """Whether all of them are kept."""
        return all(t.is_done(ctx) for t in self.grid(ctx)) and all(t.is_done(ctx) for t in self.judged(ctx))

    def make(self, ctx: Context) -> None:
        """Make those that are not kept."""
        read_runs(self.judged(ctx), ctx)


def all_methods(ctx: Context, *, study: Study) -> list[MethodRuns]:
    """The runs of every method of a study."""
    return [MethodRuns(study, name) for name in runs.BENCHMARKS]


def dualfl_alone(ctx: Context, *, study: Study) -> list[MethodRuns]:
    """DualFL's runs."""
    return [MethodRuns(study, DUALFL)]


def _what(scale: Scale) -> Reading:
    clients = f"{scale.clients} clients, {scale.rounds} communications"
    return Reading(f"Measured on {scale.title}, multinomial logistic regression with mu = {MU:g}; {clients}.")


def check_x1(ctx: Context, *, study: Study, mistake: str = "") -> Iterator[Finding]:
    """DualFL's curve against each other one, its first rounds, its rate."""
    scale = study.at(ctx)
    curves = _curves(ctx, scale, mistake)
    lead = np.log10(curves[DUALFL])[:, 1:]
    printed = {name: runs.errors(ctx, scale, runs.judged(ctx, scale, name, PRINTED[name])) for name in PRINTED}
    for name, errors in (curves | printed).items():
        if name == DUALFL:
            continue
        ahead = np.log10(errors)[:, 1:] - lead
        told = (
            f"{name} with eta = 1, the largest of the grid 10^-m, m >= 0, that Table 2 prints"
            if name in printed
            else name
        )
        text = f"{scale.title}: {DUALFL} is below {told}, at the communication where it is nearest or above"
        yield ordered(f"below {name}", ahead.min(axis=1), 0 * ahead[:, 0], text, unit=DIGITS)
        text = f"{scale.title}: {DUALFL} is below {told} after the first communication"
        yield ordered(f"first: below {name}", ahead[:, 0], 0 * ahead[:, 0], text, unit=DIGITS)
    for name in printed:
        ahead = np.log10(curves[name])[:, 1:] - lead
        text = f"{scale.title}: {DUALFL} is below {name} tuned on the longer grid, at the communication where it is nearest or above"
        yield ordered(f"longer grid: {name}", ahead.min(axis=1), 0 * ahead[:, 0], text, unit=DIGITS, role="reading")
    rate, other = runs.fall(curves[DUALFL]), runs.fall(curves[SPLITTING])
    text = f"{scale.title}: {DUALFL} falls at least {KEPT:g} times as fast as {SPLITTING} in the last three fifths"
    yield ordered("rate", rate, KEPT * other, text, unit=" of log10 a round", role="reading")
    yield runs.show_settings(ctx, scale, tuple(runs.BENCHMARKS))
    yield runs.draw_errors(f"Figure 1(a), {scale.title}", curves)
    yield _what(scale)
    yield Reading(
        f"Read as: below at every communication from 1 to {scale.rounds}. FedPD, FedDyn with alpha = 1/eta and "
        "FedDR with alpha = 1 are here one algorithm (DUALFL-N6), so that 'as fast as FedDyn' compares with the same curve."
    )


def faster(
    scale: Scale, name: str, curves: Mapping[str, NDArray[np.float64]], base: str, kept: float, role: Role
) -> Part:
    """Part: a curve's decrease a round in the last three fifths is more than ``kept`` times that of ``base``."""
    rounds = curves[name].shape[1] - 1
    text = f"{scale.title}: {name} falls more than {kept:g} times as fast as {base} in the last three fifths of {rounds} rounds"
    falls = (runs.fall(curves[of]) for of in (name, base))
    return ordered(name, next(falls), kept * next(falls), text, unit=" of log10 a round", role=role)


def show_falls(scale: Scale, panel: str, curves: Mapping[str, NDArray[np.float64]]) -> Iterator[Finding]:
    """Curves as a picture, and their decrease a round as a table."""
    yield runs.draw_errors(f"Figure 1({panel}), {scale.title}", curves)
    yield runs.list_falls(f"Figure 1({panel}), {scale.title}", curves)
    yield _what(scale)


def agreed(name: str, parts: Sequence[Part], what: str = "horizon") -> Part:
    """Part: what the comparisons at all horizons (or of all grids) say, two at least; undecided where they differ, or there is one."""
    said = "; ".join(part.text for part in parts)
    outcomes = {part.holds for part in parts}
    if len(parts) < 2 or len(outcomes) > 1 or None in outcomes:
        why = f"one {what} decides nothing" if len(parts) < 2 else f"the {what}s do not agree"
        return Part(name, None, "real data", f"{said}; {why}")
    weakest = max(parts, key=lambda part: part.chance.value if part.chance is not None else 1.0)
    return replace(weakest, name=name, role="printed", text=said)


def check_x2(ctx: Context, *, study: Study, kept: float = KEPT) -> Iterator[Finding]:
    """DualFL's decrease a round for growing numbers of clients, on the same samples, against that with the fewest."""
    scale, settings = study.at(ctx), runs.chosen(ctx, study.at(ctx), DUALFL)
    groups = {f"N = {n}": runs.judged(ctx, scale, DUALFL, settings, clients=n) for n in scale.counts}
    curves = {name: runs.errors(ctx, scale, group) for name, group in groups.items()}
    base = f"N = {scale.counts[0]}"
    yield from (faster(scale, name, curves, base, kept, "printed") for name in curves if name != base)
    yield from show_falls(scale, "b", curves)
    yield Reading(f"'Does not deteriorate' is read as: keeps {KEPT:g} of the rate. Levels grow with N, as V* does.")


def check_x3(ctx: Context, *, study: Study, kept: float = KEPT, values: tuple[float, ...] = NEAR) -> Iterator[Finding]:
    """DualFL's decrease a round for other values of rho, against the chosen one, at every horizon."""
    scale, settings = study.at(ctx).longest, runs.chosen(ctx, study.at(ctx), DUALFL)
    groups = {
        f"rho = {rho:g}": runs.judged(ctx, scale, DUALFL, {**settings, "rho": rho})
        for rho in dict.fromkeys((settings["rho"], *values, FAR))
    }
    curves = {name: runs.errors(ctx, scale, group) for name, group in groups.items()}
    base, far = f"rho = {settings['rho']:g}", f"rho = {FAR:g}"
    for name in (name for name in curves if name != base):
        parts = [
            faster(scale, name, {of: curve[:, : h + 1] for of, curve in curves.items()}, base, kept, "reading")
            for h in scale.horizons
        ]
        yield from (
            replace(part, name=f"reading: {name}, {h} rounds") for h, part in zip(scale.horizons, parts, strict=True)
        )
        if name != far:
            yield agreed(name, parts)
    yield from show_falls(scale, "c", curves)
    yield Reading(
        f"Each rho is compared with the chosen one. 'Not significantly' is read as: keeps {KEPT:g} of the rate; 'far' as within ten times the "
        "paper's 3e-3, and zero. Figure 1's values "
        f"are not in the text. rho = {FAR:g}, a hundred times as large, is told beside it. Theorem 3.3 covers rho <= nu/L alone. A rate that is read "
        "off a run hangs on its length: two horizons must agree."
    )


def check_x4(ctx: Context, *, study: Study, mistake: str = "") -> Iterator[Finding]:
    """The error after the last communication against each other method's; several of them are enough."""
    scale = study.at(ctx)
    curves = _curves(ctx, scale, mistake)
    end = {name: np.log10(values[:, -1]) for name, values in curves.items()}
    more: Any = {"unit": DIGITS, "role": "reading", "diverged": "highest"}
    parts = [
        ordered(f"end: below {name}", end[name], end[DUALFL], f"{DUALFL} ends below {name}", **more) for name in OTHERS
    ]
    yield from parts
    better, worse = (
        [name for name, part in zip(OTHERS, parts, strict=True) if part.holds is how] for how in (True, False)
    )
    open_ones = len(parts) - len(better) - len(worse)
    holds = True if len(better) >= SEVERAL else None if len(better) + open_ones >= SEVERAL else False
    text = f"{scale.title}: {DUALFL} ends below {len(better)} of {len(OTHERS)} ({', '.join(better) or 'none'}), above {', '.join(worse) or 'none'}"
    chance = None
    if holds is not None:
        # the word takes so many comparisons; draws alone make it where they make the weakest of these
        needed = SEVERAL if holds else len(parts) - SEVERAL + 1
        agreeing = sorted(part.chance.value for part in parts if part.chance is not None and part.holds is holds)
        chance = Chance("the tests of the comparisons, the weakest needed", len(end[DUALFL]), agreeing[needed - 1])
    yield Part("several", holds, "real data", f"{text}; at least {SEVERAL} are asked for", chance=chance)
    yield runs.draw_errors(f"Figure 1(a), {scale.title}", curves)
    yield runs.list_falls(f"Figure 1(a), {scale.title}", curves)
    yield _what(scale)


BOTH_WAYS = ("not slower: ", "not faster: ")


def check_x5(ctx: Context, *, study: Study, kept: float = KEPT) -> Iterator[Finding]:
    """DualFL's decrease a round against those of Scaffnew and of the splittings, tuned on either grid; both ways."""
    scale = study.at(ctx)
    tuned = {name: runs.chosen(ctx, scale, name) for name in (DUALFL, SPLITTING, REFLECTED, "Scaffnew")}
    curves = {name: runs.errors(ctx, scale, runs.judged(ctx, scale, name, chosen)) for name, chosen in tuned.items()}
    grids = {"longer": curves}
    grids["printed"] = curves | {
        name: runs.errors(ctx, scale, runs.judged(ctx, scale, name, PRINTED[name])) for name in PRINTED
    }
    for name in (SPLITTING, REFLECTED, "Scaffnew"):
        for way, pair in zip(BOTH_WAYS, ((DUALFL, name), (name, DUALFL)), strict=True):
            said = {grid: faster(scale, pair[0], known, pair[1], kept, "reading") for grid, known in grids.items()}
            if name not in PRINTED:
                yield replace(said["longer"], name=f"{way}{name}", role="printed")
                continue
            yield from (replace(part, name=f"{grid} grid: {way}{name}") for grid, part in said.items())
            yield agreed(f"{way}{name}", [*said.values()], "grid")
    yield from show_falls(scale, "a", curves)
    yield Reading(
        f"'Similar' is read as: each of two keeps {KEPT:g} of the other's decrease a round. How fast the splittings fall hangs on the grid, so "
        "that both must agree."
    )


def setting(ctx: Context, *, study: Study) -> Setting:
    """The images, and the model (31): the paper's own where all of MNIST is there; CIFAR-10 has a part set apart."""
    own = ctx.size == "paper" and study is MNIST
    return Setting(f"{study.at(ctx).title}, 8 clients", "multinomial logistic regression", own)


def _claim(
    study: Study, id: str, source: str, said: dict[str, tuple[str, ...]], check: Any, fault: Fault, needs: Any
) -> Claim:
    clauses = [Clause(text, parts) for text, parts in said.items()]
    on = partial(partial, study=study)
    name = f"DUALFL-{id}{study.suffix}"
    return claim_ordering(name, PROTOCOL, source, clauses, on(check), (fault,), on(needs), on(setting))


def _claims(study: Study) -> list[Claim]:
    claim = partial(_claim, study)
    return [
        claim(
            "X1",
            "Section 7, Figure 1(a, d)",
            {
                f"On {study.name} with 8 clients, DualFL's relative energy error is consistently below those of FedPD, FedDR, FedDualAvg, "
                "FedDyn, Scaffnew, APDA-Inexact and 5GCS, all tuned,": tuple(f"below {name}" for name in OTHERS),
                "by a fast fall in the first communications.": tuple(f"first: below {name}" for name in OTHERS),
            },
            check_x1,
            Fault(WRONG, "below FedDualAvg", {"mistake": WRONG}, or_undecided=True),
            all_methods,
        ),
        claim(
            "X2",
            "Section 7, Figure 1(b, e)",
            {f"On {study.name}, DualFL's rate does not deteriorate as the number of clients grows.": ("N = ",)},
            check_x2,
            Fault("one and a half times the rate asked for", f"N = {study.at(Context()).counts[-1]}", {"kept": 1.5}),
            dualfl_alone,
        ),
        claim(
            "X3",
            "Section 7, Figure 1(c, f)",
            {
                f"On {study.name} with nu = mu, DualFL's rate does not deteriorate significantly where rho is far from its tuned value.": (
                    "rho = ",
                )
            },
            check_x3,
            Fault(f"rho = {PLANTED:g} among the near values", f"rho = {PLANTED:g}", {"values": (PLANTED,)}),
            dualfl_alone,
        ),
        claim(
            "X4",
            "abstract and Section 8",
            {
                f"DualFL outperforms several recent federated learning algorithms (on {study.name}, after a fixed number of communications).": (
                    "several",
                )
            },
            check_x4,
            Fault(WRONG, "several", {"mistake": WRONG}),
            all_methods,
        ),
        claim(
            "X5",
            "Section 7, the text on Figure 1(a, d)",
            {
                f"On {study.name} with 8 clients, DualFL's linear rate is similar to those of FedPD, FedDR and Scaffnew.": BOTH_WAYS
            },
            check_x5,
            Fault("ten times the other's rate is asked for", "not slower: Scaffnew", {"kept": 10.0}),
            all_methods,
        ),
    ]


CLAIMS: list[Claim] = [claim for study in STUDIES for claim in _claims(study)]
