"""Progress bars and the console."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

LATE_SECONDS = 2.0  #: what is over sooner needs no bar


def make_console(stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, or 150 columns where there is none; it shows text as it is, brackets and colons too."""
    from rich.console import Console

    return Console(stderr=stderr, width=None if sys.stdout.isatty() else 150, markup=False, emoji=False)


@contextlib.contextmanager
def show_progress(
    what: str, total: int, *, done: int = 0, late: bool = False, shown: bool | None = None
) -> Iterator[Callable[..., None]]:
    """Show a progress bar on standard error; give a function to call when one more item is done, with its name if it has one.

    Parameters
    ----------
    what : what is counted
    total : how many items there are
    done : how many of them are done already
    late : wait with the bar until `LATE_SECONDS` are over
    shown : whether there is a bar; by default where standard error is a terminal
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda name=what: None
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
