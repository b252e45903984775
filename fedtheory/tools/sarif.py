"""Findings in SARIF 2.1.0 (OASIS 2020), the format in which code hosts take the results of static analysis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from fedtheory.tools.versions import find_versions

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"  #: what code hosts call the root of the repository


@dataclass(frozen=True)
class Rule:
    """What a tool may say: an id, what it stands for, and how it is told.

    ``kind``: whether it is a problem (``fail``), none (``pass``), or undecided (``open``); only a problem has a ``level``.
    """

    id: str
    text: str
    kind: Literal["fail", "pass", "open"] = "fail"
    level: Literal["error", "warning", "note", "none"] = "none"


@dataclass(frozen=True)
class Result:
    """A rule that came true: what is said, of what (a claim, an adapter), in which file and line."""

    rule: str
    text: str
    about: str
    file: Path
    line: int = 1


def write_sarif(
    file: Path, rules: Sequence[Rule], results: Sequence[Result], properties: Mapping[str, Any] | None = None
) -> None:
    """Write the findings of one run of the tool, and properties of it; files below the working directory are named relative to it."""
    by_id = {rule.id: (place, rule) for place, rule in enumerate(rules)}
    home = Path.cwd().resolve()
    driver = {
        "name": "fedtheory",
        "version": find_versions().get("fedtheory", "unknown"),
        "rules": [
            {"id": rule.id, "shortDescription": {"text": rule.text}, "defaultConfiguration": {"level": rule.level}}
            for rule in rules
        ],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_ROOT: {"uri": f"{home.as_uri()}/"}},
        "results": [_as_result(result, *by_id[result.rule], home) for result in results],
        **({"properties": dict(properties)} if properties else {}),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n")


def _as_result(result: Result, place: int, rule: Rule, home: Path) -> dict[str, Any]:
    path = result.file.resolve()
    inside = path.is_relative_to(home)
    artifact = (
        {"uri": quote(path.relative_to(home).as_posix()), "uriBaseId": _ROOT} if inside else {"uri": path.as_uri()}
    )
    return {
        "ruleId": rule.id,
        "ruleIndex": place,
        "kind": rule.kind,
        "level": rule.level,
        "message": {"text": result.text},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": result.line}},
                "logicalLocations": [{"fullyQualifiedName": result.about}],
            }
        ],
    }
