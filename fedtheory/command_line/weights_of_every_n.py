"""``--weights`` of the commands that prove for every number of clients: their answers, said of clients with weights, or why they are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fractions import Fraction

    from fedtheory.algorithms.base import Algorithm

weights_of_every_n_option = click.option(
    "--weights",
    metavar="P1,...,PN",
    help="Weights of the clients, with the sum 1: f is sum_i p_i f_i, averages are by them. What is proved for every n holds for them; a better "
    "rate of these weights alone is not looked for.",
)


def read_weights_of_every_n(options: Mapping[str, Any]) -> tuple[Fraction, ...] | None:
    """The weights as they are typed; None where none are given.

    Raises
    ------
    InvalidInput
        They are no weights, or clients are drawn.
    """
    from fedtheory.core.client_weights import check_weights, read_weights
    from fedtheory.core.errors import InvalidInput

    if options["weights"] is None:
        return None
    weights = read_weights(options["weights"])
    check_weights(weights, len(weights))
    if sum(weights) != 1:
        raise InvalidInput(
            f"the weights {options['weights']} have the sum {float(sum(weights)):.12g}, and proofs are exact; write them as fractions, such as 1/3"
        )
    if options.get("clients") is not None:
        raise InvalidInput(
            "--weights goes with all clients in every round: of copies of a client, some would be drawn; leave --clients and --participants "
            "out, or ask 'fedtheory worst-case --weights' for a number of rounds"
        )
    return weights


def tell_weights_of_every_n(weights: Sequence[Fraction] | None, methods: Sequence[Algorithm]) -> dict[str, Any]:
    """What answers have of the weights: nothing where there are none.

    Raises
    ------
    InvalidInput
        What is proved of one of the methods for every n says nothing of weights.
    """
    from fedtheory.proofs.every_n.weights import require_proofs_for_weights

    for method in methods if weights is not None else ():
        require_proofs_for_weights(method, weights or ())
    return {} if weights is None else {"weights": [str(w) for w in weights]}


def describe_weights_of_every_n(answer: Mapping[str, Any]) -> list[str]:
    """The answer's line on weights; none where there are none."""
    from fractions import Fraction

    from fedtheory.proofs.every_n.weights import count_equal_clients

    if "weights" not in answer:
        return []
    total, counts = count_equal_clients([Fraction(w) for w in answer["weights"]])
    return [
        f"weights {', '.join(answer['weights'])}: what is proved holds for them, as for {total} equal clients of whom "
        f"{', '.join(map(str, counts))} are alike; what is said to fail fails for equal ones, and a better rate of these alone is not looked for"
    ]
