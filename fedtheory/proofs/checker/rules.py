"""The rules of proof terms: a table from names to small functions. Each has its inference as a figure, premises above what follows from them.

A rule takes the checker, the line, the goal (the line's sentence, or a case of it) and its arguments as text, and returns these in full; or it
refuses, and names line and rule, what was expected and what was found.

    arguments   derivation [on REGION]
                combine [factor*]premise, ... [times factor]          a premise is NAME, NAME(t=T+1), square(formula); "combine" alone: a sign
                induction n: base RULE; step RULE                     the step may use "ih"
                induction n for every m: base RULE; step RULE         it may use "ih_next", too, which is "ih" at m + 1
                telescope [in n] of NAME | contraction [in n] of NAME
                mean NAME | root NAME, NAME | least s of NAME
                cases formula: RULE; RULE                             each may use "case"
                larger of: RULE; RULE | larger in NAME                for max(A, B) <= R, and from it
                through SENTENCE: RULE; RULE                          for the sentence, and from it, which is "that", for the line
                values K: RULE; RULE; ...                             one for each value of a whole number
                bernoulli x, s | exponential x | logarithm x | power NAME, s
                identity | cite NAME [from NAME, ...]
                squeeze NAME, NAME, LIMIT ... | limit of NAME, LIMIT ... | limit as t of NAME | monotone NAME, LIMIT | series NAME, NAME
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from .algebra import AtomPolynomial, PowerOfAtom, Quotient, value_of
from .formulas import Sentence, names, read, show_tree, split_pieces, substitute
from .limits import Premises, by_limit, by_monotone, by_series, by_squeeze
from .lines import check_identity, check_line
from .proof_lines import ProofLine
from .reader import show_briefly
from .refusals import TermRefused
from .terms import Checker, PremiseRow, names_in

ProofRule = Callable[[Checker, ProofLine, Sentence, str, Premises], str]
_PART = re.compile(r"(?:(.*)\*\s*)?(\w+(?:\([^()]*=[^()]*(?:\([^()]*\)[^()]*)*\))?|square\(.*\))", re.S)
_ONE = Quotient.number(1)


def apply_rule(checker: Checker, line: ProofLine) -> str:
    """Check a line by its rule; the rule and its arguments in full."""
    return _apply(checker, line, line.sentence, line.rule, line.arguments, {})


def _apply(checker: Checker, line: ProofLine, goal: Sentence, rule: str, arguments: str, more: Premises) -> str:
    if rule not in RULES:
        raise TermRefused(line.name, rule, f"a rule: {', '.join(RULES)}", rule)
    written = RULES[rule](checker, line, goal, arguments, more)
    return f"{'induction' if RULES[rule] in (by_telescope, by_contraction) else rule} {written}".strip()


def by_derivation(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """Multipliers and squares, in any dimension and for every number of clients.

    R - L = sum_k m_k (-inequality_k) + sum_j d_j |v_j|^2 + c,   m_k, d_j, c >= 0  on the region
    ------------------------------------------------------------------------------------------
                                            L <= R
    """
    if text and not text.startswith("on "):
        raise TermRefused(line.name, line.rule, "'derivation' or 'derivation on REGION'", text)
    if goal.exists or goal.sign != "<=":
        raise TermRefused(line.name, line.rule, "an inequality '<=' about one round, D[t], D[t+1]", goal)
    check_line(checker, line, goal, checker.next_derivation(line, goal, text.removeprefix("on ").strip()))
    return text


def by_identity(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """Both sides are the same combination of products and values, in any dimension and for every number of clients.

    R - L = 0, entry by entry
    -------------------------
             L == R
    """
    if text or goal.exists or goal.sign != "==":
        raise TermRefused(line.name, line.rule, "'identity', and a line L == R about one round", goal)
    check_identity(checker, line, goal, checker.next_derivation(line, goal, ""))
    return text


def by_combine(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """A combination of inequalities and equalities; without premises, a sign or an identity.

    L_k <= R_k,   m_k >= 0 (of any sign where L_k == R_k),   c > 0,   c (R - L) = sum_k m_k (R_k - L_k) + s,   s >= 0
    ---------------------------------------------------------------------------------------------------------------
                                                     L <= R
    """
    body, _, times = text.partition(" times ")
    scale = checker.value(read(times)) if times.strip() else _ONE
    if not checker.is_positive(scale):
        raise TermRefused(line.name, line.rule, "a factor above zero", times)
    rows, goal = _rows(checker, line, goal, body, more)
    want = checker.gap(goal) * scale
    if any(row.factor is None for row in rows):
        if checker.helper is None:
            raise TermRefused(line.name, line.rule, "multipliers", text)
        found = checker.helper.multipliers(checker, line, want, rows)
        rows = [PremiseRow(row.name, row.sentence, factor, row.gap) for row, factor in zip(rows, found, strict=True)]
    rest, strict = want, False
    for row in rows:
        tree = read(str(row.factor))
        factor = checker.value(tree)
        if row.sentence.sign != "==" and not (
            checker.is_nonnegative_product(tree) or checker.is_product_with_squares(line, tree)
        ):
            raise TermRefused(
                line.name, line.rule, f"a multiplier of {row.name} that is never negative", show_briefly(factor)
            )
        if goal.sign == "==" and row.sentence.sign != "==":
            raise TermRefused(line.name, line.rule, "equalities, for an equality", f"{row.name}: {row.sentence}")
        if checker.quantities_in(factor):
            checker.require_linear(line, factor * row.gap)
        strict = strict or (row.sentence.sign == "<" and checker.is_positive(factor))
        rest = rest - factor * row.gap
    checker.settle(line, goal, rest, strict)
    written = ", ".join(
        f"{_in_parentheses(str(row.factor))}*{row.name}" for row in rows if str(row.factor) not in ("0", "(0)")
    )
    return f"{written} times {times.strip()}" if times.strip() else written


def _rows(
    checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises
) -> tuple[list[PremiseRow], Sentence]:
    """The premises, and the goal with the variable of a premise that says that there is a round."""
    rows: list[PremiseRow] = []
    bound = None
    for piece in split_pieces(text):
        found = _PART.fullmatch(piece)
        if found is None:
            raise TermRefused(line.name, line.rule, "'factor*premise'", piece)
        factor, name = found.groups()
        sentence = (
            _square(checker, line, name) if name.startswith("square(") else checker.premise(line, goal, name, more)
        )
        if sentence.sign == "->" or goal.sign == "->":
            raise TermRefused(line.name, line.rule, "inequalities and equalities", f"{name}: {sentence}, for {goal}")
        if sentence.exists is not None:
            if bound is not None:
                raise TermRefused(line.name, line.rule, "one premise that says 'exists'", name)
            bound = sentence.exists
        rows.append(PremiseRow(name, sentence, factor.strip() if factor else None, checker.gap(sentence)))
    if (bound is None) != (goal.exists is None):
        raise TermRefused(line.name, line.rule, "'exists' in the line and in one premise", goal)
    if bound is not None and goal.exists is not None:
        if goal.exists.variable != bound.variable:
            raise TermRefused(line.name, line.rule, f"exists {bound.variable}", goal)
        room = (
            checker.value(bound.low) - checker.value(goal.exists.low),
            checker.value(goal.exists.high) - checker.value(bound.high),
        )
        if not all(map(checker.is_nonnegative, room)):
            raise TermRefused(line.name, line.rule, f"a range that holds {bound}", goal)
    return rows, goal


def _in_parentheses(text: str) -> str:
    """The text of a factor in one pair of them; a number or name as it is."""
    while text.startswith("(") and _closes(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


def _closes(text: str) -> int:
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return k
    return -1


def _square(checker: Checker, line: ProofLine, text: str) -> Sentence:
    """0 <= e^2."""
    inner = text.removeprefix("square(").removesuffix(")")
    sentence = Sentence.parse(f"0 <= ({inner})**2")
    checker.require_readable(line, sentence)
    return sentence


def by_induction(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """From one round to the next.

    F(n0)        F(n)  |-  F(n + 1)
    -------------------------------
         F(n) for all n >= n0

    "for every m", a round of the line, too: from F(n, m + 1) for all m to F(n + 1, m).
    """
    n, other, pieces = induction_parts(text)
    rounds = checker.signature.rounds
    heads = [piece.partition(" ")[0] for piece in pieces]
    if n not in rounds or n not in goal.names or heads != ["base", "step"] or "ih" in more:
        raise TermRefused(line.name, line.rule, "'n: base RULE ...; step RULE ih, ...' for a round n of the line", text)
    if other is not None and (other not in rounds or other not in goal.names or other == n or "ih_next" in more):
        raise TermRefused(line.name, line.rule, "'n for every m: ...' for another round m of the line", text)
    if any({n, other} & names_in(fact) for fact in checker.facts):
        raise TermRefused(
            line.name, line.rule, f"cases that do not speak of {' or '.join(filter(None, (n, other)))}", text
        )
    base = _inner(checker, line, goal.substitute({n: ast.Constant(rounds[n])}), pieces[0].removeprefix("base "), more)
    known = {**more, "ih": goal} | {f"ih_{k}": side for k, side in enumerate(_larger_of(goal), start=1)}
    known |= {} if other is None else {"ih_next": goal.substitute({other: read(f"{other}+1")})}
    step = _inner(checker, line, goal.substitute({n: read(f"{n}+1")}), pieces[1].removeprefix("step "), known)
    return f"{n}{'' if other is None else f' for every {other}'}: base {base}; step {step}"


def induction_parts(text: str) -> tuple[str, str | None, list[str]]:
    """The round that an induction goes over, the one for every value of which it goes, and its pieces."""
    head, pieces = _pieces(text)
    n, _, other = head.partition(" for every ")
    return n.strip(), other.strip() or None, pieces


def _pieces(text: str) -> tuple[str, list[str]]:
    """What stands before the colon, and the pieces between semicolons outside of parentheses."""
    head, _, rest = text.partition(":")
    found, depth = [""], 0
    for character in rest:
        depth += (character in "([") - (character in ")]")
        if character == ";" and not depth:
            found.append("")
        else:
            found[-1] += character
    return head.strip(), [piece.strip() for piece in found if piece.strip()]


def _inner(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """A rule inside of a rule, in parentheses where it has semicolons; its text in full."""
    text = text.strip()
    inside = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    rule, _, arguments = inside.partition(" ")
    written = _apply(checker, line, goal, rule, arguments.strip(), more)
    return f"({written})" if ";" in written else written


def by_telescope(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """An induction over T.

           A[t+1] <= A[t] - X[t]
    --------------------------------------
    sum(X[t], t, t0, T) <= A[t0] - A[T+1]
    """
    n, premise, t = _one_round(checker, line, text)
    first = checker.signature.rounds[n]
    return by_induction(
        checker, line, goal, f"{n}: base combine {premise}({t}={first}); step combine ih, {premise}({t}={n}+1)", more
    )


def by_contraction(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """An induction over T.

         V[t+1] <= rho V[t] + c,   rho >= 0
    ---------------------------------------------
    V[T] <= rho^T V[0] + c (1 - rho^T)/(1 - rho)
    """
    n, premise, t = _one_round(checker, line, text)
    return by_induction(checker, line, goal, f"{n}: base combine; step combine ih, {premise}({t}={n})", more)


def _one_round(checker: Checker, line: ProofLine, text: str) -> tuple[str, str, str]:
    """'of NAME', or 'in n of NAME': the round that an induction goes over (T where none is named), the line, and its round."""
    found = re.fullmatch(r"(?:in\s+(\w+)\s+)?of\s+(\w+)", text)
    rounds = checker.signature.rounds
    if found is None or found[2] not in checker.known or (found[1] or "T") not in rounds:
        raise TermRefused(line.name, line.rule, "'of NAME' or 'in n of NAME', a line about one round", text)
    own = checker.known[found[2]].names & rounds.keys()
    if len(own) != 1:
        raise TermRefused(line.name, line.rule, "a line about one round", f"{found[2]}: {checker.known[found[2]]}")
    return found[1] or "T", found[2], *own  # type: ignore[return-value]


def _bound(line: ProofLine, premise: Sentence) -> Sentence:
    """A premise that is no limit, and holds in every round that it speaks of."""
    if premise.sign == "->" or premise.exists is not None:
        raise TermRefused(line.name, line.rule, "an inequality or equality, in every round", premise)
    return premise


def by_mean(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """The least is at most the mean; of several sums over the same rounds, with their factors, that of what is summed in all.

    c sum(X[t], t, a, b) <= R,   c > 0,   a <= b
    --------------------------------------------
    exists t in a..b: X[t] <= R/(c (b - a + 1))
    """
    premise = checker.premise(line, goal, text, more)
    rest = checker.gap(_bound(line, premise))
    sums = sorted(atom for atom in rest.atoms if atom.startswith("sum("))
    if not sums or goal.exists is None or goal.sign == "==":
        raise TermRefused(line.name, line.rule, "a premise with a sum, and a line 'exists t in a..b:'", premise)
    if goal.exists.variable in premise.names:
        raise TermRefused(
            line.name,
            line.rule,
            f"a premise that does not speak of {goal.exists.variable}, which is the line's",
            premise,
        )
    factors, summed = list[Quotient](), Quotient.number(0)
    for atom in sums:
        parts = rest.linear_in(atom)
        if parts is None or any(other in parts[1].atoms for other in sums):
            raise TermRefused(line.name, line.rule, "a premise that is linear in its sums", premise)
        rest = parts[0]
        factors.append(-parts[1])
        tree = read(atom)
        assert isinstance(tree, ast.Call)
        body, _, low, high = tree.args
        if [show_tree(low), show_tree(high)] != [show_tree(goal.exists.low), show_tree(goal.exists.high)]:
            raise TermRefused(
                line.name, line.rule, f"exists {goal.exists.variable} in {show_tree(low)}..{show_tree(high)}", goal
            )
        term = checker.value(substitute(body, {"_": ast.Name(goal.exists.variable, ast.Load())}))
        summed = summed + factors[-1] / factors[0] * term
    count = checker.value(goal.exists.high) - checker.value(goal.exists.low) + _ONE
    if not (checker.is_positive(factors[0]) and checker.is_positive(count)):
        raise TermRefused(
            line.name, line.rule, "a positive factor of a sum that is not empty", f"{factors[0].text()}, {count.text()}"
        )
    checker.settle(line, goal, checker.gap(goal) + summed - rest / (factors[0] * count), premise.sign == "<")
    return text


def by_root(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """Square roots of both sides.

    X^2 <= Y^2,   0 <= Y
    --------------------
          X <= Y
    """
    pieces = split_pieces(text)
    if len(pieces) not in (1, 2) or goal.exists or goal.sign == "==":
        raise TermRefused(line.name, line.rule, "'root squares' or 'root squares, sign', and a line X <= Y", text)
    squares = _bound(line, checker.premise(line, goal, pieces[0], more))
    x, y = checker.value(goal.left), checker.value(goal.right)
    if squares.sign == "==" or not (
        (checker.value(squares.left) - x**2).zero and (checker.value(squares.right) - y**2).zero
    ):
        raise TermRefused(
            line.name,
            line.rule,
            f"({show_tree(goal.left)})**2 <= ({show_tree(goal.right)})**2",
            f"{pieces[0]}: {squares}",
        )
    if goal.sign == "<" and squares.sign != "<":
        raise TermRefused(line.name, line.rule, "squares that are less, for less", f"{pieces[0]}: {squares}")
    if len(pieces) == 2:
        sign = _bound(line, checker.premise(line, goal, pieces[1], more))
        shown = sign.sign != "==" and checker.is_nonnegative(y - checker.gap(sign))
    else:
        shown = checker.is_nonnegative(y)
    if not shown:
        raise TermRefused(line.name, line.rule, f"0 <= {show_tree(goal.right)}", pieces[1:] or "it was not shown")
    return text


def by_least(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """The best of all s > 0 (Cauchy and Schwarz, Minkowski).

    X <= s A + B/s for all s > 0,   0 <= A, B
    -----------------------------------------
              X <= 2 sqrt(A) sqrt(B)
    """
    found = re.fullmatch(r"(\w+)\s+of\s+(.+)", text, re.S)
    parameter = next((p for p in checker.signature.parameters if found and p.name == found[1]), None)
    if found is None or parameter is None:
        raise TermRefused(line.name, line.rule, "'least s of NAME', s a parameter", text)
    s, ends = found[1], parameter.ends
    if s not in checker.signature.auxiliary:
        raise TermRefused(
            line.name, line.rule, "a parameter of which quantities and claims know nothing (auxiliary)", s
        )
    if not ends.low.zero or ends.high is not None or any(s in p.ends.atoms for p in checker.signature.parameters):
        raise TermRefused(line.name, line.rule, f"0 < {s}, without another end", parameter)
    premise = _bound(line, checker.premise(line, goal, found[2], more))
    gap = checker.gap(premise) * Quotient.atom(s)
    a, b, rest = _quadratic_in(line, gap, s, premise)
    if premise.sign == "==" or goal.exists or s in goal.names or goal.sign != "<=":
        raise TermRefused(line.name, line.rule, f"lines 'X <= ...', of which only {text} speaks of {s}", goal)
    if not (checker.is_nonnegative(a) and checker.is_nonnegative(b)):
        raise TermRefused(
            line.name,
            line.rule,
            "factors of s and 1/s that were shown to be at least zero",
            f"{show_briefly(a)}, {show_briefly(b)}",
        )
    both = (_sqrt(a) * _sqrt(b)) * Quotient.number(2)
    checker.settle(line, goal, checker.gap(goal) - rest - both)
    return text


def _sqrt(quotient: Quotient) -> Quotient:
    return value_of(read(f"sqrt({quotient.text()})")) if not quotient.zero else quotient


def _quadratic_in(line: ProofLine, gap: Quotient, s: str, premise: Sentence) -> tuple[Quotient, Quotient, Quotient]:
    """A, B, -X of s (R - L) = s^2 A + B - s X."""
    parts: dict[PowerOfAtom, AtomPolynomial] = {0: {}, 1: {}, 2: {}}
    if any(name == s for key in gap.below for at, _ in key for name, _ in at):
        raise TermRefused(line.name, line.rule, f"X <= {s}*A + B/{s}", premise)
    for at, number in gap.numerator.items():
        power = dict(at).get(s, 0)
        if power not in parts or any(s in name and name != s for name, _ in at):
            raise TermRefused(line.name, line.rule, f"X <= {s}*A + B/{s}", premise)
        parts[power][tuple(item for item in at if item[0] != s)] = number
    found = [Quotient(parts[k], gap.below) for k in (2, 0, 1)]
    return found[0], found[1], found[2]


def by_cases(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """Two cases that leave nothing out.

    F  given  0 <= e        F  given  e <= 0
    ----------------------------------------
                      F
    """
    head, rules = _pieces(text)
    if len(rules) != 2:
        raise TermRefused(line.name, line.rule, "'e: RULE ...; RULE ...', for 0 <= e and for e <= 0", text)
    tree = read(head)
    checker.require_readable(line, Sentence(ast.Constant(0), "<=", tree))
    if checker.quantities_in(checker.value(tree)) and checker.signature.drawn:
        raise TermRefused(line.name, line.rule, "cases of parameters, where rounds are drawn", head)
    if goal.exists and goal.exists.variable in names(tree):
        raise TermRefused(line.name, line.rule, f"cases that do not speak of {goal.exists.variable}", head)
    name = f"case{len(checker.facts) + 1}" if checker.facts else "case"
    written = []
    for rule, e in zip(rules, (tree, ast.UnaryOp(ast.USub(), tree)), strict=True):
        with checker.supposing(checker.value(e)):
            written.append(_inner(checker, line, goal, rule, {**more, name: Sentence(ast.Constant(0), "<=", e)}))
    return f"{head}: {'; '.join(written)}"


def by_through(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """What is shown inside of a case, where it is no line of its own.

    G        F  given  G
    --------------------
             F
    """
    head, rules = _pieces(text)
    if len(rules) != 2:
        raise TermRefused(line.name, line.rule, "'SENTENCE: RULE ...; RULE that, ...'", text)
    between = read_between(goal, head)
    if between.exists or between.sign == "->":
        raise TermRefused(line.name, line.rule, "an inequality or equality", head)
    checker.require_readable(line, between)
    first = _inner(checker, line, between, rules[0], more)
    return f"{head}: {first}; {_inner(checker, line, goal, rules[1], {**more, name_of_between(more): between})}"


def read_between(goal: Sentence, text: str) -> Sentence:
    """The sentence between, with the goal's values of whole numbers."""
    between = Sentence.parse(text)
    for name, number in goal.fixed:
        between = between.at(name, number)
    return between


def name_of_between(more: Iterable[str]) -> str:
    """Under which name the second rule knows the sentence between: "that", or "that2" where it is inside of another one."""
    depth = sum(name.startswith("that") for name in more)
    return f"that{depth + 1}" if depth else "that"


def by_larger(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """The larger of two numbers is at most what both are, and neither is more; the step of an induction over it may use "ih_1" and "ih_2".

    A <= R        B <= R        max(A, B) <= R
    --------------------        --------------
      max(A, B) <= R                A <= R
    """
    if text.startswith("in "):
        premise = checker.premise(line, goal, text.removeprefix("in "), more)
        same = [side for side in _larger_of(premise) if str(side) == str(goal)]
        if not same:
            raise TermRefused(line.name, line.rule, "one side of a line max(A, B) <= R", f"{goal}, of {premise}")
        return text
    head, rules = _pieces(text)
    sides = _larger_of(goal)
    if head != "of" or len(rules) != len(sides) or not sides:
        raise TermRefused(line.name, line.rule, "'of: RULE; RULE', and a line max(A, B) <= R", f"{text}, for {goal}")
    return f"of: {'; '.join(_inner(checker, line, side, rule, more) for side, rule in zip(sides, rules, strict=True))}"


def _larger_of(goal: Sentence) -> list[Sentence]:
    """A <= R and B <= R, of max(A, B) <= R; nothing of other sentences."""
    match goal.left:
        case ast.Call(func=ast.Name(id="max"), args=[_, _] as parts) if goal.sign in ("<=", "<") and not goal.exists:
            return [replace(goal, left=part) for part in parts]
    return []


def by_values(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """One value of a whole number after the other.

    F(K = a)   ...   F(K = b)
    -------------------------
      F for all K in a..b
    """
    name, rules = _pieces(text)
    wholes = checker.signature.wholes
    if name not in wholes or not rules:
        raise TermRefused(line.name, line.rule, f"'K: RULE; RULE; ...' for a whole number ({', '.join(wholes)})", text)
    low, high = wholes[name]
    if len(rules) != high - low + 1:
        raise TermRefused(line.name, line.rule, f"{high - low + 1} rules, one for each of {low}..{high}", len(rules))
    written = [
        _inner(checker, line, goal.at(name, number), rule, more)
        for number, rule in zip(range(low, high + 1), rules, strict=True)
    ]
    return f"{name}: {'; '.join(written)}"


def by_bernoulli(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """Bernoulli's inequality, for real exponents.

    x > -1,   s <= 0 or 1 <= s            x > -1,   0 <= s <= 1
    --------------------------            ----------------------
      1 + s x <= (1 + x)^s                  (1 + x)^s <= 1 + s x
    """
    pieces = [checker.value(read(piece)) for piece in split_pieces(text)]
    if len(pieces) != 2 or goal.exists or goal.sign != "<=":
        raise TermRefused(line.name, line.rule, "'bernoulli x, s', and a line '<='", text)
    x, s = pieces
    if not checker.is_positive(_ONE + x):
        raise TermRefused(line.name, line.rule, "x above -1", text)
    power = checker.value(read(f"(1 + ({x.text()}))**({s.text()})"))
    tangent = _ONE + s * x
    if checker.is_nonnegative(-s) or checker.is_nonnegative(s - _ONE):
        fact = power - tangent
    elif checker.is_nonnegative(s) and checker.is_nonnegative(_ONE - s):
        fact = tangent - power
    else:
        raise TermRefused(
            line.name, line.rule, "s that was shown to be at most 0, between 0 and 1, or at least 1", s.text()
        )
    checker.settle(line, goal, checker.gap(goal) - fact)
    return text


def by_exponential(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """The tangent of the exponential function at zero.

    -----------------
    1 + x <= exp(x)
    """
    x = checker.value(read(text))
    if goal.exists or goal.sign != "<=":
        raise TermRefused(line.name, line.rule, "a line '<='", goal)
    checker.settle(line, goal, checker.gap(goal) - (checker.value(read(f"exp({text})")) - _ONE - x))
    return text


def by_logarithm(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """The logarithm is what the exponential function takes to its number.

        0 < x
    --------------
    exp(log(x)) == x
    """
    x = checker.value(read(text))
    if goal.exists or goal.sign != "==":
        raise TermRefused(line.name, line.rule, "a line '=='", goal)
    if not checker.is_positive(x):
        raise TermRefused(line.name, line.rule, "a number above zero", show_briefly(x))
    rest, fact = checker.gap(goal), checker.value(read(f"exp(log({text}))")) - x
    checker.settle(line, goal, rest + fact if (rest + fact).zero else rest - fact)
    return text


def by_power(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """Powers with one exponent.

    L <= R,   0 < L,   0 < R,   0 <= s
    ----------------------------------
               L^s <= R^s
    """
    pieces = split_pieces(text)
    if len(pieces) != 2 or goal.exists or goal.sign != "<=":
        raise TermRefused(line.name, line.rule, "'power NAME, s', and a line '<='", text)
    premise = _bound(line, checker.premise(line, goal, pieces[0], more))
    left, right, exponent = checker.value(premise.left), checker.value(premise.right), checker.value(read(pieces[1]))
    if not (checker.is_positive(left) and checker.is_positive(right)):
        raise TermRefused(line.name, line.rule, "sides that were shown to be above zero", f"{pieces[0]}: {premise}")
    if not checker.is_nonnegative(exponent):
        raise TermRefused(line.name, line.rule, "an exponent that is never negative", show_briefly(exponent))
    small, large = (value_of(read(f"({side.text()})**({exponent.text()})")) for side in (left, right))
    checker.settle(line, goal, checker.gap(goal) - (large - small))
    return text


def by_cite(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """A theorem of the literature, by its name: what rests on it is *proved, given* that name. What it is applied to are earlier lines.

    A_1, ..., A_m,   NAME (not checked here)
    ----------------------------------------
                       F
    """
    name, _, premises = text.partition(" from ")
    if not re.fullmatch(r"[A-Z][\w ,.()'-]{3,120}", name):
        raise TermRefused(line.name, line.rule, "the name of a theorem, with its source", name)
    for piece in split_pieces(premises):
        checker.premise(line, goal, piece, more)
    if name not in checker.cited:
        checker.cited.append(name)
    return text


RULES: Mapping[str, ProofRule] = {
    "derivation": by_derivation,
    "identity": by_identity,
    "combine": by_combine,
    "induction": by_induction,
    "telescope": by_telescope,
    "contraction": by_contraction,
    "mean": by_mean,
    "root": by_root,
    "least": by_least,
    "cases": by_cases,
    "larger": by_larger,
    "through": by_through,
    "values": by_values,
    "bernoulli": by_bernoulli,
    "exponential": by_exponential,
    "logarithm": by_logarithm,
    "power": by_power,
    "squeeze": by_squeeze,
    "limit": by_limit,
    "monotone": by_monotone,
    "series": by_series,
    "cite": by_cite,
}
