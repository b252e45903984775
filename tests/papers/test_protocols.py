"""Claims that read runs say beforehand what decides each clause, what they ran on, and by which protocol."""

from typing import get_args

import pytest

from fedtheory.claims.context import Context, Size
from fedtheory.claims.experiments import Training
from fedtheory.claims.references import load_claims

#: papers whose experiments follow a protocol
PAPERS = (
    "paper_checks.afedpd",
    "paper_checks.dualfl",
    "paper_checks.fedpd",
    "paper_checks.fedslr",
    "paper_checks.safari",
)
SIZES: tuple[Size, ...] = get_args(Size)


@pytest.mark.parametrize("paper", PAPERS)
def test_what_reads_runs_has_setting_clauses_and_a_protocol(paper):
    found = [claim for claim in load_claims(paper).values() if claim.needs is not None]
    assert found
    assert [claim.id for claim in found if claim.setting is None or not claim.clauses or claim.protocol is None] == []
    assert len({(p.readout, *p.targets.items()) for claim in found if (p := claim.protocol)}) == 1, (
        "one protocol a paper"
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("paper", PAPERS)
def test_no_run_has_a_seed_that_was_seen_or_is_not_the_protocols(paper, size):
    """A protocol may judge seeds that were seen, and its verdicts then say so (`Protocol.describe`); no run has others of these."""
    context = Context(size=size)
    for claim in load_claims(paper).values():
        if claim.needs is None or claim.protocol is None:
            continue
        judged, seen = {*claim.protocol.judged(context)}, {*claim.protocol.explored.get(size, ())}
        seeds = {need.seed for need in claim.needs(context) if isinstance(need, Training)}
        assert seeds & seen == judged & seen, claim.id
        assert not seeds or judged <= seeds, (
            f"{claim.id}: all judged seeds, and those that planted faults read beside them"
        )


@pytest.mark.parametrize("paper", PAPERS)
def test_nothing_at_laptop_size_is_the_papers_own(paper):
    context = Context()
    settings = [claim.setting(context) for claim in load_claims(paper).values() if claim.setting is not None]
    assert settings and not any(setting.own for setting in settings)
