"""SARIF: the rules of version 2.1.0 that its readers rely on, of verdicts and of conformance; and the workflow that uploads it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args
from urllib.parse import unquote

import click
import pytest
from claim_files import GOOD, TROUBLED
from click.testing import CliRunner

from fedtheory.claims.claim import Status
from fedtheory.claims.code_scanning import find_line
from fedtheory.command_line.main import main

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "examples" / "ci" / "fedtheory.yml"


def check_rules(document):
    """What the standard demands of the parts that are written (sections 3.13, 3.14, 3.19, 3.27, 3.28, 3.29, 3.30, 3.49)."""
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-schema-2.1.0.json")
    assert set(document) == {"$schema", "version", "runs"} and len(document["runs"]) == 1
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "fedtheory" and isinstance(driver["version"], str)
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for rule in driver["rules"]:
        assert re.fullmatch(r"[a-z-]+", rule["id"]) and rule["shortDescription"]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in {"none", "note", "warning", "error"}
    for uri in run["originalUriBaseIds"].values():
        assert uri["uri"].startswith("file:///") and uri["uri"].endswith("/")
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"] and result["message"]["text"].strip()
        assert result["kind"] in {"pass", "open", "fail"} and result["level"] in {"none", "note", "warning", "error"}
        assert (result["kind"] == "fail") == (result["level"] != "none"), (
            "3.27.10: a level only where there is a problem"
        )
        (location,) = result["locations"]
        place = location["physicalLocation"]
        artifact = place["artifactLocation"]
        assert re.fullmatch(r"[A-Za-z0-9_.~/%:-]+", artifact["uri"]), "3.4.3: a URI, so that the rest is in percents"
        if "uriBaseId" in artifact:
            assert artifact["uriBaseId"] in run["originalUriBaseIds"] and not artifact["uri"].startswith("/")
        else:
            assert artifact["uri"].startswith("file:///")
        assert place["region"]["startLine"] >= 1
        assert location["logicalLocations"][0]["fullyQualifiedName"]
    return run["results"]


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, code):
        result = CliRunner().invoke(main, [*arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def test_verdicts(call) -> None:
    folder = Path("a b")
    folder.mkdir()
    (folder / "mine.py").write_text(GOOD)
    call("check", "a b/mine.py", "--workers", "1", "--sarif", "out/found.sarif", code=0)
    results = check_rules(json.loads(Path("out/found.sarif").read_text()))
    said = {r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]: (r["ruleId"], r["level"]) for r in results}
    assert said == {
        "TOY-RATE": ("supported", "none"),
        "TOY-FALSE": ("refuted", "error"),
        "TOY-REPAIRED": ("repaired", "error"),
        "TOY-ORDER": ("reproduced", "none"),
        "TOY-PROVED": ("argued", "none"),
    }
    lines = GOOD.splitlines()
    for result in results:
        place = result["locations"][0]["physicalLocation"]
        name = result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
        assert unquote(place["artifactLocation"]["uri"]) == "a b/mine.py"
        assert f'claim("{name}"' in lines[place["region"]["startLine"] - 1]


def test_checks_that_fail_are_results_too(call) -> None:
    Path("troubled.py").write_text(TROUBLED)
    result = CliRunner().invoke(main, ["check", "troubled.py", "--workers", "1", "--sarif", "found.sarif"])
    assert result.exit_code == 1
    results = check_rules(json.loads(Path("found.sarif").read_text()))
    assert any(r["ruleId"] == "not-run" and r["level"] == "warning" for r in results)


def test_every_word_of_a_verdict_has_its_rule() -> None:
    from fedtheory.claims import code_scanning

    rules = {rule.id for rule in code_scanning._RULES}
    assert rules == {word.replace(" ", "-") for word in get_args(Status)} | {"not-run"}


def test_claims_of_a_package_are_found_in_its_files() -> None:
    file, line = find_line("paper_checks.fedpd", "FEDPD-T3")
    assert file.is_relative_to(ROOT) and '"FEDPD-T3"' in file.read_text().splitlines()[line - 1]
    file, line = find_line("paper_checks.fedpd", "NO-SUCH-CLAIM")
    assert file.name == "__init__.py" and line == 1


@pytest.mark.parametrize(("adapter", "rule", "code"), [("Pfllib160", "differs", 1), ("Scaffold", "conforms", 0)])
def test_conformance(call, adapter, rule, code) -> None:
    file = ROOT / "examples" / "conformance" / "historic_bugs.py"
    options = ["--method", "scaffold", "--server-lr", "1", "--lr-decay", "1", "--seeds", "1", "--sarif", "found.sarif"]
    call("conform", f"{file}:{adapter}", *options, code=code)
    (result,) = check_rules(json.loads(Path("found.sarif").read_text()))
    assert result["ruleId"] == rule and ("no 1/K" in result["message"]["text"]) == bool(code)
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert file.read_text().splitlines()[line - 1].startswith(f"class {adapter}(")


# ---- the workflow ---------------------------------------------------------------------------------------------------


def require_known(line: str) -> None:
    """A line of the workflow runs a command with options that there are, or installs."""
    words = line.split()
    options = [word for word in words if word.startswith("--")]
    if words[0] == "fedtheory":
        command = main.commands[words[1]]
        known = {name for p in command.get_params(click.Context(command)) for name in p.opts}
        assert set(options) <= known, line
    elif words[0] == "pytest":
        text = (ROOT / "fedtheory" / "command_line" / "pytest_plugin.py").read_text()
        assert all(f'"{option}"' in text for option in options if option.startswith("--fedtheory")), line
    else:
        assert words[:2] == ["pip", "install"]


def test_the_workflow_runs_commands_and_options_that_there_are() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert set(workflow[True]) == {"push", "pull_request"}, "YAML reads the key 'on' as true"
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}
    (job,) = workflow["jobs"].values()
    steps = job["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    assert all(re.fullmatch(r"[\w-]+(/[\w-]+)+@v\d+", step["uses"]) for step in steps if "uses" in step)
    lines = [step["run"] for step in steps if "run" in step]
    for line in lines:
        require_known(line)
    written = {word for line in lines for word in line.split() if word.endswith((".sarif", ".xml", ".html"))}
    uploaded = {step["with"]["sarif_file"] for step in steps if "sarif_file" in step.get("with", {})}
    uploaded |= {name for step in steps for name in str(step.get("with", {}).get("path", "")).split()}
    assert uploaded == written, "what is uploaded is what is written"
