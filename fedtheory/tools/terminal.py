"""Progress bars and lines, the console, and tables that fit it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LATE_SECONDS = 2.0  #: what is over sooner needs no bar
TOLD_SECONDS = 30.0  #: between two lines of progress where there is no terminal
WIDE = 150  #: columns of output that goes to a file, where COLUMNS says nothing


def make_console(stderr: bool = False) -> Console:
    """Return a console as wide as COLUMNS says, else as the terminal, else `WIDE`; it shows text as it is, brackets and colons too."""
    from rich.console import Console

    told = os.environ.get("COLUMNS", "").isdigit() or sys.stdout.isatty()
    return Console(stderr=stderr, width=None if told else WIDE, markup=False, emoji=False, highlight=False)


def make_plain_table(*columns: str, title: str = "") -> Table:
    """Return a table of text without frames; a name that ends in ``#`` is a column of numbers, and one in ``...`` is cut at the edge.

    Other columns are wrapped between words; numbers and the first column never are.
    """
    from rich.table import Table

    view = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(columns):
        cut, number = name.endswith("..."), name.endswith("#")
        view.add_column(
            name.rstrip(".#"),
            justify="right" if number else "left",
            no_wrap=cut or number or place == 0,
            overflow="ellipsis" if cut else "fold",
            ratio=1 if cut else None,
        )
    view.expand = any(name.endswith("...") for name in columns)
    return view


def print_table(console: Console, view: Table) -> None:
    """Print a table; where its numbers would not fit beside each other, each row as names and values in lines of their own."""
    least = sum(map(_find_least_width, view.columns)) + 2 * (len(view.columns) - 1)
    if any(column.ratio for column in view.columns) or least <= console.width:
        console.print(view)
        return
    if view.title:
        console.print(view.title)
    for row in zip(*(column.cells for column in view.columns), strict=True):
        line = ""
        for column, value in zip(view.columns, row, strict=True):
            pair = f"{column.header} {value}"
            if line and len(line) + len(pair) + 2 > console.width:
                console.print(line.rstrip(), soft_wrap=True)
                line = "   "
            line += f"{pair}; " if str(value) else ""
        console.print(line.rstrip("; "), soft_wrap=True)


def _find_least_width(column: Any) -> int:
    """Return the columns of a terminal that a column needs: its longest text, or its longest word where it may be wrapped."""
    texts = [str(text) for text in (column.header, *column.cells)]
    return max(len(part) for text in texts for part in ([text] if column.no_wrap else text.split() or [""]))


@contextlib.contextmanager
def show_progress(
    what: str, total: int, *, done: int = 0, late: bool = False, shown: bool | None = None, lines: bool = False
) -> Iterator[Callable[..., None]]:
    """Show a progress bar on standard error; give a function to call when one more item is done, with its name if it has one.

    Parameters
    ----------
    what : what is counted
    total : how many items there are
    done : how many of them are done already
    late : wait with the bar until `LATE_SECONDS` are over
    shown : whether there is a bar; by default where standard error is a terminal
    lines : where there is no bar, say in plain lines on standard error how far it is, every `TOLD_SECONDS`
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield _count_in_lines(what, total, done) if lines else lambda name=what: None
        return
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    bar = progress.Progress(*columns, console=make_console(stderr=True))
    counted = bar.add_task(what, total=total, completed=done)
    appears = time.monotonic() + (LATE_SECONDS if late else 0.0)

    def advance(name: str = "") -> None:
        bar.update(counted, advance=1, description=f"{what}, last {name}" if name else what)
        if time.monotonic() > appears:
            bar.start()  # nothing happens when it is there

    if not late:
        bar.start()
    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


def _count_in_lines(what: str, total: int, done: int) -> Callable[..., None]:
    """Return what counts an item, and says how many are done when the last line is long ago."""
    count, told, begun = done, time.monotonic(), time.monotonic()

    def advance(name: str = "") -> None:
        nonlocal count, told
        count += 1
        now = time.monotonic()
        if now - told >= TOLD_SECONDS:
            told = now
            last = f", last {name}" if name else ""
            print(f"{what}: {count} of {total} after {now - begun:.0f} s{last}", file=sys.stderr, flush=True)

    return advance
