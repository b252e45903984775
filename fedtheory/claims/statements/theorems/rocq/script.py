"""The lines of a proof script as lemmas of Rocq, each by the lemma of its rule (`core/Rounds.v`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fedtheory.claims.statements.theorems.rocq.formulas import Formulas
from fedtheory.claims.statements.theorems.rocq.limits import (
    settle,
    write_limit,
    write_monotone,
    write_series,
    write_squeeze,
)
from fedtheory.claims.statements.theorems.rocq.real_powers import (
    write_bernoulli,
    write_exponential,
    write_logarithm,
    write_power,
)
from fedtheory.claims.statements.theorems.rocq.signs import Signs
from fedtheory.claims.statements.theorems.rocq.sums import UP_TO
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import Quotient, value_of, whole_number_of_rounds
from fedtheory.proofs.checker.formulas import Sentence, read, show_tree, split_pieces, substitute, subtrees
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.rules import (
    _PART,
    _larger_of,
    _pieces,
    _quadratic_in,
    _rows,
    _sqrt,
    apply_rule,
    induction_parts,
    name_of_between,
    read_between,
)
from fedtheory.proofs.checker.terms import Checker, factors_of
from fedtheory.proofs.rocq.expressions import identifier
from fedtheory.proofs.rocq.settings import NumberRange

_Premises = Mapping[str, Sentence]
_ONE = Quotient.number(1)


def _below(goal: Sentence) -> str:
    """What is at most the left side is on that side of the right one, too."""
    return "Rle_trans" if goal.sign == "<=" else "Rle_lt_trans"


#: what is supposed of the claim's own rounds, as a predicate of these, and the name of the hypothesis that it holds
OWN, OWN_HOLDS = "own_rounds", "own_holds"


def names_of_rounds(rounds: Iterable[str]) -> str:
    """Names of rounds, and of the facts that they are at least their first values."""
    return "".join(f" {identifier(t)} {identifier(t)}_least" for t in rounds)


@dataclass
class Script:
    """Writes lines.

    ``derive`` writes a line by a derivation or an identity: its proof, after what it defines was added to ``texts``. ``prefix``: what the names of
    lemmas and data begin with; ``known_as``: hypotheses, and claims of other theorems, by the names of their lemmas; ``shifted``: an induction
    for every value of another round was written, of which bases of powers are written in two ways. ``cases``: what is at least zero in the cases that
    are looked at.
    """

    checker: Checker
    formulas: Formulas
    derive: Callable[[ProofLine, Sentence], str]
    texts: list[str] = field(default_factory=list)
    auxiliary: Sequence[NumberRange] = ()
    count: int = 0
    prefix: str = ""
    known_as: dict[str, str] = field(default_factory=dict)
    shifted: bool = False
    cases: list[ast.expr] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Signs that lines need."""
        self.signs = Signs(self.formulas, self.define)

    @property
    def over(self) -> str:
        """What every line is said for: parameters that only lines speak of."""
        return "".join(
            f"forall {r.name} : R, {''.join(f'{text} -> ' for text in r.hypotheses())}" for r in self.auxiliary
        )

    @property
    def own_names(self) -> str:
        """Their names, and those of their ranges."""
        return "".join(f" {r.name} {r.name}_low{'' if r.high is None else f' {r.name}_high'}" for r in self.auxiliary)

    def lemma(self, name: str) -> str:
        """A line, for the parameters that it is used for."""
        return self.known_as.get(name) or line_name(self.prefix + name) + self.own_names

    def define(self, word: str, kind: str, body: str) -> str:
        """Give data a name."""
        self.count += 1
        name = f"{word}_{self.prefix}{self.count}"
        self.texts.append(f"Definition {name} : {kind} :=\n  {body}.")
        return name

    # ---- lines

    def write(self, line: ProofLine) -> None:
        """A line as a lemma."""
        self.formulas.real_powers = False
        own = any(word in self.checker.tied for word in re.findall(r"\w+", line.arguments))
        rounds, said = self.rounds(line.sentence, own=own), self.formulas.sentence(line.sentence)
        proof = self.apply(line, line.sentence, line.rule, line.arguments, {})
        least = self.checker.signature.rounds
        over = self.over + self.for_all(rounds, own=own)
        names = self.own_names + names_of_rounds(rounds)
        names += f" {OWN_HOLDS}" if own else ""
        opened = [f"intros{names}."] if names else []
        opened += [
            f"pose proof (at_least {least[t]} {identifier(t)} {least[t]} eq_refl {identifier(t)}_least) as {identifier(t)}_low."
            for t in rounds
        ]
        body = "\n  ".join([*opened, proof])
        self.texts.append(
            f"(* {line.name}: {line.sentence} *)\nLemma {line_name(self.prefix + line.name)} : {over}{said}.\nProof.\n  {body}\nQed."
        )
        self.checker.add(line, apply_rule)
        self.note_sign(line)

    def note_sign(self, line: ProofLine) -> None:
        """Know the sign that a line says of a quantity."""
        right = line.sentence.right
        plain = line.sentence.sign in ("<=", "<") and line.sentence.exists is None and not line.sentence.fixed
        plain = plain and line.name not in self.checker.tied
        if not (plain and isinstance(right, ast.Subscript) and self.checker.value(line.sentence.left).zero):
            return
        variables, behind = whole_number_of_rounds(value_of(right.slice), show_tree(right.slice))
        if len(variables) == 1 and [*variables.values()] == [1]:
            self.signs.positive.setdefault(right.value.id, []).append(  # type: ignore[attr-defined]
                (self.lemma(line.name), line.sentence.sign, behind)
            )

    @property
    def own_rounds(self) -> list[str]:
        """The rounds that are the claim's own in hypotheses."""
        return sorted(frozenset().union(*(self.checker.tied.get(name, frozenset()) for name in self.checker.given)))

    def rounds(self, sentence: Sentence, *, own: bool = False) -> list[str]:
        """The rounds that a line is said of; those of hypotheses that are the claim's ``own`` among them, where it rests on such."""
        spoken = sentence.names & self.checker.signature.rounds.keys()
        return sorted(spoken.union(self.own_rounds) if own else spoken)

    def for_all(self, rounds: Sequence[str], *, own: bool = False) -> str:
        """Quantifiers of rounds, and what is supposed of the claim's own."""
        least = self.checker.signature.rounds
        over = "".join(f"forall {identifier(t)} : nat, ({least[t]} <= {identifier(t)})%nat -> " for t in rounds)
        return over + (f"{OWN}{''.join(f' {identifier(t)}' for t in self.own_rounds)} -> " if own else "")

    def apply(self, line: ProofLine, goal: Sentence, rule: str, text: str, more: _Premises) -> str:
        """Tactics that prove a goal by a rule."""
        rules: dict[str, Callable[..., str]] = {
            "combine": self._combine,
            "induction": self._induction,
            "mean": self._mean,
            "root": self._root,
            "cases": self._cases,
            "larger": self._larger,
            "through": self._through,
            "squeeze": lambda *given: write_squeeze(self, *given[:3]),
            "values": self._values,
            "least": self._least,
            "bernoulli": lambda *given: write_bernoulli(self, *given[1:3]),
            "exponential": lambda *given: write_exponential(self, *given[1:3]),
            "logarithm": lambda *given: write_logarithm(self, *given[1:3]),
            "power": lambda *given: write_power(self, *given),
            "series": lambda *given: write_series(self, *given[:3]),
            "limit": lambda *given: write_limit(self, *given[:3]),
            "monotone": lambda *given: write_monotone(self, *given),
        }
        if rule in ("derivation", "identity"):
            return self.derive(line, goal)
        if rule not in rules:
            raise NotAvailable(f"{line.name}: the rule '{rule}' is not written for Rocq")
        return rules[rule](line, goal, text, more)

    # ---- premises and signs

    def premise(self, goal: Sentence, text: str, more: _Premises) -> str:
        """An earlier line, at the rounds that it is used at."""
        found = re.fullmatch(r"(\w+)(?:\((.*)\))?", text.strip(), re.S)
        assert found is not None  # the checker has read it
        name = found[1]
        if name in more:
            return name
        values = {}
        for piece in split_pieces(found[2] or ""):
            t, _, tree = piece.partition("=")
            values[t.strip()] = read(tree)
        own = name in self.checker.tied
        at = [self.formulas.index(values.get(t, ast.Name(t))) for t in self.rounds(self.checker.known[name], own=own)]
        return f"({self.lemma(name)}{''.join(f' {k} ltac:(lia)' for k in at)}{f' {OWN_HOLDS}' if own else ''})"

    def divisors(self, *quotients: Quotient) -> list[str]:
        """Facts that what is divided by is above or below zero."""
        return self.signs.divisors(*quotients)

    # ---- rules

    def _combine(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        body, _, times = text.partition(" times ")
        checker, equal = self.checker, goal.sign == "=="
        scale = checker.value(read(times)) if times.strip() else _ONE
        self.formulas.roots.clear()
        rows, goal = _rows(checker, line, goal, body, more)
        found = ""
        for sentence in (goal, *(row.sentence for row in rows)):  # their roots are noted
            self.formulas.sentence(sentence)
        factors = [checker.value(read(str(row.factor))) for row in rows]
        whole, parts = checker.gap(goal) * scale, "(eq_refl 0)" if equal else "nothing"
        rest = whole - sum((f * row.gap for f, row in zip(factors, rows, strict=True)), Quotient.number(0))
        last, strict_part = self.formulas.quotient(rest).text(9), ""
        # of a premise that is strict, and weighs more than zero
        wanted = goal.sign == "<" and not checker.domain.is_positive(rest)
        for row, factor, piece in reversed(list(zip(rows, factors, split_pieces(body), strict=True))):
            shown, premise = self.formulas.quotient(factor).text(9), self._premise_of_row(goal, row.name, piece, more)
            if row.sentence.exists is not None:
                t = identifier(row.sentence.exists.variable)
                found, premise = (
                    f"destruct {premise} as ({t} & {t}_range & {t}_said); exists {t}; split; [lia |].",
                    f"{t}_said",
                )
            if equal:
                parts = f"(both_zero _ _ (weigh_zero {shown} _ _ {premise}) {parts})"
            elif row.sentence.sign == "==":
                parts = f"(both _ _ (weigh_equal {shown} _ _ {premise}) {parts})"
            elif wanted and not strict_part and row.sentence.sign == "<" and checker.domain.is_positive(factor):
                above = self.signs.prove(factor, strict=True)
                strict_part = f"(Rmult_lt_0_compat _ _ {above} (Rlt_Rminus _ _ {premise}))"
            else:
                premise = f"(Rlt_le _ _ {premise})" if row.sentence.sign == "<" else premise
                parts = f"(both _ _ (weigh {shown} _ _ {self.signs.prove(factor)} {premise}) {parts})"
        if strict_part:
            parts, last = f"(both _ _ {self.signs.prove(rest)} {parts})", "_"
        met = [whole, *factors, *(row.gap for row in rows), rest, *self.divided_by(goal)]
        c, above = self.formulas.quotient(scale).text(9), self.signs.prove(scale, strict=True)
        if equal:
            step = f"refine (combine_equal {c} _ _ _ _ {parts} _); [apply Rgt_not_eq, {above} |]."
        else:
            word = "combine_less" if goal.sign == "<" else "combine"
            left = strict_part or self.signs.prove(rest, strict=goal.sign == "<")
            step = f"refine ({word} {c} _ _ _ {last} {above}\n    {parts}\n    {left} _)."
        earlier = "(Nat.pred" in f"{parts} {self.formulas.sentence(goal)}"
        facts = [*self.divisors(*met), *self.divisors_as_written(goal)]
        return "\n  ".join([*filter(None, [found]), *facts, step, self.finish(earlier=earlier)])

    def _premise_of_row(self, goal: Sentence, name: str, piece: str, more: _Premises) -> str:
        """What a row of a combination says: a square, or an earlier line."""
        if name.startswith("square("):
            inner = self.formulas.read(read(name.removeprefix("square(").removesuffix(")")))
            return f"(square_nonneg {inner.text(9)})"
        named = _PART.fullmatch(piece)
        assert named is not None
        return self.premise(goal, named[2], more)

    def divided_by(self, goal: Sentence) -> list[Quotient]:
        """What a sentence divides by where it was written, factor by factor, and its normal form may not."""
        divisors = [
            factor
            for side in goal.sides
            for node in subtrees(substitute(side, self.checker.signature.where))
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
            for factor in factors_of(node.right)
        ]
        values = [self.checker.value(factor) for factor in divisors]
        return [_ONE / q for q in values if q.constant() is None]

    def divisors_as_written(self, goal: Sentence) -> list[str]:
        """Facts that what a sentence divides by is above or below zero, where it is a product only in normal form, as 1 - (1 - a)^2 is."""
        found = dict[str, str]()
        for q in self.divided_by(goal):
            whole, sign = _ONE / q, self.checker.domain.sign(_ONE / q)
            pieces = len(q.below) + sum(power < 0 for at in q.numerator for _, power in at)
            if pieces > 1 and sign is not None and sign.strict:
                positive = whole if sign.direction > 0 else -whole
                found[whole.text()] = f"pose proof {self.signs.prove(positive, strict=True)}."
        return list(found.values())

    def finish(self, *, earlier: bool = False) -> str:
        """The last step, arithmetic; the square of a root is what it is the root of; ``earlier``: lines of the round before were used."""
        facts, insides = list[str](), dict[str, tuple[str, Quotient]]()
        while self.formulas.roots.keys() - insides.keys():
            shown = min(self.formulas.roots.keys() - insides.keys())
            name = f"root_{len(insides) + 1}"
            square, q = self.formulas.square_of_root(shown, self.signs.prove)
            insides[shown] = name, q
            facts.append(f"pose proof {square} as {name}.")
            base = self.formulas.base_of_root(shown)
            if base is not None and self.checker.domain.is_positive(base):
                facts.append(f"pose proof {self.signs._ends_of_root(base, False, False)[0]}.")
        alike = "alike; " if self.formulas.real_powers else ""
        names = [name for name, _ in insides.values()]
        for shown, (name, q) in insides.items():
            if q.below or any(power < 0 for at in q.numerator for _, power in at):
                names.remove(name)
                if not q.below and len(q.numerator) == 1:  # its square times what is below is what is above
                    facts += self._clear_root(shown, name, q)
                    names.append(f"{name}_cleared")
                    continue
                spoken = {a for other, inner in insides.values() if other != name for a in inner.atoms}
                facts += self._solve_root(shown, name, q, spoken, names)
        rules = f" [{' '.join(names)}]" if names else ""
        begun = f"{UP_TO * earlier}normal; {'cbn [Nat.pred]; ' * earlier}"
        ends = f"field{rules}; nonzero"
        if self.shifted:
            ends = f"first [{ends} | bases_alike; {ends}]"
        return "\n  ".join([*facts, f"{begun}{''.join(f'normal_of {n}; ' for n in names)}{alike}{ends}."])

    def _clear_root(self, shown: str, name: str, q: Quotient) -> list[str]:
        """``field`` takes no equation with divisors: the equation of a root, times what it divides by."""
        ((at, size),) = q.numerator.items()
        above = Quotient({tuple((atom, power) for atom, power in at if power > 0): size})
        below = above / q
        left, right = self.formulas.quotient(below).text(9), self.formulas.quotient(above).text(69)
        said = f"{left} * ({shown}) ^ 2 = {right}"
        return [
            *self.divisors(q),
            f"assert ({name}_cleared : {said}) by (rewrite {name}; field; nonzero).",
            f"clear {name}.",
        ]

    def _solve_root(
        self, shown: str, name: str, q: Quotient, spoken: Collection[str], others: Sequence[str]
    ) -> list[str]:
        """``field`` takes no equation with divisors: where a root is of such, one of its atoms is what the equation says that it is."""
        formulas = self.formulas
        for atom in sorted(q.atoms, key=lambda atom: (atom in spoken, "[" not in atom, atom)):
            split = q.linear_in(atom)
            if split is not None and self.checker.domain.is_nonzero(split[1]):
                rest, factor = split
                said = f"{formulas.atom(atom)} = (z_{name} ^ 2 - ({formulas.quotient(rest)})) / ({formulas.quotient(factor)})"
                return [
                    *self.divisors(rest, factor, _ONE / factor),
                    f"set (z_{name} := {shown}) in *; clearbody z_{name}.",
                    f"assert (is_{name} : {said}) by (rewrite {name}; field; nonzero).",
                    f"clear {name}; try rewrite is_{name}{''.join(f'; try rewrite is_{name} in {other}' for other in others)}.",
                ]
        raise NotAvailable(f"{shown} is not written for Rocq")

    def _inner(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        text = text.strip()
        inside = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        rule, _, arguments = inside.partition(" ")
        return self.apply(line, goal, rule, arguments.strip(), more)

    def _induction(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        n, other, pieces = induction_parts(text)
        first, word = self.checker.signature.rounds[n], identifier(n)
        base = self._inner(line, goal.substitute({n: ast.Constant(first)}), pieces[0].removeprefix("base "), more)
        after = goal.substitute({n: read(f"{n}+1")})
        sides = dict(zip(("ih_1", "ih_2"), _larger_of(goal), strict=False))
        which = self._which_side(goal) if sides else ()
        following = {} if other is None else {"ih_next": goal.substitute({other: read(f"{other}+1")})}
        self.shifted = self.shifted or other is not None
        step = self._inner(line, after, pieces[1].removeprefix("step "), {**more, "ih": goal, **sides, **following})
        either = [
            f"pose proof ({_below(goal)} _ _ _ ({most} _ _) ih) as {name}."
            for name, most in zip(sides, which, strict=False)
        ]
        least, aside, again, hypothesis = "", "", "", list[str]()
        if other is not None:
            m, low = identifier(other), self.checker.signature.rounds[other]
            least = f"forall {m} : nat, ({low} <= {m})%nat -> "
            aside = f"clear {m}_low; revert {m} {m}_least; "
            again = f"intros {m} {m}_least; pose proof (at_least {low} {m} {low} eq_refl {m}_least) as {m}_low. "
            hypothesis = [
                again,
                f"pose proof (ih (S {m}) ltac:(lia)) as ih_next; specialize (ih {m} {m}_least); cbv beta in ih_next.",
            ]
        said = f"fun {word} : nat => {least}{self.formulas.sentence(goal)}"
        added = "cbn [Nat.add]. " if ")%nat" in said else ""  # rounds that are sums: 0 + t is t
        return "\n  ".join(
            [
                f"{aside}clear {word}_low; revert {word} {word}_least; apply (from_round ({said}) {first}); [| intros {word} {word}_least ih].",
                f"{{ {again}{added}{base} }}",
                f"pose proof (at_least {first} {word} {first} eq_refl {word}_least) as {word}_low; cbv beta in ih |- *.",
                *hypothesis,
                *(["cbn [Nat.add] in ih |- *."] if added else []),
                *either,
                step,
            ]
        )

    def _mean(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        checker = self.checker
        premise = checker.premise(line, goal, text, more)
        gap = checker.gap(premise)
        atom, *others = (atom for atom in gap.atoms if atom.startswith("sum("))
        if others:
            raise NotAvailable(f"{line.name}: the mean of several sums is not written for Rocq")
        parts, tree = gap.linear_in(atom), read(atom)
        assert parts is not None and isinstance(tree, ast.Call) and goal.exists is not None
        rest, factor = parts[0], -parts[1]
        body, _, low, high = tree.args
        t = goal.exists.variable
        term = checker.value(substitute(body, {"_": ast.Name(t, ast.Load())}))
        count = checker.value(high) - checker.value(low) + _ONE
        left = checker.gap(goal) + term - rest / (factor * count)
        bound = rest / factor
        lines = self.divisors(rest, factor, bound, left, checker.gap(goal))
        index = self.formulas
        lines += [
            f"destruct (least_of_sum _ {index.index(low)} {index.index(high)} {index.quotient(bound).text(9)} ltac:(lia)",
            f"  (combine {index.quotient(factor).text(9)} ({index.atom(atom)}) {index.quotient(bound).text(9)} _ 0",
            f"    {self.signs.prove(factor, strict=True)}",
            f"    (weigh 1 _ _ ltac:(lra) {self.premise(goal, text, more)}) nothing ltac:(normal; field; nonzero))) as ({t} & {t}_range & {t}_low).",
            f"exists {t}; split; [exact {t}_range |].",
            f"pose proof {self.signs.prove(count, strict=True)} as count_low.",
            f"refine (combine {index.quotient(count).text(9)} _ _ _ _ count_low (weigh 1 _ _ ltac:(lra) {t}_low)",
            f"  {self.signs.prove(left * count)} _).",
            "normal; field; nonzero.",
        ]
        return "\n  ".join(lines)

    def _root(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        pieces = split_pieces(text)
        y = self.checker.value(goal.right)
        first = f"pose proof {self.premise(goal, pieces[0], more)}; lra"
        if len(pieces) == 2:
            return f"apply root_rule; [{first} | pose proof (Rle_trans _ _ _ {self.premise(goal, pieces[1], more)} ltac:(lra)); lra]."
        facts = "".join(f"{fact.rstrip('.')}; " for fact in self.divisors(y, *self.divided_by(goal)))
        right = self.formulas.read(goal.right).text(9)
        shown = f"{self.formulas.quotient(y).text(9)} ltac:(lra) nothing {self.signs.prove(y)}"
        return (
            f"apply root_rule; [{first} | refine (combine 1 0 {right} 0 {shown} ltac:({facts}normal; field; nonzero))]."
        )

    def _cases(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        head, rules = _pieces(text)
        tree, shown = read(head), []
        name = f"case{len(self.checker.facts) + 1}" if self.checker.facts else "case"
        for rule, e in zip(rules, (tree, ast.UnaryOp(ast.USub(), tree)), strict=True):
            self.signs.facts.append(name)
            self.cases.append(e)
            with self.checker.supposing(self.checker.value(e)):
                shown.append(self._inner(line, goal, rule, {**more, name: Sentence(ast.Constant(0), "<=", e)}))
            self.signs.facts.pop()
            self.cases.pop()
        return (
            f"apply (cases_rule ({self.formulas.read(tree)})); intros {name}.\n  {{ {shown[0]} }}\n  {{ {shown[1]} }}"
        )

    def _larger(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        if text.startswith("in "):
            name = text.removeprefix("in ")
            both = self.checker.premise(line, goal, name, more)
            first, _ = _larger_of(both)
            most = self._which_side(both)[str(first) != str(goal)]
            return f"exact ({_below(goal)} _ _ _ ({most} _ _) {self.premise(goal, name, more)})."
        _, rules = _pieces(text)
        shown = [self._inner(line, side, rule, more) for side, rule in zip(_larger_of(goal), rules, strict=True)]
        if self._which_side(goal)[0] == "Rmax_r":
            shown.reverse()
        return f"apply Rmax_lub{'_lt' * (goal.sign == '<')}.\n  {{ {shown[0]} }}\n  {{ {shown[1]} }}"

    def _through(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        head, rules = _pieces(text)
        between, name = read_between(goal, head), name_of_between(more)
        said, first = self.formulas.sentence(between), self._inner(line, between, rules[0], more)
        return f"assert ({name} : {said}).\n  {{ {first} }}\n  {self._inner(line, goal, rules[1], {**more, name: between})}"

    def _which_side(self, goal: Sentence) -> tuple[str, str]:
        """Of max(A, B) <= R, by which lemmas A and B are at most what is written: it may have them in the other order."""
        first, _ = _larger_of(goal)
        self.formulas.read(goal.left)  # its sides are noted
        for atom in value_of(goal.left).atoms:
            if atom in self.formulas.maxima:
                left = value_of(self.formulas.maxima[atom][0])
                return ("Rmax_l", "Rmax_r") if (left - value_of(first.left)).zero else ("Rmax_r", "Rmax_l")
        return "Rmax_l", "Rmax_r"

    def _least(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        s, _, name = text.partition(" of ")
        checker, formulas, word = self.checker, self.formulas, identifier(s.strip())
        premise = checker.premise(line, goal, name.strip(), more)
        a, b, rest = _quadratic_in(line, checker.gap(premise) * Quotient.atom(s.strip()), s.strip(), premise)
        formulas.roots.clear()
        both = _sqrt(a) * _sqrt(b) * Quotient.number(2)
        left = checker.gap(goal) - rest - both
        at, under = formulas.quotient(a).text(9), formulas.quotient(b).text(9)
        fact = self.premise(goal, name.strip(), more)
        fact = f"(Rlt_le _ _ {fact})" if premise.sign == "<" else fact
        found = (
            f"pose proof (least_rule ({formulas.quotient(-rest)}) {at} {under} {self.signs.prove(a)} {self.signs.prove(b)}\n"
            f"    (fun ({word} : R) ({word}_low : 0 < {word}) =>\n"
            f"      combine 1 ({formulas.quotient(-rest)}) ({word} * {at} + {under} / {word}) _ 0 ltac:(lra)\n"
            f"      (weigh 1 _ _ ltac:(lra) {fact}) nothing ltac:(normal; field; nonzero))) as most; rewrite ?sqrt_0 in most."
        )
        lines = self.divisors(rest, a, b, left)
        formulas.sentence(goal)
        formulas.quotient(both)
        lines += [
            found,
            settle(self, left),
            self.finish(),
        ]
        return "\n  ".join(lines)

    def _values(self, line: ProofLine, goal: Sentence, text: str, more: _Premises) -> str:
        raise NotAvailable(f"{line.name}: a line about several values of a whole number is not written for Rocq")


def line_name(name: str) -> str:
    """The name of a line's lemma."""
    return f"line_{name}"
