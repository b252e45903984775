"""Sums as an author wrote them, and what they are in normal form: for Rocq both are the same, by induction on their last round."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from fedtheory.claims.statements.theorems.rocq.formulas import Formulas
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import Quotient, value_of, whole_number_of_rounds
from fedtheory.proofs.checker.formulas import show_tree
from fedtheory.proofs.rocq.expressions import identifier

#: powers whose exponents are sums and multiples of rounds as products of powers
SPREAD = """repeat match goal with
    | |- context [?x ^ (?a + ?b)] => rewrite (pow_add x a b)
    | |- context [?x ^ (?k * ?n)] => is_ground k; rewrite (PeanoNat.Nat.mul_comm k n), (pow_mult x n k)
    | |- context [?x ^ (?n * ?k)] => is_ground k; rewrite (pow_mult x n k) end"""

#: sums up to the round before one as those up to it
UP_TO = """repeat match goal with |- context [sum_of ?F ?a (Nat.pred ?n)] =>
    replace (sum_of F a (Nat.pred n)) with (sum_of F a n - F n) by (destruct n; [lia | cbn [Nat.pred]; rewrite sum_next by lia; ring]) end;
  cbv beta; """


def is_empty_at_first(low: ast.expr, high: ast.expr, rounds: Mapping[str, int]) -> bool:
    """Whether a sum's last round lies before the run's first one where it has no term: Rocq's natural numbers have no such round."""
    variables, constant = whole_number_of_rounds(value_of(high), show_tree(high))
    least = sum(rounds.get(word, 0) for word in variables) + constant
    if least < -1:
        raise NotAvailable(f"a sum up to the round {show_tree(high)} is not written for Rocq")
    return least < 0


def same_sum(author: Formulas, formulas: Formulas, tree: ast.Call, value: Quotient) -> str:
    """Tactics that put the normal form of a sum in its place; none where both are written alike."""
    shown, (_, variable, low, high) = author.read(tree).text(9), tree.args
    product = formulas.quotient(value).text(9)
    if re.sub(rf"\b{identifier(show_tree(variable))}\b", formulas.bound, shown) == product:
        return ""
    within = [atom for atom in value.atoms if atom.startswith("sum(")]
    split = value.linear_in(within[0]) if len(within) == 1 else None
    if split is not None and split[0].zero:
        own = formulas.atom(within[0]).text(9)
        first, last = author.index(low), author.index(high)
        product = f"{formulas.quotient(split[1]).text(9)} * {own}"
        by = (
            f"unfold sum_of; generalize (S {last} - {first})%nat; intros terms; induction terms as [|terms IH]; cbn [total]; "
            f"[ring | rewrite IH; {SPREAD}; field; nonzero]"
        )
    else:
        by = _by_its_last_round(formulas.checker.signature.rounds, high, f"{shown} = {product}")
    return f"assert (same : {shown} = {product}) by ({by}). rewrite same; clear same."


def _by_its_last_round(rounds: Mapping[str, int], high: ast.expr, said: str) -> str:
    """Both sides grow by the same term."""
    variables, constant = whole_number_of_rounds(value_of(high), show_tree(high))
    if len(variables) != 1 or constant < -1:
        raise NotAvailable(f"a sum up to the round {show_tree(high)} in its author's form is not written for Rocq")
    (word,) = variables
    t, least = identifier(word), rounds[word]
    before = f"destruct {t} as [|{t}]; [lia |]; " if constant < 0 else ""
    at, least = (f"(S {t})", least - 1) if constant < 0 else (t, least)
    step = "intros later later_least IH; refine (same_gap_equal _ _ _ _ IH _)"
    end = f"cbn [Nat.pred]; normal; {SPREAD}; field; nonzero"
    return (
        f"{before}refine (from_round (fun {t} : nat => (fun {t} : nat => {said}) {at}) {least} _ _ {t} ltac:(lia)); "
        f"[| {step}]; cbv beta; {end}"
    )
