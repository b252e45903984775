"""A refutation says in a sentence by how much it refutes, what its numbers are, and both as LaTeX."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from fedtheory.claims.claim import Part
from fedtheory.claims.context import Context
from fedtheory.claims.parts import at_most, draw_shares
from fedtheory.claims.referee import list_instance
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.claims.refutation import describe_excess, describe_fields, explain_refutation, with_fields
from fedtheory.command_line.main import main
from fedtheory.core.errors import InvalidInput
from fedtheory.tools.latex import write_latex_text
from paper_checks import instance_fields
from paper_checks.collected import FILE

SEEN = {
    "what": "f(x^1) - f*",
    "exact": {"measured": "1/6", "bound": "1/8", "arithmetic": "fractions"},
    "assumptions": [
        {"assumption": "L = 1", "by": "exact arithmetic", "met": True},
        {"assumption": "mu = 0", "by": "vouched for", "met": True},
    ],
    "role": "printed",
}


@pytest.mark.parametrize(
    ("measured", "bound", "said"),
    [
        ("1/6", "1/8", " by 33 %"),
        ("1/4", "1/8", " by a factor of 2"),
        ("1e400", "1", " by a factor of 1.00e+400"),
        ("1/8", "0", " by 0.125"),
        ("-1/8", "-1/4", " by 0.125"),
        ("1001/1000", "1", " by 0.1 %"),
        ("1/8", "1/8", ""),
        ("none", "1/8", ""),
    ],
)
def test_by_how_much_a_bound_is_exceeded(measured: str, bound: str, said: str) -> None:
    assert describe_excess(measured, bound) == said


def test_the_sentence_counts_hypotheses_and_says_who_confirmed_them() -> None:
    assert explain_refutation(SEEN).startswith(
        "Both hypotheses are met on the instance (1 by exact arithmetic, 1 vouched for), and the statement as printed fails by 33 %"
    )
    unmet = [SEEN["assumptions"][0] | {"met": False}]
    assert explain_refutation(SEEN | {"assumptions": unmet}).startswith("1 of 1 hypotheses are NOT met")
    assert "which does not decide" in explain_refutation(SEEN | {"role": "reading"})


def test_every_field_of_a_stored_instance_is_told_and_none_besides() -> None:
    claims = {id: claim for source in find_papers().values() for id, claim in load_claims(source).items()}
    stored = json.loads(FILE.read_text())["instances"]
    seen: dict[str, set[str]] = {}
    for one in stored:
        names = [name for name, _ in list_instance(one["instance"])]
        assert [*describe_fields(one["instance"], claims[one["claim"]].fields)] == names, one["claim"]
        seen.setdefault(one["claim"], set()).update(names)
    told = [id for name in ("FEDPD", "AFEDPD", "DUALFL", "SAFARI", "FEDSLR") for id in getattr(instance_fields, name)]
    assert {*told} <= seen.keys()


def test_fields_of_an_unknown_claim_are_refused() -> None:
    with pytest.raises(InvalidInput, match="'X-1'"):
        with_fields([], {"X-1": {"a": "b"}})


def test_an_instance_stands_in_the_picture_of_shares() -> None:
    claim = load_claims("paper_checks.afedpd")["AFEDPD-L4P"]
    part = next(found for found in claim.run(Context()) if isinstance(found, Part) and found.counterexample)
    compared = at_most("runs", np.linspace(0.1, 0.5, 40), np.ones(40), "numeric", "some runs")
    picture = draw_shares([compared, part], 0)
    assert picture is not None
    point = picture.series[-1]
    assert point["style"] == "points"
    assert point["y"] == [pytest.approx(part.counterexample.replay.measured / part.counterexample.replay.bound)]
    assert len(draw_shares([compared], 0).series) == len(picture.series) - 1


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("at most C_2 D_0/T, 5 % of 1", r"at most $C_{2}\,D_{0}/T$, 5 \% of 1"),
        ("eta <= 1/(2L)", r"$\eta \le 1/(2L)$"),
        ("at sqrt(p + 1) and Rhat_P", r"at $\sqrt{p+1}$ and $\hat{R}_{P}$"),
        ("plain & text_with #", r"plain \& text\_with \#"),
        ("Section IV-B, mu_avg = 1", r"Section IV-B, $\mu_{\operatorname{avg}\,}=1$"),
        ("x_i_next^r = kept^r", r"${x_{i}}_{\operatorname{next}}^{r}=\operatorname{kept}^{r}$"),
    ],
)
def test_prose_becomes_latex(text: str, latex: str) -> None:
    assert write_latex_text(text) == latex


def test_every_statement_of_the_papers_is_balanced_latex() -> None:
    for source in find_papers().values():
        for claim in load_claims(source).values():
            for text in (claim.statement, claim.repaired, *claim.assumptions, *claim.fields.values()):
                plain = re.sub(r"\\[\\{}$%#&_]", "", write_latex_text(text))
                assert plain.count("{") == plain.count("}"), text
                assert plain.count("$") % 2 == 0 and "$$" not in plain, text


def test_replay_writes_latex_for_a_review(tmp_path) -> None:
    runner = CliRunner()
    runner.invoke(main, ["check", "AFEDPD-L4P", "--counterexamples", str(tmp_path), "--workers", "1"])
    file = tmp_path / "AFEDPD-L4P.json"
    told = runner.invoke(main, ["replay", str(file)])
    assert "by a factor of 12.8" in told.output
    written = runner.invoke(main, ["replay", str(file), "--latex"])
    assert written.exit_code == 0
    assert r"\item \texttt{tau} = 1: $\tau_{0}$, the number of rounds" in written.output
    assert "by a factor of 12.8" in written.output
    assert r"\texttt{fedtheory replay" in written.output
