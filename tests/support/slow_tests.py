"""Write down which tests are too slow for everyday work: ``python slow_tests.py REPORT.xml``, a JUnit report of all tests."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

SLOW = Path(__file__).resolve().parents[1] / "slow.txt"
#: seconds from which a test is slow, on the two cores that run another one besides
LIMIT = 0.08


def list_slow(report: Path, known: set[str]) -> list[str]:
    """Ids of the tests that took the limit or longer, from set-up to end; those that were skipped are slow where they were ``known`` to be."""
    slow = []
    for case in ElementTree.parse(report).iter("testcase"):
        id = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"
        if id in known if case.find("skipped") is not None else float(case.attrib["time"]) >= LIMIT:
            slow.append(id)
    return sorted(slow)


if __name__ == "__main__":
    found = list_slow(Path(sys.argv[1]), {*SLOW.read_text(encoding="utf-8").splitlines()})
    SLOW.write_text("\n".join(found) + "\n", encoding="utf-8")
