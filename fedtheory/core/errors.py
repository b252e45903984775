"""The errors fedtheory raises on purpose: each says what was wrong, what was expected and what to do."""

from __future__ import annotations

import difflib
import importlib
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType


class FedtheoryError(Exception):
    """Base of every error raised on purpose."""


class InvalidInput(FedtheoryError, ValueError):
    """A value, shape or file that cannot be used."""


class NotAvailable(FedtheoryError, LookupError):
    """Something was asked of an object that it does not have; the message says what it has."""


class AssumptionNotMet(FedtheoryError, ValueError):
    """A theorem was applied outside its hypotheses, for example with a step size above its range."""


class CannotTrace(FedtheoryError, TypeError):
    """An algorithm takes decisions on values, so an engine without numbers cannot run it."""


class SolverFailed(FedtheoryError, RuntimeError):
    """No solver returned an answer that stands up to the checks on it."""


class EnginesDisagree(FedtheoryError, RuntimeError):
    """Two engines say what cannot both be true, so that neither is believed."""


class JobsStopped(FedtheoryError, RuntimeError):
    """Jobs cannot go on: a worker process was killed, or the connection to the scheduler is lost."""


class TimeLimitReached(FedtheoryError, TimeoutError):
    """Work was stopped because its time was over."""


class MissingExtra(FedtheoryError, ImportError):
    """An optional package is not installed."""


#: optional package -> the extra of this project that installs it
EXTRAS = {
    "tensorboard": "tensorboard",
    "PIL": "data",
    "cvxpy": "verify",
    "clarabel": "verify",
    "scs": "verify",
    "sympy": "verify",
    "mpmath": "verify",
    "PEPit": "verify",
    "matplotlib": "plot",
    "sklearn": "data",
    "distributed": "distributed",
    "torch": "cnn",
    "cupy": "cuda12' or 'fedtheory[cuda13]",
}


def require(module: str, purpose: str) -> ModuleType:
    """Import an optional package now, or say which extra installs it.

    Parameters
    ----------
    module : dotted name of the module, for example ``"cvxpy"``
    purpose : what it is needed for, in words that end a sentence

    Raises
    ------
    MissingExtra
        The package is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", maxsplit=1)[0]
        raise MissingExtra(
            f"{package} is needed for {purpose} and could not be imported ({error}); "
            f"install it with: pip install 'fedtheory[{EXTRAS.get(package, package)}]'"
        ) from error


def tell_known(name: str, known: Iterable[str]) -> str:
    """Return what a message says of a name that is not known: those near it, or all where none is near.

    >>> tell_known("fedprocks", ["fedavg", "fedprox"])
    'did you mean fedprox?'
    """
    all_known = list(known)
    near = difflib.get_close_matches(name.lower(), all_known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(all_known)}"


def tell_kind(value: object) -> str:
    """Return what a message says of a value that is no such thing as is expected.

    >>> tell_kind([]), tell_kind(int)
    ('a list', 'the class int')
    """
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def describe(failure: BaseException) -> str:
    """Return a failure in one line: its kind, its message and, for an error that was not raised on purpose, its place."""
    if isinstance(failure, FedtheoryError):
        return f"{type(failure).__name__}: {failure}"
    frames = [
        frame for frame in traceback.extract_tb(failure.__traceback__) if not frame.filename.startswith("<frozen")
    ]
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(failure).__name__}{where}: {failure}"
