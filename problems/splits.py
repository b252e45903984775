"""How samples are split over clients: each function returns one array of sample numbers a client, in rising order.

Splits are drawn at the address (seed, purpose) of `fedtheory.core.randomness`. Without replacement no sample is on two clients; each
docstring says whether all are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput
from fedtheory.core.randomness import Key
from fedtheory.core.sample_rows import Rows
from problems.datasets import Dataset
from problems.logistic import Logistic, logistic
from problems.samples import equal_weights, fill_up, one_hot, stack_rows

Split = list[NDArray[np.int64]]
Draw = Literal["without", "refill", "with"]


def iid(labels: Any, n: int, seed: int = 0, *, per_client: int | None = None) -> Split:
    """Shuffle, then cut into n parts of (almost) equal size: all samples, or ``per_client`` for each."""
    count = _enough(labels, n, per_client)
    order = _generator(seed, "iid").permutation(count)
    return _sorted(np.array_split(order if per_client is None else order[: n * per_client], n))


def by_sorted_label(labels: Any, n: int, seed: int = 0) -> Split:
    """Sort by label (ties in random order), then cut: most clients see one label only. All samples are used."""
    return by_shards(labels, n, 1, seed, deal=False)


def by_shards(
    labels: Any, n: int, shards: int, seed: int = 0, *, deal: bool = True, per_client: int | None = None
) -> Split:
    """Sort by label, cut into n ``shards`` pieces, deal that many to each client at random (McMahan et al. 2017).

    All samples are used; with ``per_client`` n times as many, drawn at random before they are sorted. Without ``deal`` the pieces go to
    the clients in order.
    """
    count = _enough(labels, n, max(shards, per_client or 0))
    if per_client is not None and per_client < shards:
        raise InvalidInput(
            f"{per_client} samples a client cannot be in {shards} shards; ask for more samples or fewer shards"
        )
    rng = _generator(seed, "shards")
    shuffled = rng.permutation(count)[: None if per_client is None else n * per_client]
    order = shuffled[np.argsort(np.asarray(labels)[shuffled], kind="stable")]
    pieces = np.array_split(order, n * shards)
    dealt = (rng.permutation(n * shards) if deal else np.arange(n * shards)).reshape(n, shards)
    return _sorted(np.concatenate([pieces[k] for k in row]) for row in dealt)


def by_classes(labels: Any, n: int, classes: int, seed: int = 0, *, per_client: int | None = None) -> Split:
    """Each client holds ``classes`` classes, evenly and without replacement (SAFARI, Section 5 and Appendix B.1).

    One after the other, in random order, clients draw their classes among those with the fewest holders so far, so that
    no class has two holders more than another, and the first k clients are a random k of them: with as many clients as
    classes and one class each this is a permutation, the only reading of "each client randomly selects p classes" under
    which all classes are there. Every class is cut evenly over its holders; a class that nobody holds (n ``classes``
    below the number of classes) is left out, otherwise all samples are used. With ``per_client`` all clients have that
    many samples instead, as evenly over their classes as it divides. Which classes a client holds depends on n,
    ``classes``, the seed and the number of classes alone: the test labels, split with the same, go to the clients that
    hold their classes.

    Raises
    ------
    InvalidInput
        There are fewer classes than asked for, or too few samples of a class for its holders.
    """
    _enough(labels, n, per_client)
    kinds, position = np.unique(np.asarray(labels), return_inverse=True)
    if not 1 <= classes <= len(kinds):
        raise InvalidInput(f"cannot give each client {classes} classes; the data has {len(kinds)}")
    if per_client is not None and per_client < classes:
        raise InvalidInput(
            f"{per_client} samples a client cannot hold {classes} classes; ask for more samples or fewer classes"
        )
    rng = _generator(seed, "classes")
    holders: list[list[int]] = [[] for _ in kinds]
    wanted: list[list[int]] = [[] for _ in kinds]
    for client in rng.permutation(n):
        order = rng.permutation(len(kinds))
        chosen = order[np.argsort([len(holders[k]) for k in order], kind="stable")][:classes]
        sizes = np.full(classes, 0) if per_client is None else _even(per_client, classes)
        for kind, size in zip(chosen, sizes, strict=True):
            holders[kind].append(int(client))
            wanted[kind].append(int(size))
    parts: list[list[NDArray[np.int64]]] = [[] for _ in range(n)]
    for kind, clients in enumerate(holders):
        if not clients:
            continue
        members = rng.permutation(np.flatnonzero(position == kind))
        sizes = _even(len(members), len(clients)) if per_client is None else np.asarray(wanted[kind])
        if sizes.sum() > len(members) or sizes.min() == 0:
            raise InvalidInput(
                f"class {kinds[kind]} has {len(members)} samples for {len(clients)} clients, which need "
                f"{max(1, int(sizes.max()))} each; ask for fewer samples a client, fewer clients, or more classes a client"
            )
        for client, piece in zip(clients, np.split(members, np.cumsum(sizes))[:-1], strict=True):
            parts[client].append(piece)
    return _sorted(np.concatenate(pieces) for pieces in parts)


def dirichlet(labels: Any, n: int, concentration: float, seed: int = 0) -> Split:
    """Cut every class over the clients in proportions from a symmetric Dirichlet distribution on the clients.

    All samples are used; sizes differ. Small concentrations are strongly non-iid. A client that would get nothing takes
    one sample of the largest client.
    """
    count = _enough(labels, n)
    _positive(concentration)
    rng = _generator(seed, "dirichlet")
    parts: list[list[int]] = [[] for _ in range(n)]
    kinds = np.asarray(labels)
    for kind in np.unique(kinds):
        members = rng.permutation(np.arange(count)[kinds == kind])
        share = rng.dirichlet(np.full(n, concentration))
        cuts = (np.cumsum(share)[:-1] * len(members)).astype(int)
        for client, piece in enumerate(np.split(members, cuts)):
            parts[client].extend(piece.tolist())
    for part in parts:
        if not part:
            part.append(max(parts, key=len).pop())
    return _sorted(np.asarray(part, dtype=np.int64) for part in parts)


def dirichlet_labels(
    labels: Any,
    n: int,
    concentration: float,
    seed: int = 0,
    *,
    per_client: int | None = None,
    in_total: bool = False,
    draw: Draw = "without",
) -> Split:
    """Clients of equal size whose label proportions are drawn from a Dirichlet distribution on the classes.

    The distribution's parameter is ``concentration`` for every class (the public code of A-FedPD's authors), or, with
    ``in_total``, ``concentration`` times the classes' shares of the data (Hsu et al. 2019, whom FedSLR cites): with C classes of
    equal size a total of C a is the same as a for every class. Samples are then drawn by `draw_by_proportions`;
    ``per_client`` is by default as many as there are for everyone. Proportions depend on n, the parameter and the seed alone: test
    labels split with the same have the clients' own proportions (FedSLR's test sets, Appendix B.1).
    """
    count = len(labels) if per_client and draw != "without" else _enough(labels, n, per_client)
    _positive(concentration)
    shares = np.unique(np.asarray(labels), return_counts=True)[1] / count
    parameter = concentration * shares if in_total else np.full(len(shares), concentration)
    proportions = _generator(seed, "label proportions").dirichlet(parameter, size=n)
    return draw_by_proportions(labels, proportions, count // n if per_client is None else per_client, seed, draw=draw)


def draw_by_proportions(
    labels: Any, proportions: NDArray[np.float64], per_client: int, seed: int = 0, *, draw: Draw = "without"
) -> Split:
    """Draw ``per_client`` samples for each client: a class by the client's proportions, then a sample of the class.

    Proportions ``(n, classes)`` belong to the labels in rising order. Clients take one sample in turn.

    ``draw`` says what happens to a sample that was drawn:

    - ``"without"``: it is gone; proportions are renormalised over the classes that are left (Hsu et al. 2019), and a
      client none of whose classes is left draws from all that is left;
    - ``"refill"``: it is gone until its class is used up, which then starts anew (public code of A-FedPD and FedSLR);
    - ``"with"``: it stays: a sample may be on several clients, and twice on one.

    Raises
    ------
    InvalidInput
        Proportions of another shape or not proportions, or too few samples without replacement.
    """
    kinds, position = np.unique(np.asarray(labels), return_inverse=True)
    p = np.asarray(proportions, dtype=float)
    if p.ndim != 2 or p.shape[1] != len(kinds) or not np.isclose(p.sum(axis=1), 1).all() or (p < 0).any():
        raise InvalidInput(
            f"expected proportions (n, {len(kinds)}) that sum to 1 a client, got an array of shape {p.shape}"
        )
    if draw not in ("without", "refill", "with"):
        raise InvalidInput(f"draw must be 'without', 'refill' or 'with', got {draw!r}")
    n = len(p)
    if n < 1 or per_client < 1:
        raise InvalidInput(f"expected at least one client and one sample a client, got {n} and {per_client}")
    if draw == "without" and n * per_client > len(position):
        raise InvalidInput(
            f"cannot draw {per_client} samples for each of {n} clients from {len(position)} without replacement; ask for fewer "
            "samples a client, or draw 'refill' or 'with'"
        )
    rng = _generator(seed, "samples by proportions")
    members = [rng.permutation(np.flatnonzero(position == kind)) for kind in range(len(kinds))]
    sizes = np.array([len(m) for m in members])
    if draw != "without":
        edges = np.cumsum(p, axis=1)
        chosen = np.argmax(rng.random((per_client, n, 1)) < edges / edges[:, -1:], axis=-1)
        if draw == "with":
            place = (rng.random(chosen.shape) * sizes[chosen]).astype(np.int64)
        else:
            place = _turn(chosen.ravel(), len(kinds)).reshape(chosen.shape) % sizes[chosen]
        table = np.zeros((len(kinds), sizes.max()), dtype=np.int64)
        for kind, m in enumerate(members):
            table[kind, : len(m)] = m
        return _sorted(table[chosen, place].T)
    used = np.zeros(len(kinds), dtype=np.int64)
    drawn = np.empty((n, per_client), dtype=np.int64)
    for turn in range(per_client):
        for client, lot in enumerate(rng.random(n)):
            left = np.where(used < sizes, p[client], 0)
            if left.sum() <= 0:  # the client's classes are used up: any class that is left, by what is left of it
                left = (sizes - used).astype(float)
            kind = _choose(left, lot)
            drawn[client, turn] = members[kind][used[kind]]
            used[kind] += 1
    return _sorted(drawn)


def by_group(groups: NDArray[np.int64], n: int | None = None, seed: int = 0) -> Split:
    """Natural split: every group of samples (a writer, a hospital) is on one client. All samples are used.

    One client a group by default; with ``n`` the groups, in random order, go to the client with the fewest samples so far.

    Raises
    ------
    InvalidInput
        There are fewer groups than clients.
    """
    names, position = np.unique(groups, return_inverse=True)
    members = [np.flatnonzero(position == k) for k in range(len(names))]
    if n is None:
        return members
    if not 1 <= n <= len(names):
        raise InvalidInput(f"cannot put {len(names)} groups on {n} clients; every client needs at least one")
    parts: list[list[NDArray[np.int64]]] = [[] for _ in range(n)]
    sizes = np.zeros(n, dtype=np.int64)
    for k in _generator(seed, "groups").permutation(len(names)):
        client = int(np.argmin(sizes))
        parts[client].append(members[k])
        sizes[client] += len(members[k])
    return _sorted(np.concatenate(pieces) for pieces in parts)


def hold_out(dataset: Dataset, count: int, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Shuffle, and set ``count`` samples apart for testing: ``(rest, held out)``."""
    if not 1 <= count < len(dataset):
        raise InvalidInput(f"cannot hold out {count} of {len(dataset)} samples; both parts need at least one")
    order = _generator(seed, "hold out").permutation(len(dataset))
    return dataset.take(order[count:]), dataset.take(order[:count])


def set_apart(total: int, count: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the samples that clients may hold and of ``count`` others, the server's: ``(rest, server)``, each in rising order.

    The server's are drawn from all samples alike, so they are of the average population whatever the split (SAFARI, Assumption 4).

    Raises
    ------
    InvalidInput
        Nothing would be left for the clients.
    """
    if not 0 <= count < total:
        raise InvalidInput(f"the server cannot hold {count} of {total} samples; the clients need some")
    order = _generator(seed, "server").permutation(total)
    return np.sort(order[count:]), np.sort(order[:count])


def label_counts(labels: Any, split: Split) -> NDArray[np.int64]:
    """Samples of each class on each client ``(n, classes)``, classes in rising order of their labels."""
    kinds, position = np.unique(np.asarray(labels), return_inverse=True)
    return np.stack([np.bincount(position[part], minlength=len(kinds)) for part in split])


def clients_of(dataset: Dataset, split: Split) -> list[Dataset]:
    """Each client's samples as a data set.

    Raises
    ------
    InvalidInput
        A client has no samples, or a sample number that the data set has not.
    """
    for client, part in enumerate(split):
        if len(part) == 0:
            raise InvalidInput(f"client {client} has no samples; give every client at least one or leave it out")
        if part.min() < 0 or part.max() >= len(dataset):
            raise InvalidInput(
                f"client {client} has samples {part.min()} to {part.max()}; {dataset.name} has 0 to {len(dataset) - 1}"
            )
    return [dataset.take(part) for part in split]


def client_tests(clients: Sequence[Dataset], test: Dataset, size: int, seed: int = 0) -> NDArray[np.int64]:
    """Test images with each client's class shares (FedSLR, Section 6): numbers ``(n, size)``, filled up with -1.

    A client with shares q_c gets size q_c images of class c, rounded so that the sum is ``size`` (largest remainders), drawn without
    replacement; of a class of which the test set has fewer, all.
    """
    of_class = [np.flatnonzero(test.labels == c) for c in range(len(test.classes))]
    out = np.full((len(clients), size), -1)
    for i, client in enumerate(clients):
        wanted = np.bincount(client.labels, minlength=len(of_class)) * size / len(client)
        counts = np.floor(wanted).astype(int)
        counts[np.argsort(counts - wanted, kind="stable")[: size - counts.sum()]] += 1
        generator = _generator(seed, f"tests of client {i}")
        chosen = [generator.permutation(numbers)[:count] for numbers, count in zip(of_class, counts, strict=True)]
        found = np.concatenate(chosen)
        out[i, : len(found)] = found
    return out


def pad_clients(
    clients: Sequence[Dataset], *, sparse: bool | None = False
) -> tuple[Rows, NDArray[np.float64], NDArray[np.float64]]:
    """Features ``(n, m, d)``, one-hot targets ``(n, m, classes)`` and weights ``(n, m)``: 1/n_i, or 0 where a client is filled up.

    Features are an array unless ``sparse`` says otherwise, as in `problems.logistic.logistic`.

    Raises
    ------
    InvalidInput
        There is no client, one has no samples, or the labels do not count classes.
    """
    if not clients or not all(len(client) for client in clients):
        raise InvalidInput("expected at least one client, and a sample on each")
    classes = len(clients[0].classes)
    if classes < 2:
        raise InvalidInput(f"{clients[0].name} has labels without classes; expected labels 0, 1, ... of named classes")
    targets = fill_up([one_hot(client.labels, classes) for client in clients])
    return stack_rows([client.features for client in clients], sparse), targets, equal_weights(clients)


def logistic_of(clients: Sequence[Dataset], *, sparse: bool | None = None, **penalties: float) -> Logistic:
    """Logistic regression on one data set a client; ``penalties`` are l2, alpha, beta; ``sparse`` as in `problems.logistic.logistic`."""
    return logistic(
        [client.features for client in clients],
        [client.labels for client in clients],
        name=f"logistic regression on {clients[0].name}, {len(clients)} clients",
        sparse=sparse,
        **penalties,  # type: ignore[arg-type]
    )


def federate(dataset: Dataset, split: Split, *, sparse: bool | None = None, **penalties: float) -> Logistic:
    """Logistic regression on a split data set; ``penalties`` are l2, alpha, beta; ``sparse`` as in `problems.logistic.logistic`."""
    return logistic_of(clients_of(dataset, split), sparse=sparse, **penalties)


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return Key(seed, 0).generator(f"split: {purpose}")


def _sorted(parts: Any) -> Split:
    return [np.sort(part) for part in parts]


def _even(count: int, parts: int) -> NDArray[np.int64]:
    """Sizes of ``parts`` pieces of ``count`` that differ by one at most."""
    return np.diff(np.arange(parts + 1) * count // parts)


def _turn(kinds: NDArray[np.int64], many: int) -> NDArray[np.int64]:
    """How often each entry's value occurred before it."""
    turn = np.empty(len(kinds), dtype=np.int64)
    for kind in range(many):
        here = np.flatnonzero(kinds == kind)
        turn[here] = np.arange(len(here))
    return turn


def _choose(weights: NDArray[np.float64], lot: float) -> int:
    """Return the index that a uniform number on [0, 1) picks with these weights; never one of weight zero."""
    total = np.cumsum(weights)
    return int(np.searchsorted(total, lot * total[-1], side="right"))


def _enough(labels: Any, n: int, each: int | None = None) -> int:
    count, least = len(labels), 1 if each is None else each
    if least < 1:
        raise InvalidInput(f"expected at least one sample or shard a client, got {least}")
    if n < 1 or n * least > count:
        raise InvalidInput(
            f"cannot split {count} samples over {n} clients; every client needs at least {least}: ask for fewer"
        )
    return count


def _positive(concentration: float) -> None:
    if not 0 < concentration < np.inf:
        raise InvalidInput(f"the concentration must be positive and finite, got {concentration}")
