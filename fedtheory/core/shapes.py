"""Shapes of arrays as types: n clients, d coordinates, and in front of them the free axes of a batch of runs.

Batch axes broadcast. So does a client axis ``#n``, which is n or 1: what is common to all clients stands for each of them. A name has one size
in all arguments and the result of a call. The array may be of any library and dtype, object arrays included; where an object array would have
no axes left, its one entry may stand by itself.

Nothing is checked in use: a test does that. Where jaxtyping was imported first these are its types, which a run-time checker understands; elsewhere
they are `Any` with the shape in words, so that jaxtyping need not be installed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Shaped
else:
    from typing import Annotated as Shaped  # what jaxtyping itself tells static type checkers

# written out: from NumPy 2.5 on numpy.typing.NDArray is an alias that jaxtyping cannot read
WholeNumbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

Points: TypeAlias = Shaped[Any, "*#batch #n d"]  #: a point or dual point x_i for every client, or a common one
ClientPoints: TypeAlias = Shaped[Any, "*#batch n d"]  #: one for every client
ActivePoints: TypeAlias = Shaped[Any, "*#batch #m d"]  #: one for each of the m clients that take part, or a common one
ServerPoint: TypeAlias = Shaped[Any, "*#batch 1 d"]  #: a common point x
ClientValues: TypeAlias = Shaped[Any, "*#batch n"]  #: a number f_i(x_i) for every client
RunValues: TypeAlias = Shaped[Any, "*#batch"]  #: a number f(x) for every run of the batch
HyperParameter: TypeAlias = Shaped[Any, "*#batch 1 1"]  #: a step size or weight for every run of the batch
Minimiser: TypeAlias = Shaped[Any, "*#batch d"]  #: a minimiser x* for every run of the batch
Matrices: TypeAlias = Shaped[Any, "*#batch #n d d"]  #: a d x d matrix for every client, or a common one
SampleNumbers: TypeAlias = Shaped[WholeNumbers, "*#batch #n b"]  #: which b samples each client draws
SampleValues: TypeAlias = Shaped[Any, "*#batch #n m"]  #: a number for each of the m samples of every client
Vectors: TypeAlias = Shaped[Any, "*#axes d"]  #: vectors, whatever the axes in front of them say
Lengths: TypeAlias = Shaped[Any, "*#axes"]  #: a number for each of these vectors
LayerMatrices: TypeAlias = Shaped[Any, "*axes rows columns"]  #: matrices of one layer
SquareMatrices: TypeAlias = Shaped[Any, "*#axes d d"]  #: a matrix for each of these vectors
