"""Options that are made when a command is asked: what they say stands in modules that cost time to import, or that other packages announce."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

#: from the words on the command line to options
Maker = Callable[[Sequence[str]], list[click.Option]]

_WORDS, _MADE = "fedtheory.words", "fedtheory.options"


def add_later(make: Maker) -> Callable[[Any], Any]:
    """Add the options that ``make`` returns when the command, a `LaterCommand`, is asked."""

    def add(function: Any) -> Any:
        function.later = (make, *getattr(function, "later", ()))
        return function

    return add


class LaterCommand(click.Command):
    """A command with options added by `add_later`; they stand below its other ones."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words for those who make options."""
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters; ``--help`` stays the last."""
        if _MADE not in ctx.meta:
            makers: tuple[Maker, ...] = getattr(self.callback, "later", ())
            ctx.meta[_MADE] = [option for make in makers for option in make(ctx.meta.get(_WORDS, ()))]
        *own, last = super().get_params(ctx)
        return [*own, *ctx.meta[_MADE], last]
