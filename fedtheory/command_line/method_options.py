"""Commands whose options are those of the method that is named: ``fedtheory run feddyn quadratics --help`` shows feddyn's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fedtheory.command_line.later import LaterCommand, read_words

if TYPE_CHECKING:
    from fedtheory.algorithms.listing import Listed
    from fedtheory.algorithms.options import Option
    from fedtheory.claims.statements.unstated import OneMethod

PREFIX = "set_"  #: of the parameters that hold options of a method
OF_PROBLEM = "of_"  #: of those that hold options of a problem
FORMER = "was_"  #: of those that hold them under earlier names
_METHODS = "fedtheory.methods"  # where a context keeps the methods that are named on its command line


def make_click_option(option: Option, default: Any) -> click.Option:
    """Return a method's option as one of click's, under the name ``set_<name>``."""
    name = f"{PREFIX}{option.key}"
    if option.kind is bool:
        return click.Option([option.flag, name], is_flag=True, default=default, help=option.help)
    kind = click.Choice(option.choices) if option.choices else option.kind
    shown = default is not None and "[default" not in option.help
    return click.Option([option.flag, name], type=kind, default=default, show_default=shown, help=option.help)


class MethodCommand(LaterCommand):
    """A command with the options of the methods that its arguments name, one name or several with commas between.

    ``make_option`` turns a method's option into one of click's; the default is the option's own.
    """

    make_option: Callable[[Option], click.Option] = staticmethod(
        lambda option: make_click_option(option, option.default)
    )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the methods first, then read the options; one that belongs to other methods is refused by name."""
        from fedtheory.algorithms import ALGORITHMS
        from fedtheory.core.errors import InvalidInput

        ctx.meta[_METHODS] = methods = _named(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            asked = error.option_name
            if methods and any(asked in (o.flag, _former(o)) for entry in ALGORITHMS for o in entry.options):
                names = " and ".join(entry.name for entry in methods)
                known = ", ".join(sorted({o.flag for entry in methods for o in entry.options}))
                verb = "does" if len(methods) == 1 else "do"
                raise InvalidInput(f"{names} {verb} not use {asked}; used are {known}") from error
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters and the methods'; those of all methods, hidden, when none is named yet."""
        from fedtheory.algorithms import ALGORITHMS

        own = super().get_params(ctx)
        methods = ctx.meta.get(_METHODS, ())
        found = [type(self).make_option(option) for option in _options_of(methods or ALGORITHMS)]
        present = {name for one in [*own, *found] for name in one.opts}
        former = []
        for option in _options_of(methods):
            if option.called and _former(option) not in present:
                former.append(
                    type(self).make_option(replace(option, spelled=option.called.replace("_", "-"), default=None))
                )
                former[-1].name, former[-1].hidden = f"{FORMER}{option.key}", True
        for one in found:
            one.hidden = not methods
        return [*own, *found, *former]

    def order_of(self, options: list[click.Parameter]) -> list[click.Parameter]:
        """The methods' options first, then the problems'."""
        return sorted(options, key=lambda option: not (option.name or "").startswith(PREFIX))

    def title_of(self, ctx: click.Context, option: click.Option) -> str:
        """The methods' options and the problems' stand in sections of their own, before the command's."""
        name = option.name or ""
        if name.startswith(PREFIX):
            return f"Options of {', '.join(entry.name for entry in ctx.meta.get(_METHODS, ()))}"
        return find_problem_title(ctx) if name.startswith(OF_PROBLEM) else super().title_of(ctx, option)

    def invoke(self, ctx: click.Context) -> Any:
        """Move values given under earlier names to the present ones, and say so; then run the command."""
        for name in [name for name in ctx.params if name.startswith(FORMER)]:
            value, present = ctx.params.pop(name), PREFIX + name.removeprefix(FORMER)
            if value is not None:
                ctx.params[present] = value
                flags = {one.name: one.opts[0] for one in self.get_params(ctx)}
                click.echo(f"note: {flags[name]} is called {flags[present]} now, as in the method's paper", err=True)
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where a method's options are shown, when none is named."""
        super().format_epilog(ctx, formatter)
        if not ctx.meta.get(_METHODS):
            formatter.write_paragraph()
            formatter.write_text("Name a method to see its options, too: 'fedtheory list algorithms' names them all.")


def find_problem_title(ctx: click.Context) -> str:
    """The heading of the problems' options: the problems that the words on the command line name, or all."""
    from fedtheory.running.families import load_families

    families = load_families()
    named = [name for word in read_words(ctx) for name in word.split(",") if name in families]
    return f"Options of {', '.join(dict.fromkeys(named))}" if named else "Options of problems (name one to see its own)"


def _former(option: Option) -> str:
    return "--" + option.called.replace("_", "-") if option.called else ""


def _named(args: Sequence[str]) -> tuple[Listed, ...]:
    """The listed methods in the first argument that names any."""
    from fedtheory.algorithms import ALGORITHMS

    by_name = {entry.name: entry for entry in ALGORITHMS}
    for word in args:
        found = tuple(by_name[name] for name in word.lower().split(",") if name in by_name)
        if found:
            return found
    return ()


def _options_of(entries: Sequence[Listed]) -> Iterator[Option]:
    """The options of some methods, each spelling once."""
    seen: set[str] = set()
    for entry in entries:
        for option in entry.options:
            if option.flag not in seen:
                seen.add(option.flag)
                yield option


def read_values(entry: Listed, options: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a method's options among a command's parameters."""
    return {o.name: options[PREFIX + o.key] for o in entry.options}


def say_given(name: str, ctx: click.Context) -> OneMethod:
    """The method with those of its options that the command line gives, for words on the others."""
    from fedtheory.algorithms import listed
    from fedtheory.claims.statements.unstated import OneMethod

    def is_given(option: Option) -> bool:
        sources = [ctx.get_parameter_source(f"{prefix}{option.key}") for prefix in (PREFIX, FORMER)]
        return ParameterSource.COMMANDLINE in sources

    given = {o.name: ctx.params[PREFIX + o.key] for o in listed(name).options if is_given(o)}
    return OneMethod(name, ", ".join(f"{option} = {str(value).lower()}" for option, value in given.items()))


def build_algorithm(name: str, options: Mapping[str, Any], problem: Any = None) -> Any:
    """Build a listed method from a `MethodCommand`'s parameters; one that cannot be used on the problem is refused."""
    from fedtheory.algorithms import listed
    from fedtheory.algorithms.listing import require_convexity

    entry = listed(name)
    values = read_values(entry, options)
    if problem is not None:
        require_convexity(entry, values, problem)
    return entry.build(**values)
