"""Write down which tests are too slow for everyday work: ``python slow_tests.py REPORT.xml``, a JUnit report of all tests."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

SLOW = Path(__file__).resolve().parents[1] / "slow.txt"
#: seconds from which a test is slow, on the two cores that run another one besides
LIMIT = 0.08


def list_slow(report: Path) -> list[str]:
    """Ids of the tests that took the limit or longer, from their set-up to their end."""
    cases = ElementTree.parse(report).iter("testcase")
    slow = (case.attrib for case in cases if float(case.attrib["time"]) >= LIMIT)
    return sorted(f"{case['classname'].replace('.', '/')}.py::{case['name']}" for case in slow)


if __name__ == "__main__":
    SLOW.write_text("\n".join(list_slow(Path(sys.argv[1]))) + "\n", encoding="utf-8")
