"""What ``worst-case --weights`` reads and says: clients with weights, beside the worst case for every n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from fedtheory.proofs.one_n.worst_case import WorstCaseForOneN

SAME_VALUE = 1e-5  #: relative difference of two programs' values that is put down to their solvers


def read_weights_of_clients(options: dict[str, Any]) -> dict[str, Any]:
    """The weights, and how many clients they are of where that is not given; equal ones are none.

    Raises
    ------
    InvalidInput
        They are no weights of these clients.
    """
    from fedtheory.core.client_weights import are_equal, check_weights, read_weights
    from fedtheory.core.errors import InvalidInput

    weights = read_weights(options["weights"])
    if click.get_current_context().get_parameter_source("clients") is ParameterSource.DEFAULT:
        options = options | {"clients": len(weights)}
    if options["clients"] is None:
        raise InvalidInput(
            "--weights are of clients one by one; what --clients any proves of a method that draws nothing holds for all weights"
        )
    check_weights(weights, options["clients"])
    return {"clients": options["clients"], "weights": None if are_equal(weights) else weights}


def tell_weights(found: WorstCaseForOneN, options: dict[str, Any]) -> dict[str, Any]:
    """The weights, and how the value compares with that for every n, which bounds it where everyone takes part and nothing is drawn.

    Raises
    ------
    EnginesDisagree
        The value for these weights exceeds that for every n.
    """
    from fedtheory.core.errors import EnginesDisagree, FedtheoryError
    from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n

    if found.weights is None:
        return {}
    told: dict[str, Any] = {"weights": [str(w) for w in options["weights"]], "participants": options["participants"]}
    if found.random or found.unbounded or found.function_class.dissimilarity is not None:
        return told
    asked: dict[str, Any] = {name: options[name] for name in ("rounds", "measure", "radius", "time_limit")}
    try:
        free = worst_case_for_every_n(found.algorithm, found.function_class, **asked)
    except FedtheoryError:  # it is an observation beside the answer
        return told
    if free.unbounded:
        return told
    if found.lower > free.value * (1 + SAME_VALUE):
        raise EnginesDisagree(
            f"the worst case for these weights, {found.lower:.9g}, exceeds that for every n, {free.value:.9g}; neither is believed"
        )
    return told | {"for_all_weights": free.value, "attained": bool(found.value >= free.value * (1 - SAME_VALUE))}


def say_for_all_weights(answer: dict[str, Any]) -> None:
    """Print what holds for all weights, and whether these attain it as far as two programs' values say."""
    if "for_all_weights" not in answer:
        return
    reach = "these weights attain" if answer["attained"] else "these weights do not attain"
    click.echo(
        f"for all weights it is at most {answer['for_all_weights']:.6g}, the worst case for every n, which {reach}"
    )
