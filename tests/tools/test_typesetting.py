"""Mathematics is seen in prose, typeset, and never lost."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.tools.typesetting import typeset, typeset_formula


def words(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "x_{t+1} <= 2",
            "<math><msub><mi>x</mi><mrow><mi>t</mi><mo>+</mo><mn>1</mn></mrow></msub><mo>≤</mo><mn>2</mn></math>",
        ),
        (
            "||x - x*||^2",
            "<msup><mi>x</mi><mo>∗</mo></msup><msup><mi>‖</mi><mn>2</mn></msup>",
        ),
        ("for 0 < rho", "for <math><mn>0</mn><mo>&lt;</mo><mi>ρ</mi></math>"),
        ("thetabar^t >= Rhat", '<mover accent="true"><mi>θ</mi><mo stretchy="false">¯</mo></mover>'),
        ("every f is L-smooth", "every <i>f</i> is <i>L</i>-smooth"),
        ("1/sqrt(kappa)", "<msqrt><mi>κ</mi></msqrt>"),
        ("a^2/3*b <= E_d*", "<mi>a</mi>"),
        ("FedAvg's eta k G", "FedAvg&#x27;s <math><mi>η</mi>"),
    ],
)
def test_mathematics_in_prose(text, found) -> None:
    assert found in typeset(text)


@pytest.mark.parametrize(
    "text",
    [
        "What a reader sees is that A-FedPD (Eq. 6) of Section B.2.2 is better in 3 of 10 runs, at 5 % and 20 %.",
        "FedAvg's rate, DualFL's and SAFARI's are the papers' own.",
        "Under partial participation the duals sum to zero; see [12], AFEDPD-D14 (one client) and Table 1.",
    ],
)
def test_prose_stays_prose(text) -> None:
    assert typeset(text) == html.escape(text)


def test_formulas_that_stand_alone() -> None:
    above = "<mrow><mi>L</mi><msup><mi>R</mi><mn>2</mn></msup></mrow>"
    stacked = f"<mfrac>{above}<mrow><mn>4</mn><mi>N</mi><mo>+</mo><mn>2</mn></mrow></mfrac>"
    assert stacked in typeset_formula("L*R**2/(4*N + 2)")
    assert stacked in typeset_formula(r"\frac{L R^2}{4 N + 2}").replace('<mspace width=".17em"/>', "")
    assert "<mtext>for all </mtext>" in typeset_formula(r"\eta \le 1 \text{for all } x")
    assert typeset_formula("") == ""


@given(st.text(alphabet="xyLEtaβ ab12^_{}()[]|*/+-<>=&'\\.,~", max_size=40))
def test_any_text_gives_elements_that_close(text) -> None:
    """Nothing is refused, and letters and digits are all there."""
    for page in (typeset(text), typeset_formula(text)):
        ElementTree.fromstring(f"<p>{page}</p>")
    kept = [c for c in text if c in "xyLβ12"]
    assert [c for c in words(typeset(text)).replace("×", "x") if c in "xyLβ12"] == kept
