"""The counterexamples that the checks of all papers show, as they are stored in ``instances.json``: other claims are held against them (`said`).

    python -m paper_checks.collected

The checks of claims with a replay are run, as the others show none. `make expected` writes the file beside the words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fedtheory.claims import Claim, Context, Part
from fedtheory.claims.report import as_json_value

FILE = Path(__file__).with_name("instances.json")
FORMAT = 1


def collect(claim: Claim) -> Iterator[dict[str, Any]]:
    """The instances that a claim's check shows with the default seed and budget, each with its part and how that reads the statement."""
    for finding in claim.run(Context()):
        if isinstance(finding, Part) and finding.counterexample is not None:
            instance = as_json_value(finding.counterexample.instance)
            yield {"claim": claim.id, "part": finding.name, "role": finding.role, "instance": instance}


def collect_all(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """Those of all claims that can replay one."""
    return [found for claim in claims if claim.replay is not None for found in collect(claim)]


def read_instances() -> list[dict[str, Any]]:
    """The stored instances."""
    stored = json.loads(FILE.read_text())
    assert stored["format"] == FORMAT
    return stored["instances"]  # type: ignore[no-any-return]


def write_instances(instances: list[dict[str, Any]]) -> None:
    """Store instances, a line each."""
    rows = ",\n".join("  " + json.dumps(found) for found in instances)
    FILE.write_text(f'{{"format": {FORMAT}, "instances": [\n{rows}\n]}}\n')


def main() -> None:
    """Write what the checks show today."""
    from paper_checks import afedpd, dualfl, fedpd, fedslr, safari

    found = collect_all(claim for paper in (fedpd, afedpd, dualfl, safari, fedslr) for claim in paper.CLAIMS)
    write_instances(found)
    print(f"{len(found)} instances are in {FILE.name}")


if __name__ == "__main__":
    main()
