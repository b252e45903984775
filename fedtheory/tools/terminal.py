"""Progress bars and the console."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


PROGRESS_AFTER = 2.0  #: seconds before a progress bar appears


def _bar(progress: bool | None, total: int, first: int) -> AbstractContextManager[Any]:
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return nullcontext(lambda done: None)
    return _LateBar(total, first)


class _LateBar:
    """A progress bar that appears once a run has taken a while."""

    def __init__(self, total: int, first: int) -> None:
        self.total, self.first = total, first
        self.begun = time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> Any:
        return self.tick

    def tick(self, done: int) -> None:
        if self.bar is None and time.monotonic() - self.begun > PROGRESS_AFTER:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("rounds"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self.bar.start()
            self.task = self.bar.add_task("rounds", total=self.total, completed=self.first)
        if self.bar is not None:
            self.bar.update(self.task, completed=done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()


def console(stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, or 150 columns where there is none."""
    from rich.console import Console

    wide = {} if sys.stdout.isatty() else {"width": 150}
    return Console(stderr=stderr, **wide)  # type: ignore[arg-type]


class Progress:
    """A progress bar on standard error, when that is a terminal."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total = what, total

    def __enter__(self) -> Callable[[str], None]:
        """Return a function to call with the name of each item that is done."""
        if not sys.stderr.isatty():
            return lambda name: None
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console(stderr=True),
            transient=True,
        )
        self.bar.start()
        task = self.bar.add_task(self.what, total=self.total)
        return lambda name: self.bar.update(task, advance=1, description=f"last: {name}")

    def __exit__(self, *failure: object) -> None:
        """Remove the bar."""
        if hasattr(self, "bar"):
            self.bar.stop()
