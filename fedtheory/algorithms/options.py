"""Options of listed methods: numbers and words by which a method is built, with their help texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from fedtheory.core.arrays import Scalar


@dataclass(frozen=True)
class Option:
    """One number or word.

    Parameters
    ----------
    name : str
        Its keyword in `Listed.build`.
    kind : type
        float, int, bool or str.
    default : value
    help : str
        One line.
    choices : words, where it is one of some
    batched : bool
        Whether it may be an array ``(*batch, 1, 1)``, so that many values are one run.
    spelled : str
        Its name on the command line, without the dashes; the name with dashes by default.
    called : str
        What other methods call the same thing, where that is another name: the s of FedSplit is the eta of others. The command line takes
        it, too, and says which name is the paper's.
    telling : value, optional
        One that no other option of a method has, so that options in each other's place are noticed (`fedtheory.conformance`); the default if None.
    """

    name: str
    kind: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    batched: bool = False
    spelled: str = ""
    called: str = ""
    telling: Any = None

    @property
    def key(self) -> str:
        """The option among those of several methods: as it is typed, since one name may mean two things (mu of Ditto and of 5GCS)."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def role(self) -> str:
        """What it is, by the name that most methods use."""
        return self.called or self.name

    @property
    def telling_value(self) -> Any:
        """The telling value, or the default."""
        return self.default if self.telling is None else self.telling

    @property
    def flag(self) -> str:
        """The option as it is typed: ``--local-steps``."""
        return "--" + (self.spelled or self.name.replace("_", "-"))


@dataclass(frozen=True)
class BuiltField:
    """The value of a field that is built from options of its own: a local solver, a rhythm, a list of names.

    ``build`` takes the options as keywords.
    """

    options: tuple[Option, ...]
    build: Callable[..., Any]


def read_option(kind: type, name: str, **changes: Any) -> Option:
    """Return the option that a field of a dataclass is: its type from the annotation, its help from the docstring's Parameters.

    A field of type Scalar may be an array.
    """
    hint = get_type_hints(kind, include_extras=True)[name]
    parts = (hint, *get_args(hint)) if get_origin(hint) is not Literal else (hint,)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    marks = {mark for part in parts for mark in getattr(part, "__metadata__", ())}
    batched = Scalar.__metadata__[0] in marks  # type: ignore[attr-defined]
    bare = [getattr(part, "__origin__", part) for part in parts]  # without its rules
    own = next(f.default for f in fields(kind) if f.name == name)
    type_ = (
        str if words else float if batched else next((part for part in bare if part in (int, float, bool, str)), str)
    )
    given = {"default": own, "help": _described(kind).get(name, ""), "choices": tuple(words), "batched": batched}
    return Option(name, **({"kind": type_} | given | changes))


def _described(kind: type) -> dict[str, str]:
    """What the Parameters of a class's docstring say of each, on one line."""
    from docstring_parser import parse

    return {p.arg_name: " ".join((p.description or "").split()) for p in parse(kind.__doc__ or "").params}
