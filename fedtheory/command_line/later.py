"""Commands whose help is in groups, and options that are made when a command is asked.

What such options say stands in modules that cost time to import, or that other packages announce.
"""

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


#: options by purpose, as help shows them; what is named in none stands under "Options"
GROUPS: dict[str, tuple[str, ...]] = {
    "Experiments": ("size", "seeds", "results"),
    "What is measured": ("metric", "every"),
    "What is written": (
        *(
            "json_file",
            "csv_file",
            "html_file",
            "sarif",
            "referee",
            "counterexamples",
            "badge",
            "jsonl",
            "results",
            "checkpoint",
            "picture",
        ),
        *("show_split", "certificate", "figure"),
    ),
    "Where and how it runs": (
        "dry_run",
        "workers",
        "scheduler",
        "device",
        "library",
        "data",
        "fresh",
        "time_limit",
        "log_file",
    ),
}


class GroupedCommand(click.Command):
    """A command whose help shows options by purpose (`GROUPS`)."""

    def title_of(self, ctx: click.Context, option: click.Option) -> str:
        """The heading under which an option stands."""
        return next((title for title, names in self.groups().items() if option.name in names), "Options")

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The groups of this command: folders of results belong to experiments where there are sizes of them."""
        sized = any(option.name == "size" for option in self.params)
        return GROUPS if sized else {title: names for title, names in GROUPS.items() if title != "Experiments"}

    def order_of(self, options: list[click.Parameter]) -> list[click.Parameter]:
        """The order in which the sections that only some commands have are shown: that of their first options."""
        return options

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show options in sections: first those of methods and problems, then "Options", then the groups."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.order_of(self.get_params(ctx)):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None and isinstance(option, click.Option):
                sections.setdefault(self.title_of(ctx, option), []).append(record)
        last = ["Options", *self.groups()]
        for title in sorted(sections, key=lambda title: last.index(title) if title in last else -1):
            with formatter.section(title):
                formatter.write_dl(sections[title])


def read_words(ctx: click.Context) -> tuple[str, ...]:
    """The words after a `LaterCommand` on the command line."""
    words: tuple[str, ...] = ctx.meta.get(_WORDS, ())
    return words


class LaterCommand(GroupedCommand):
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
