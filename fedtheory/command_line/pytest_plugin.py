"""Claims as test items (``pytest --fedtheory mine.py``), and the conformance check as a fixture, for other people's test suites.

pytest loads this module wherever the package is installed, so that it imports nothing heavy until it is asked for something.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fedtheory.claims.words import HOLDS

if TYPE_CHECKING:
    from fedtheory.claims.context import Context
    from fedtheory.claims.faults import FaultReport
    from fedtheory.claims.references import Reference
    from fedtheory.claims.verdict import Verdict
    from fedtheory.conformance.report import Conformance

#: the name in a file of claims of the verdicts that are expected, by id, where they are not among `HOLDS`
EXPECTED = "EXPECTED"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("fedtheory", "fedtheory: claims of papers as tests")
    group.addoption(
        "--fedtheory",
        action="store_true",
        help="Collect the claims (the list CLAIMS) of Python files that are named on the command line. A claim passes when its verdict "
        f"is one of {', '.join(HOLDS)}; or when it is the one that is expected of it.",
    )
    group.addoption(
        "--fedtheory-expect",
        type=Path,
        metavar="FILE",
        help="Verdicts as 'fedtheory check --json' writes them: a claim that is in FILE passes when its verdict is the same. Without it "
        f"the file of claims may name verdicts in {EXPECTED}, a dict by id.",
    )
    group.addoption(
        "--fedtheory-faults",
        action="store_true",
        help="Collect the planted faults, too: each passes when it is caught.",
    )
    group.addoption(
        "--fedtheory-budget",
        choices=("quick", "full"),
        default="quick",
        help="How many instances and rounds the checks take [default: quick].",
    )
    group.addoption("--fedtheory-seed", type=int, default=0, metavar="N", help="Seed of the checks [default: 0].")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ClaimFile | None:
    """Collect a file that is named on the command line and has a list of claims."""
    asked = (
        parent.config.getoption("--fedtheory") and file_path.suffix == ".py" and parent.session.isinitpath(file_path)
    )
    return ClaimFile.from_parent(parent, path=file_path) if asked and _has_claims(file_path) else None


def _has_claims(path: Path) -> bool:
    """Whether a file names CLAIMS at its top level; one that cannot be read is collected, so that its error is shown."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return True
    targets = [t for node in body if isinstance(node, ast.Assign) for t in node.targets]
    targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return any(isinstance(target, ast.Name) and target.id == "CLAIMS" for target in targets)


class Unexpected(Exception):
    """A verdict that is not the expected one, or a fault that was missed; the text says all that a reader needs."""


class ClaimFile(pytest.File):
    """A file of claims."""

    def collect(self) -> Iterator[pytest.Item]:
        """Make an item of every claim, and of every planted fault where these are asked for."""
        from fedtheory.claims.references import Reference, load_claims
        from fedtheory.core.errors import FedtheoryError

        source = str(self.path.resolve())
        try:
            claims = load_claims(source)
            expected = self._read_expected(source, list(claims))
        except FedtheoryError as error:
            raise self.CollectError(str(error)) from error
        for id, claim in claims.items():
            reference = Reference(source, id)
            yield ClaimItem.from_parent(self, name=id, reference=reference, expected=expected.get(id))
            if self.config.getoption("--fedtheory-faults"):
                kept: dict[str, FaultReport] = {}  # one run of the check serves all its faults
                for fault in claim.faults:
                    yield FaultItem.from_parent(
                        self, name=f"{id}[{fault.name}]", reference=reference, fault=fault.name, kept=kept
                    )

    def _read_expected(self, source: str, ids: list[str]) -> dict[str, str]:
        """The verdicts that are expected, by id."""
        from fedtheory.claims.claim import Status
        from fedtheory.claims.report import read_json
        from fedtheory.core.errors import InvalidInput
        from fedtheory.tools.loading import load_file

        stored = self.config.getoption("--fedtheory-expect")
        if stored is not None:
            return {id: verdict["status"] for id, verdict in read_json(stored).items()}
        found = getattr(load_file(Path(source)), EXPECTED, {})
        words = Status.__args__  # type: ignore[attr-defined]
        for id, status in found.items():
            if id not in ids or status not in words:
                raise InvalidInput(
                    f"{EXPECTED} of {self.path.name} says {id!r}: {status!r}; expected one of its claims ({', '.join(ids)}) and one of "
                    f"{', '.join(words)}"
                )
        return dict(found)


class _Item(pytest.Item):
    """What claims and faults share: a suite's own filters of warnings, such as "error", say nothing about them."""

    def __init__(self, *, reference: Reference, **more: Any) -> None:
        super().__init__(**more)
        self.reference = reference

    def make_context(self) -> Context:
        """What a check may use."""
        import os

        from fedtheory.claims.context import Context

        return Context(
            budget=self.config.getoption("--fedtheory-budget"),
            seed=self.config.getoption("--fedtheory-seed"),
            data=os.environ.get("FEDTHEORY_DATA") or None,
        )

    def runtest(self) -> None:
        """Run it with Python's own filters of warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            self.judge()

    def judge(self) -> None:
        """Raise `Unexpected` where it does not pass."""
        raise NotImplementedError

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what was found instead of where this package raised it."""
        return str(excinfo.value) if isinstance(excinfo.value, Unexpected) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where a report says that the item is."""
        return self.path, None, self.name


class ClaimItem(_Item):
    """A claim: it passes when its verdict is the expected one, or says that the statement holds where none is expected."""

    def __init__(self, *, expected: str | None, **more: Any) -> None:
        super().__init__(**more)
        self.expected = expected

    def judge(self) -> None:
        """Check the claim."""
        from fedtheory.claims.checking import check_one

        verdict = check_one(self.reference, self.make_context())
        self.user_properties += [("fedtheory_status", "not run" if verdict.error else verdict.status)]
        self.user_properties += [] if verdict.margin is None else [("fedtheory_margin", f"{verdict.margin:.6g}")]
        passed = verdict.status == self.expected if self.expected is not None else verdict.status in HOLDS
        if verdict.error is not None or not passed:
            raise Unexpected(describe_verdict(verdict, self.expected))


class FaultItem(_Item):
    """A planted fault: it passes when the check rejects it."""

    def __init__(self, *, fault: str, kept: dict[str, FaultReport], **more: Any) -> None:
        super().__init__(**more)
        self.fault, self.kept = fault, kept

    def judge(self) -> None:
        """Plant it."""
        from fedtheory.claims.faults import run_faults

        if not self.kept:
            self.kept.update({report.fault: report for report in run_faults(self.reference, self.make_context())})
        report = self.kept.get(self.fault)
        if report is None:
            pytest.skip("it asks how sharp the statement is, and the part that it changes fails without it")
        if not report.caught:
            what = "was missed" if report.ran else "could not be run"
            raise Unexpected(f"{report.id}: the planted fault {report.fault!r} {what}\n  {report.detail}")


def describe_verdict(verdict: Verdict, expected: str | None) -> str:
    """Return the verdict in lines: what was expected, the statement, and what decided."""
    from fedtheory.claims.report import list_evidence

    word = f"could not be run: {verdict.error}" if verdict.error else f"is {verdict.status}"
    lines = [f"{verdict.id} {word}; expected {expected or 'that it holds (' + ', '.join(HOLDS) + ')'}"]
    lines += [f"  {verdict.statement}  [{verdict.source}]"]
    if verdict.repaired:
        lines.append(f"  instead ({verdict.repair}): {verdict.repaired}")
    return "\n".join([*lines, *(f"  {line}" for line in list_evidence(verdict))])


@pytest.fixture
def fedtheory_conform() -> Callable[..., Conformance]:
    """`fedtheory.conform` as a test: ``fedtheory_conform(adapter, method, **options)`` fails with the report where the code differs."""
    from fedtheory.conformance.compare import conform

    def check(adapter: Any, method: str, **options: Any) -> Conformance:
        __tracebackhide__ = True
        found = conform(adapter, method, **options)
        if not found.conforms:
            pytest.fail(str(found), pytrace=False)
        return found

    return check
