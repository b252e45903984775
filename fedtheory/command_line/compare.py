"""The command ``compare``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fedtheory.command_line.completing import complete_methods
from fedtheory.command_line.largest import UNITS, show_value
from fedtheory.command_line.lyapunov import write_proofs
from fedtheory.command_line.method_options import PREFIX, MethodCommand, read_values
from fedtheory.command_line.options import (
    EXIT_FAILED,
    OutputFile,
    answer_option,
    convexity_option,
    fresh_option,
    interrupt_option,
    leave_interrupted,
    open_journal,
    smoothness_option,
    write_answer,
)
from fedtheory.command_line.weights_of_every_n import (
    describe_weights_of_every_n,
    read_weights_of_every_n,
    tell_weights_of_every_n,
    weights_of_every_n_option,
)
from fedtheory.tools.terminal import make_console, make_plain_table, print_table, show_progress

if TYPE_CHECKING:
    from fedtheory.algorithms.listing import Listed
    from fedtheory.algorithms.options import Option
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.proofs.potentials.progress import ProvedProgress
    from fedtheory.tools.journal import Journal

ZETAS = (0.25, 0.5, 1.0, 2.0, 4.0)  #: of the picture of floors, in units of the zeta that is stated
#: roles of numbers that are named with a method: those that change it
NAMED = ("rho", "eta", "nu", "q", "alpha", "momentum", "server_lr")
REACH = 64  #: of searches over proximal steps and penalties, in their units
Cells = dict[str, Any]


@dataclass(frozen=True)
class ComparedMethod:
    """A method with values of all its options but the step, which is looked for.

    ``count``: its local steps, or steps a communication; ``shown``: whether the table has it, and not the picture alone.
    """

    entry: Listed
    step: Option
    settings: Cells
    count: int
    shown: bool

    @property
    def key(self) -> str:
        """Its name among the cases of one comparison."""
        return f"{self.entry.name} {self.count}"

    def unit(self, big_l: float) -> float:
        """What its step is measured in, in numbers of a class with this smoothness."""
        return big_l ** UNITS.get(self.step.role, 0)

    def build(self, step: Any) -> Any:
        """The method at a step."""
        return self.entry.build(**self.settings, **{self.step.name: step})


@click.command(cls=MethodCommand)
@click.argument("methods", shell_complete=complete_methods)
@smoothness_option
@convexity_option()
@click.option(
    "--zeta", type=float, help="Root mean square of the clients' gradients at x*; methods with a floor need it."
)
@weights_of_every_n_option
@click.option("--accuracy", type=float, default=0.01, show_default=True, help="V is to fall from 1 to this.")
@click.option(
    "--certificates", type=click.Path(path_type=Path, file_okay=False), help="Write the exact proofs to this folder."
)
@click.option(
    "--picture",
    type=OutputFile(terminal=False),
    help="Draw rates against local steps, and floors against zeta beside it.",
)
@answer_option
@fresh_option
@interrupt_option
def compare_command(methods: str, **options: Any) -> None:
    """Compare METHODS, with commas between, by what is proved of each at its best step: rate, floor, rounds and floats to an accuracy.

    The step is the one with the fewest rounds from V = 1 to the accuracy, found numerically; rate and floor at it are proved in exact
    arithmetic. V is a potential of the method, with V >= ||x - x*||^2; where x* is no fixed point it is ||x - x*||^2, and stays above the floor
    at worst. A method with a probability of communication, and without one stated, communicates once in as many steps as the others take
    locally.

    Exit status: 0 when all is proved; 1 when something of a method is not; 2 for bad arguments; 130 when interrupted (the same command goes on).
    """
    from fedtheory.algorithms import listed
    from fedtheory.core.errors import InvalidInput
    from fedtheory.proofs.function_class import FunctionClass
    from fedtheory.tools.journal import Journal
    from fedtheory.tools.pictures import require_picture_name

    if not options["mu"] > 0 or not 0 < options["accuracy"] < 1:
        raise InvalidInput(
            f"expected mu > 0 and an accuracy between 0 and 1; got {options['mu']} and {options['accuracy']}"
        )
    function_class = FunctionClass(options["big_l"], options["mu"], options["zeta"])
    if options["picture"] is not None:
        require_picture_name(options["picture"])
    cases = list(_list_cases([listed(name) for name in dict.fromkeys(methods.split(","))], options))
    methods_at_a_step = [case.build(case.unit(options["big_l"])) for case in cases]
    said = tell_weights_of_every_n(read_weights_of_every_n(options), methods_at_a_step)
    identity = [
        str(function_class),
        options["accuracy"],
        str(options["certificates"]),
        [[c.key, c.settings] for c in cases],
    ]
    journal = Journal("compare", json.loads(json.dumps(identity, default=str)))
    open_journal(journal, options["fresh"], len(cases), "methods")
    rows = _find_rows(cases, function_class, options, journal)
    journal.close()
    last = [row for row in rows if row["shown"]]
    if options["picture"] is not None:
        _draw(rows, options["zeta"], options["picture"])
    _report(last, function_class, options, said)
    sys.exit(EXIT_FAILED if any(row["error"] for row in last) else 0)


def _list_cases(entries: Sequence[Listed], options: dict[str, Any]) -> Iterator[ComparedMethod]:
    """Methods with their settings; for a picture with fewer local steps, too, the last of each method with those that are asked.

    Raises
    ------
    InvalidInput
        A method has no step that could be chosen, or refuses a setting.
    """
    asked = options.get(f"{PREFIX}local_steps")
    counts = [1 if asked is None else asked]
    context = click.get_current_context()

    def is_given(key: str) -> bool:
        return context.get_parameter_source(f"{PREFIX}{key}") is ParameterSource.COMMANDLINE

    if options["picture"] is not None:
        counts = [*(k for k in (1, 2, 4, 8, 16, 32) if k < counts[0]), *counts]
    for entry in entries:
        for count in counts:
            given = dict(read_values(entry, options))
            if "steps" in given:
                given["steps"] = count
            for option in entry.options if is_given("local_steps") else ():
                if option.role == "q" and "steps" not in given and not is_given(option.key):
                    given[option.name] = 1 / count
            step = find_step(entry, given)
            settings = {name: value for name, value in given.items() if name != step.name}
            case = ComparedMethod(entry, step, settings, count, count == counts[-1])
            case.build(
                case.unit(options["big_l"])
            )  # what is wrong with the settings is told before anything is computed
            yield case


def find_step(entry: Listed, settings: Mapping[str, Any]) -> Option:
    """The option that is the method's step: of its gradient steps, or of its proximal steps where these are exact.

    Raises
    ------
    InvalidInput
        There is none.
    """
    from fedtheory.core.errors import InvalidInput

    roles = ("eta", "rho", "nu") if settings.get("exact") else ("lr", "eta", "rho", "nu")
    by_role = {option.role: option for option in reversed(entry.options) if option.kind is float}
    for role in roles:
        if role in by_role:
            return by_role[role]
    raise InvalidInput(f"{entry.name} has no step that could be chosen; it has {', '.join(entry.uses)}")


def _find_rows(
    cases: Sequence[ComparedMethod], function_class: FunctionClass, options: dict[str, Any], journal: Journal
) -> list[Cells]:
    kept = journal.read()
    rows: list[Cells] = []
    try:
        with show_progress("comparing", len(cases), done=len(kept), lines=True) as advance:
            for case in cases:
                if case.key not in kept:
                    kept[case.key] = _find_row(case, function_class, options)
                    journal.add(case.key, kept[case.key])
                    advance(case.key)
                rows.append(kept[case.key])
    except KeyboardInterrupt:
        leave_interrupted(f"{len(rows)} of {len(cases)} cases")
    return rows


def _find_row(case: ComparedMethod, function_class: FunctionClass, options: dict[str, Any]) -> Cells:
    """One method: its best step, and what is proved there; or why nothing is."""
    from fedtheory.core.errors import FedtheoryError
    from fedtheory.proofs.potentials.progress import StepSearch

    entry, given = case.entry, case.settings
    top = None if case.step.role == "lr" else REACH * case.unit(float(function_class.L))
    search = StepSearch(case.build, function_class, options["accuracy"], top=top)
    row = {"method": entry.name, "local_steps": case.count, "shown": case.shown, "option": case.step.flag[2:]}
    try:
        found = search.prove(search.best())
    except FedtheoryError as error:
        return row | {"error": str(error)}
    folder = options["certificates"]
    if folder is not None and case.shown:
        write_proofs(found.certificates, folder / f"{entry.name}.json")
    named = [
        f"{o.name} = {given[o.name]}"
        for o in entry.options
        if o.role in NAMED and o.name in given and given[o.name] is not None
    ]
    words = f" with {', '.join(named)}" if named else ""
    return (
        row
        | {"error": "", "settings": {k: v for k, v in given.items() if v is not None}, "with": words}
        | _tell(found, options)
    )


def _tell(found: ProvedProgress, options: dict[str, Any]) -> Cells:
    rounds = found.rounds_to(options["accuracy"])
    zeta = options["zeta"] or 0.0
    return {
        "step": show_value(found.step),
        "rate": str(found.rate),
        "offset": str(found.offset),
        "floor": None if found.floor is None else str(found.floor),
        "potential": found.potential,
        "from_round": found.first,
        "up": found.up,
        "down": found.down,
        "rounds": rounds,
        "vectors": None if rounds is None else rounds * (found.up + found.down),
        "floors": [found.floor_at(zeta * size, zeta) for size in ZETAS],
    }


def _report(rows: list[Cells], function_class: FunctionClass, options: dict[str, Any], said: Cells) -> None:
    answer = {"class": str(function_class), "accuracy": options["accuracy"], **said, "methods": rows}
    if write_answer(answer, options["json_file"]):
        return
    click.echo(
        f"{function_class}, every n >= 2: E V(after) <= rate V(before) + (1 - rate) floor, proved in exact arithmetic"
    )
    view = make_plain_table("method", "step", "rate#", "floor#", "rounds#", "sent#", "received#", "vectors#")
    for row in rows:
        if row["error"]:
            continue
        floor = "-" if row["floor"] is None else f"{float(Fraction(row['floor'])):.4g}"
        shown = ("-", "-") if row["rounds"] is None else (str(row["rounds"]), f"{row['vectors']:g}")
        step = f"{row['option']} = {row['step']}"
        traffic = (f"{row['up']:g}", f"{row['down']:g}")
        view.add_row(row["method"], step, f"{float(Fraction(row['rate'])):.6g}", floor, shown[0], *traffic, shown[1])
    print_table(make_console(), view)
    click.echo(
        f"rounds: from V = 1 to V <= {options['accuracy']:g}; sent, received: vectors of d floats a client and round, in expectation; "
        "vectors: all of them together. The steps were found numerically: another may be better."
    )
    for line in describe_weights_of_every_n(answer):
        click.echo(line)
    for row in rows:
        if row["error"]:
            click.echo(f"{row['method']}: nothing is proved: {row['error']}")
        else:
            since = f", from round {row['from_round']} on" if row["from_round"] else ""
            click.echo(f"{row['method']}{row['with']}: V = {row['potential']}{since}")


def _draw(rows: list[Cells], zeta: float | None, file: Path) -> None:
    from fedtheory.tools.pictures import save_picture

    good = [row for row in rows if not row["error"]]
    names = list(dict.fromkeys(row["method"] for row in good))

    def series(pairs: dict[str, tuple[list[float], list[float]]]) -> list[Cells]:
        return [{"label": name, "x": x, "y": y} for name, (x, y) in pairs.items()]

    by_steps = {
        name: (
            [row["local_steps"] for row in good if row["method"] == name],
            [float(Fraction(row["rate"])) for row in good if row["method"] == name],
        )
        for name in names
    }
    title = "Proved rates at each method's best step"
    about = {"xlabel": "local steps, or steps a communication", "ylabel": "rate a round", "nested": True}
    save_picture({"title": title, **about, "series": series(by_steps)}, file)
    if zeta:
        sizes = [zeta * size for size in ZETAS]
        floors = {row["method"]: (sizes, row["floors"]) for row in good if row["shown"] and any(row["floors"])}
        if floors:
            scales = {"logx": True, "logy": True, "nested": True}
            title = f"Proved floors at the steps for zeta = {zeta:g}"
            save_picture(
                {"title": title, "xlabel": "zeta", "ylabel": "floor of V", **scales, "series": series(floors)},
                file.with_name(f"{file.stem}-floor{file.suffix}"),
            )
