"""The pytest plugin: claims and faults as items, the expected verdicts, the fixture, and nothing heavy where it is not used.

pytest is run as others run it, in a process of its own, with this plugin and no other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import get_args

import pytest
from claim_files import GOOD

from fedtheory.claims.claim import Status
from fedtheory.claims.verdict import AGREE, DISAGREE
from fedtheory.command_line.pytest_plugin import HOLDS

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "fedtheory.command_line.pytest_plugin"


def run(folder, *arguments, python=()):
    """What pytest says in a folder; returns its status and output."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "100"}
    command = [sys.executable, *python, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "-q", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(GOOD)
    return tmp_path


def outcomes(file):
    """Name of an item -> passed or failed, and what the claim came to."""
    found = {}
    for case in ET.parse(file).getroot().iter("testcase"):
        properties = {p.get("name"): p.get("value") for p in case.iter("property")}
        found[case.get("name")] = (case.find("failure") is None, properties.get("fedtheory_status"))
    return found


def test_words() -> None:
    others = {"refuted", "repaired", "inconclusive", "empty", *DISAGREE}
    assert set(HOLDS) == set(get_args(Status)) - others and set(AGREE) < set(HOLDS)


def test_claims_are_items_and_junit_has_their_verdicts(folder) -> None:
    status, out = run(folder, "--fedtheory", "mine.py", "--junit-xml", "found.xml")
    assert status == 1 and "2 failed, 3 passed" in out
    assert outcomes(folder / "found.xml") == {
        "TOY-RATE": (True, "supported"),
        "TOY-FALSE": (False, "refuted"),
        "TOY-REPAIRED": (False, "repaired"),
        "TOY-ORDER": (True, "reproduced"),
        "TOY-PROVED": (True, "argued"),
    }
    assert "TOY-FALSE is refuted; expected that it holds" in out
    assert "FAILS  square: As printed: x against x^2: measured 0.5, bound 0.25" in out
    assert "instead (supported): x <= 2 x^2." in out and "Traceback" not in out


def test_faults_are_items_where_they_are_asked_for(folder) -> None:
    blind = GOOD.replace('Fault("two", "identity", {"left": 2})', 'Fault("one", "identity", {"left": 1})')
    (folder / "mine.py").write_text(blind)
    status, out = run(folder, "--fedtheory", "--fedtheory-faults", "mine.py", "--junit-xml", "found.xml")
    found = outcomes(folder / "found.xml")
    assert status == 1 and len(found) == 10
    assert found["TOY-RATE[a better rate]"][0] and not found["TOY-PROVED[one]"][0]
    assert "TOY-PROVED: the planted fault 'one' was missed" in out


def test_expected_verdicts_stand_in_the_file_of_claims(folder) -> None:
    with (folder / "mine.py").open("a") as file:
        file.write('\nEXPECTED = {"TOY-FALSE": "refuted", "TOY-REPAIRED": "repaired", "TOY-RATE": "proved"}\n')
    status, out = run(folder, "--fedtheory", "mine.py")
    assert status == 1 and "1 failed, 4 passed" in out and "TOY-RATE is supported; expected proved" in out


@pytest.mark.parametrize("wrong", ['{"TOY-FLASE": "refuted"}', '{"TOY-FALSE": "wrong"}'])
def test_poor_expectations_are_refused(folder, wrong) -> None:
    with (folder / "mine.py").open("a") as file:
        file.write(f"\nEXPECTED = {wrong}\n")
    status, out = run(folder, "--fedtheory", "mine.py")
    assert status != 0 and "EXPECTED of mine.py says" in out and "expected one of its claims (TOY-RATE" in out


def test_expected_verdicts_stand_in_a_file_of_their_own(folder) -> None:
    """As `fedtheory check --json` writes it; a claim that is not in it must hold."""
    words = {"TOY-FALSE": "refuted", "TOY-REPAIRED": "repaired", "TOY-RATE": "supported", "TOY-ORDER": "reproduced"}
    verdicts = ", ".join(f'{{"id": "{id}", "status": "{word}"}}' for id, word in words.items())
    (folder / "expected.json").write_text(f'{{"verdicts": [{verdicts}]}}')
    status, out = run(folder, "--fedtheory", "--fedtheory-expect", "expected.json", "mine.py")
    assert status == 0 and "5 passed" in out
    (folder / "expected.json").write_text("[]")
    status, out = run(folder, "--fedtheory", "--fedtheory-expect", "expected.json", "mine.py")
    assert status != 0 and "is not a verdict file" in out


def test_a_claim_that_cannot_be_run_fails_whatever_is_expected(folder) -> None:
    broken = GOOD.replace(
        '    yield Reading("rounds', '    raise ZeroDivisionError("one over nothing")\n    yield Reading("rounds'
    )
    (folder / "mine.py").write_text(broken + '\nEXPECTED = {"TOY-RATE": "inconclusive"}\n')
    status, out = run(folder, "--fedtheory", "mine.py")
    assert status == 1 and "TOY-RATE could not be run: ZeroDivisionError" in out


def test_budget_and_seed_reach_the_check(folder) -> None:
    (folder / "mine.py").write_text(
        GOOD.replace("0.9**r for r in range(5)]\n", "(1.0 if ctx.seed == 7 else 0.9)**r for r in range(5)]\n", 1)
    )
    assert "3 failed" in run(folder, "--fedtheory", "--fedtheory-seed", "7", "mine.py")[1]
    assert "2 failed" in run(folder, "--fedtheory", "--fedtheory-budget", "full", "mine.py")[1]


def test_files_without_claims_are_left_to_pytest(folder) -> None:
    (folder / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    status, out = run(folder, "--fedtheory", "test_theirs.py")
    assert status == 0 and "1 passed" in out
    status, out = run(folder, "mine.py")
    assert status == 5, "without --fedtheory nothing is collected"
    (folder / "mine.py").write_text("CLAIMS = []\n")
    status, out = run(folder, "--fedtheory", "mine.py")
    assert status != 0 and "must define CLAIMS, a list of at least one" in out


def test_warnings_that_a_suite_makes_errors_are_no_verdicts(folder) -> None:
    noisy = GOOD.replace(
        "    yield decided(", '    import warnings\n    warnings.warn("a solver grumbles")\n    yield decided('
    )
    (folder / "mine.py").write_text(noisy)
    status, out = run(folder, "--fedtheory", "mine.py::TOY-PROVED", "-W", "error")
    assert status == 0 and "1 passed" in out and "a solver grumbles" in out


def test_the_fixture(folder) -> None:
    (folder / "loops.py").write_text((ROOT / "tests" / "support" / "conformance_loops.py").read_text())
    (folder / "test_theirs.py").write_text(
        textwrap.dedent("""
        from loops import FedAvgLoop


        def test_right(fedtheory_conform):
            assert fedtheory_conform(FedAvgLoop(), "fedavg", seeds=1).agreement == "double"


        def test_wrong(fedtheory_conform):
            fedtheory_conform(FedAvgLoop("sum"), "fedavg", seeds=1)
        """)
    )
    status, out = run(folder, "test_theirs.py")
    assert status == 1 and "1 failed, 1 passed" in out
    assert "it agrees with the reference with this mistake: sum instead of mean" in out and "Traceback" not in out


def test_nothing_heavy_is_imported_where_it_is_not_used(folder) -> None:
    """Of modules there are those that the suite sees; ``-X importtime`` sees also what was imported and dropped."""
    (folder / "test_theirs.py").write_text(
        "import pathlib, sys\n\n\ndef test_theirs():\n    pathlib.Path('seen').write_text(' '.join(sys.modules))\n"
    )
    status, out = run(folder, "-s", "test_theirs.py", python=("-X", "importtime"))
    timed = {line.rpartition("|")[2].strip() for line in out.splitlines() if line.startswith("import time:")}
    seen = {*(folder / "seen").read_text().split()}
    assert status == 0 and "fedtheory.claims.words" in timed and "pluggy" in timed
    ours = {name for name in timed | seen if name.startswith("fedtheory")}
    light = {"fedtheory", "fedtheory.claims", "fedtheory.claims.words", "fedtheory.command_line"}
    light |= {"fedtheory.tools", "fedtheory.tools.beside"}  # where problems and papers are
    light |= {"fedtheory.core", "fedtheory.core.offered"}  # names that load on first use
    assert ours == light | {PLUGIN}
    heavy = {"numpy", "scipy", "click", "rich", "cvxpy", "sympy", "matplotlib", "jinja2", "loky", "torch", "pandas"}
    assert not heavy & {name.partition(".")[0] for name in timed | seen}


def _install(site: Path, listed: str) -> None:
    """What an installer leaves: the package, its metadata, its entry point and the list of its files."""
    information = site / "fedtheory-9.dist-info"
    information.mkdir(parents=True)
    (site / "fedtheory").symlink_to(ROOT / "fedtheory")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: fedtheory\nVersion: 9\n")
    (information / "entry_points.txt").write_text(f"[pytest11]\nfedtheory = {PLUGIN}\n")
    (information / "RECORD").write_text(f"{listed},,\nfedtheory-9.dist-info/METADATA,,\n")


@pytest.mark.parametrize("listed", ["fedtheory/__init__.py", "fedtheory.pth"], ids=["as files", "as a link"])
def test_pytest_finds_the_plugin_by_itself_where_the_package_is_installed(folder, listed) -> None:
    """Installed with its files listed, and as an editable package: by the entry point of pyproject.toml, without ``-p``, warnings being errors."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert points == {"fedtheory": PLUGIN}
    _install(folder / "site", listed)
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
    others = [f"no:{name}" for name in ("cacheprovider", "xdist", "hypothesispytest", "jaxtyping", "anyio")]
    silent = [word for name in others for word in ("-p", name)]
    done = subprocess.run(
        [
            sys.executable,
            *["-m", "pytest", "-q", "-W", "error", "--trace-config", "--fedtheory", "mine.py::TOY-PROVED"],
            *silent,
        ],
        cwd=folder,
        env=environment | {"PYTHONPATH": f"{folder / 'site'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert f"PLUGIN registered: <module '{PLUGIN}' from '{folder / 'site'}" in done.stdout
