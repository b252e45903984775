"""A derivation, or a certificate with numbers, as blocks of a page: inequalities with their multipliers, and the squares that are left.

    conclusion = sum_c multiplier_c inequality_c - sum_k weight_k square_k + constant,      multipliers, weights >= 0,  constant <= 0

Everything is read from the proof object, after its checker accepted it; nothing is computed here but products of multipliers with 2 (L - mu), by
which the stored inequalities of smooth functions are multiplied.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.claims.explain.document import Block, Display, Math, PageTable, Paragraph, TextLine
from fedtheory.claims.explain.opened import OpenDerivation
from fedtheory.claims.explain.symbols import join_terms, multiply_text
from fedtheory.claims.statements.written import symbol
from fedtheory.proofs.checker.derivations import FormEntries
from fedtheory.proofs.checker.ranges import CheckedRegion
from fedtheory.proofs.every_n.conditions import AFTER_DRAWS, AFTER_NOISE
from fedtheory.proofs.every_n.vectors import Form, Vector

SOURCE = "Taylor, Hendrickx, Glineur 2017, Theorem 4"
#: what points are measured from
ORIGIN = Paragraph(("The point 0 is where points are measured from: of statements about a minimiser, the minimiser.",))
#: what bars, tildes and hats stand for
NOTATION = Paragraph(
    (
        *(
            "Of vectors ",
            Math.read("u_i"),
            ", one of each client, ",
            Math("\\bar{u}"),
            " is the average over clients and ",
        ),
        *(Math("\\tilde{u}_{i} = u_{i} - \\bar{u}"), " what is left, with average zero; where both have one factor, "),
        *(
            Math.read("u_i"),
            " is written. A hat marks what is new in a vector beside what has a name already, as the tables say.",
        ),
    )
)
#: a form with more terms is a table
MOST_TERMS_OF_A_FORM = 30


def explain_derivation(found: OpenDerivation) -> Iterator[Block]:
    """What is shown, the inequalities with their multipliers, and what is left."""
    if found.region.ranges:
        yield Paragraph(("For all parameters with ", _region(found), ":"))
    yield from _vectors(found)
    yield from _conclusion(found)
    yield from _inequalities(found)
    yield from _squares(found)
    yield from _factors(found)


def _region(found: OpenDerivation) -> Math:
    pieces = []
    for part in found.region.ranges:
        low, name = found.number(part.low).latex, found.math(part.name).latex
        high = "" if part.high is None else f" {_less(part.closed[1])} {found.number(part.high).latex}"
        pieces.append(f"{low} {_less(part.closed[0])} {name}{high}")
    return Math(", \\; ".join(pieces))


def _less(closed: bool) -> str:
    return "\\le" if closed else "<"


def _vectors(found: OpenDerivation) -> Iterator[Block]:
    """The state and those after it, and where functions are evaluated."""
    rows = [(Math.read(name), found_text) for name, found_text in _state(found, found.named.fields)]
    if rows:
        yield PageTable("state", ("of the state", "in these symbols"), tuple(((a,), (b,)) for a, b in rows))
    for on, chance, fields in found.named.after:
        later = [(Math.read(name), text) for name, text in _state(found, fields)]
        when = "one round later" if on == 1 else f"{on} rounds later"
        share = show_traced(chance)
        if share != "1":
            when += f", with probability {share}"
        if later:
            yield PageTable("state after", (when, "in these symbols"), tuple(((a,), (b,)) for a, b in later))
        if drawn := [name for name, what in fields.items() if _is_drawn(what)]:
            text = (
                f"Not written out, for the clients that were drawn have parts of their own in it: {', '.join(drawn)}."
            )
            yield Paragraph((text,))
    yield from _words(found)
    used = {k for _, _, i, j in found.used_pairs() for k in (i, j)}
    points: list[tuple[TextLine, ...]] = []
    for name, k, (x, g, value) in found.evaluations():
        if k in used:
            height = join_terms(multiply_text(found.numbers.text(c), found.symbols.value(t)) for t, c in value.items())
            vectors = [found.math(found.symbols.vector(u, found.numbers.text)) for u in (x, g)]
            points.append(((str(k),), (_letter(name),), (vectors[0],), (vectors[1],), (found.math(height),)))
    if points:
        head = ("number", "function", "point", "gradient", "value (averaged over clients)")
        yield PageTable("evaluations", head, tuple(points))
        if any(row[2] == (Math.read("0"),) for row in points):
            yield ORIGIN


def _words(found: OpenDerivation) -> Iterator[Block]:
    """What symbols were called where they were made, if that is no symbol itself; of those that the proof speaks of."""
    spoken = _spoken(found)
    kinds = [("S", found.symbols.common, found.named.leaves[0]), ("Q", found.symbols.own, found.named.leaves[1])]
    rows = [
        ((Math.read(symbols[k]),), (name,))
        for block, symbols, names in (*kinds, ("f", found.symbols.values, found.named.values))
        for k, name in enumerate(names)
        if (block, k) in spoken and k in symbols and not (name.isidentifier() and name in symbols[k])
    ]
    if rows:
        yield PageTable("symbols", ("symbol", "stands for"), tuple(rows))


def _spoken(found: OpenDerivation) -> set[tuple[str, int]]:
    """Leaves and values of the conclusion, and of the hypotheses that are used."""
    forms = [
        found.data["conclusion"],
        *(f for name, f in found.data["hypotheses"].items() if name in found.multipliers),
    ]
    keys = [key for form in forms for key, value in found.reader.form(form).items() if value]
    return {(str(key[0]), int(leaf)) for key in keys for leaf in key[1:]}


def _letter(name: str) -> Math:
    """What a function is called: the clients' own are f in bounds and certificates."""
    return Math.of(ast.Name(symbol("f" if name == "interpolation" else name), ast.Load()))


def _is_drawn(what: Any) -> bool:
    """Whether a vector has parts of the clients that were drawn, for which a page has no letters: they are not those of all clients."""
    return isinstance(what, Vector) and any(part not in ("mean", "deviation") for part, _ in what.terms)


def _state(found: OpenDerivation, fields: Mapping[str, Any]) -> Iterator[tuple[str, Math]]:
    for name, what in fields.items():
        if _is_drawn(what):
            continue
        if isinstance(what, Vector):
            parts: dict[str, dict[int, Any]] = {"S": {}, "Q": {}}
            for (part, leaf), value in what.terms.items():
                parts["S" if part == "mean" else "Q"][leaf] = value
            text = found.symbols.vector(parts, show_traced)
        elif isinstance(what, Form):
            entries: dict[tuple[Any, ...], Any] = {**what.gram, **{("f", t): c for t, c in what.values.items()}}
            if what.constant != 0:
                entries["1",] = what.constant
            text = found.symbols.form(entries, show_traced)
        else:
            continue
        shown = found.math(text)
        if shown.latex != Math.read(name).latex:
            yield name, shown


def show_traced(number: Any) -> str:
    """A number of a trace as text: a rational function of parameters, or a fraction."""
    return str(number.expression) if hasattr(number, "expression") else str(Fraction(number))


def _conclusion(found: OpenDerivation) -> Iterator[Block]:
    form = found.reader.form(found.data["conclusion"])
    yield Paragraph(("To show that this is at most zero, in any dimension:",))
    yield from _form_blocks(found, form, "conclusion")


def _form_blocks(found: OpenDerivation, form: FormEntries, name: str) -> Iterator[Block]:
    entries = {key: value for key, value in form.items() if value}
    if len(entries) <= MOST_TERMS_OF_A_FORM:
        yield Display(found.form(entries), name)
        return
    rows = []
    for key, value in entries.items():
        what = found.form({key: found.one})
        rows.append(((what,), (found.number(value),)))
    yield PageTable(name, ("the sum of these", "each times"), tuple(rows))


def interpolation_text(big_l: str | None, mu: str, clients: bool) -> str:
    """The interpolation inequality of evaluations a and b as a text, left side, at most zero.

    F_b - F_a + <g_b, x_a - x_b> + (||g_a - g_b||^2 + mu L ||x_a - x_b||^2 - 2 mu <g_a - g_b, x_a - x_b>)/(2 (L - mu)); its last term is left out
    for functions that are not smooth. ``clients``: of each client, averaged.
    """
    i = "_i" if clients else ""
    dx, dg = f"x_a{i} - x_b{i}", f"g_a{i} - g_b{i}"
    body = f"dot(g_b{i}, {dx})"
    if big_l is not None:
        inside = [f"norm2({dg})"]
        if mu != "0":
            inside += [f"({mu})*({big_l})*norm2({dx})", f"2*({mu})*dot({dg}, {dx})"]
        total = " - ".join([" + ".join(inside[:2]), *inside[2:]])
        below = f"2*(({big_l}) - ({mu}))" if mu != "0" else f"2*({big_l})"
        body += f" + ({total})/({below})"
    return f"F_b - F_a + mean({body})" if clients else f"F_b - F_a + {body}"


def name_class(big_l: str | None, mu: str) -> str:
    """The name of the inequality by its class."""
    if big_l is None:
        return "the subgradient inequality (convexity)"
    if mu == "0":
        return f"the interpolation inequality of smooth convex functions, cocoercivity with values ({SOURCE})"
    if mu.replace("(", "").replace(")", "") == f"-{big_l}":
        return f"the interpolation inequality of smooth functions ({SOURCE})"
    return f"the interpolation inequality of smooth, strongly convex functions ({SOURCE})"


_OF_LATE_VALUES = (
    r"\frac{\mu}{2} E\|x - y\|^2 \le E f(x) - f(y) - E \langle \nabla f(y), x - y \rangle \le \frac{L}{2} E\|x - y\|^2"
)


def _inequalities(found: OpenDerivation) -> Iterator[Block]:
    """Each class's inequality once, then the pairs with their multipliers; then hypotheses with theirs."""
    pairs = found.used_pairs()
    for word, function in found.functions.items():
        own = [(i, j, name) for name, of, i, j in pairs if of == word]
        if not own:
            continue
        big_l = None if function.L is None else found.numbers.text(function.L)
        mu = found.numbers.text(function.mu)
        clients = any(u["Q"] for x, g, _ in function.evaluations for u in (x, g))
        yield Paragraph(
            (
                "Used of ",
                _letter(word),
                f": {name_class(big_l, mu)}, between evaluations ",
                Math("a"),
                " and ",
                Math("b"),
                "," + (" averaged over clients," if clients else "") + " at most zero:",
            )
        )
        yield Display(found.math(interpolation_text(big_l, mu, clients)), f"interpolation {word}")
        rows = tuple(((str(i),), (str(j),), (found.multiplier(name),)) for i, j, name in own)
        yield PageTable(f"multipliers {word}", ("a", "b", "multiplier"), rows)
    rows_of: list[tuple[TextLine, ...]] = []
    for name in found.multipliers:
        if name in found.data["hypotheses"]:
            form = found.form(found.reader.form(found.data["hypotheses"][name]))
            rows_of.append(((name,), (form,), (found.multiplier(name),)))
    if rows_of:
        yield Paragraph(("Used hypotheses, each at most zero:",))
        yield PageTable("hypotheses", ("hypothesis", "form", "multiplier"), tuple(rows_of))
        for word, what in ((AFTER_DRAWS, "who takes part"), (AFTER_NOISE, "noise")):
            if any(name.startswith(word) for name in found.multipliers):
                yield Paragraph(
                    (
                        f"A {word} is f in expectation at a point x that depends on {what}, of which for y that do not is used ",
                        Math(_OF_LATE_VALUES),
                        ".",
                    )
                )


def _squares(found: OpenDerivation) -> Iterator[Block]:
    """What the sum of inequalities leaves: squares, and a constant."""
    rows: list[tuple[TextLine, ...]] = []
    for block in ("S", "Q"):
        for pivot in found.data["pivots"][block]:
            weight, row = found.reader.pivot(pivot)
            text = f"norm2({found.symbols.row(row, block, found.numbers.text)})"
            if weight:
                rows.append(((found.number(weight),), (found.math(text if block == "S" else f"mean({text})"),)))
    constant = found.reader.number(found.data["constant"])
    less = ", minus the sum of these weights times squares" if rows else ", and no squares are left"
    end = ":" if rows else "."
    if found.multipliers:
        yield Paragraph((f"It is the sum of the multipliers times the left sides of their inequalities{less}{end}",))
    else:
        yield Paragraph(
            (
                f"No inequality is needed. It is {'minus the sum of these weights times squares' if rows else 'zero'}{end}",
            )
        )
    if rows:
        yield PageTable("squares", ("weight", "square"), tuple(rows))
    if constant:
        yield Paragraph(("To which this constant, which is not above zero, is added:",))
        yield Display(found.number(constant), "constant")


def _factors(found: OpenDerivation) -> Iterator[Block]:
    """Long factors by name, and the signs on the region of what multipliers and weights are made of."""
    region: CheckedRegion = found.region
    long = [k for k in range(len(region.factors)) if found.numbers.is_long(k)]
    if long:
        yield Paragraph(("Factors, each a sum of these terms:",))
    for k in long:
        rows = tuple(
            ((found.math(_monomial(powers, found.numbers.names)),), (found.math(str(value)),))
            for powers, value in sorted(found.numbers.written(k).items())
        )
        yield PageTable(f"factor P_{k + 1}", (f"P_{k + 1}: term", "times"), rows)
    signs = [k for k in _in_signs(found) if len(region.factors[k]) > 1]
    if signs:
        yield Paragraph(("Signs on the region, which make multipliers and weights nonnegative:",))
        told: list[tuple[TextLine, ...]] = [
            ((found.math(found.numbers.factor(k)),), (_sign(region, k),)) for k in signs
        ]
        yield PageTable("signs", ("factor", "sign"), tuple(told))


def _monomial(powers: tuple[int, ...], names: Sequence[str]) -> str:
    return "*".join(f"{name}**{p}" if p > 1 else name for name, p in zip(names, powers, strict=True) if p) or "1"


def _in_signs(found: OpenDerivation) -> list[int]:
    """Factors of multipliers, weights and constant."""
    pivots = [found.reader.pivot(p)[0] for block in ("S", "Q") for p in found.data["pivots"][block]]
    numbers = [*found.multipliers.values(), *pivots, found.reader.number(found.data["constant"])]
    return sorted({k for number in numbers for powers in number for k, power in enumerate(powers) if power})


def _sign(region: CheckedRegion, k: int) -> str:
    """Of a factor as it is written: negative ones are written with the other sign."""
    sign = region.sign(k)
    if sign is None:
        return "either, and its powers are even"
    return "positive" if sign.strict else "not negative"
