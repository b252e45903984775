"""Runs that are kept in the repository can be read in the place of the runs that claims ask for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from planted import judge

from fedtheory.claims.context import Context, Size
from fedtheory.claims.experiments import Training
from fedtheory.claims.identity import FILE, KEPT, SHARED, EditedRun, Identity, RefusedRun, hash_run
from fedtheory.claims.logs import read_log
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.core.errors import InvalidInput
from fedtheory.running.families import read_options
from paper_checks.dualfl.comparisons import MethodRuns
from paper_checks.dualfl.runs import DUALFL, MNIST
from paper_checks.fedpd.character_runs import half
from paper_checks.kept import FOLDER, asked_for, flaws, kept, make_sample, stale, stamp, training_of
from problems.datasets import data_folder

SIZES = get_args(Size)
#: as a claim asks for it, with a seed of its own
RUN = replace(half(Context(), "FedPD").trainings[0], seed=77)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("results")
    RUN.make(Context(results=str(root / "laptop")))
    return root


@pytest.fixture
def root(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "results"))


@pytest.mark.parametrize("size", SIZES)
def test_what_is_kept_can_be_read(size) -> None:
    assert {folder.name: found for folder in kept(size) if (found := flaws(folder))} == {}


@pytest.mark.parametrize("size", SIZES)
def test_what_is_kept_is_asked_for(size) -> None:
    if found := stale(size):
        pytest.skip(f"stale, no claim asks for them: {', '.join(folder.name for folder in found)}")


#: how a page tells words at small size, and of how many claims
TOLD = {
    "a-fedpd": (r"^\| (AFEDPD-[\w-]+) \| ((?:dis)?agrees) in an analogue \|", 6),
    "fedpd": (r"^\| (FEDPD-EX\d+) \| [^|]+ \| ((?:dis)?agrees) in an analogue[^|]+at small size, too", 6),
    "fedslr": (r"^\| (FEDSLR-Q\d+) \| ((?:dis)?agrees) in an analogue \|", 2),
    "safari": (r"^\| (E\d+(?:-STEP|-CIFAR)?), [^|]+ \| ((?:dis)?agrees) \|", 12),
}
MISSING = {"SAFARI-E1-CIFAR", "SAFARI-E11", "SAFARI-E11-CIFAR"}  # what they read besides is in the data


@pytest.mark.parametrize("page", TOLD)
def test_words_at_small_size_are_those_of_the_kept_runs(page, tmp_path, monkeypatch) -> None:
    """No run is made, and neither data nor PyTorch is needed; what a page does not tell is inconclusive."""
    row, count = TOLD[page]
    text = (FOLDER.parents[1] / "docs" / f"{page}.md").read_text().partition("## MNIST at the paper's size")[0]
    told = {id if page != "safari" else f"SAFARI-{id}": word for id, word in re.findall(row, text, re.MULTILINE)}
    assert len(told) == count
    monkeypatch.setattr("fedtheory.claims.experiments.run", None)
    context = Context(size="small", results=str(tmp_path), kept=(str(FOLDER / "small"),))
    claims = load_claims(source := find_papers()[page])
    for id in sorted({id for id, claim in claims.items() if claim.needs is not None} - MISSING):
        word = f"{told[id]} in an analogue" if id in told else "inconclusive"
        found = judge(source, id, context)
        assert found.status == word, id
        assert found.error is None or (id not in told and found.error.startswith("NotAvailable")), found.error


@pytest.mark.data
@pytest.mark.parametrize(("id", "word"), [("E1-CIFAR", "disagrees"), ("E11", "agrees"), ("E11-CIFAR", "agrees")])
def test_words_that_need_the_data_are_those_of_the_page(id, word, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.claims.experiments.run", None)
    folder = str(data_folder())
    context = Context(size="small", results=str(tmp_path), data=folder, kept=(str(FOLDER / "small"),))
    found = judge(find_papers()["safari"], f"SAFARI-{id}", context)
    assert (found.status, found.error) == (f"{word} in an analogue", None)
    text = (FOLDER.parents[1] / "docs" / "safari.md").read_text().partition("## MNIST at the paper's size")[0]
    assert f"| {word} |" in next(line for line in text.splitlines() if line.startswith(f"| {id},"))


def test_a_run_of_each_method_at_laptop_size_comes_out_as_it_is_kept(tmp_path) -> None:
    """To rounding, for another processor ends in other digits.

    Where a loss rises above its start, as FedADMM's does to 367 times of it, rounds make rounding larger: such a run ended 2e-5 away on another
    processor, and all others within 2e-9. So of such a run the first records alone are compared as closely as all of the others.
    """
    methods = {training_of(folder).method for folder in kept("laptop")}
    names = [*make_sample("laptop", Context(), tmp_path, sample=len(methods))]
    assert {training_of(tmp_path / name).method for name in names} == methods and len(names) == len(methods) > 25
    for name in names:
        new, old = (
            read_log(root / name, training_of(tmp_path / name).rounds) for root in (tmp_path, FOLDER / "laptop")
        )
        assert new is not None and old is not None and {*new.columns} == {*old.columns}
        rises = "value" in old.columns and max(old.columns["value"]) > old.columns["value"][0]
        for column, values in old.columns.items():
            for records, rtol in ((slice(5), 1e-6), (slice(5, None), 1e-3 if rises else 1e-6)):
                np.testing.assert_allclose(new[column][records], values[records], rtol, err_msg=f"{column} of {name}")


def test_nothing_else_is_kept() -> None:
    assert {path.name for path in FOLDER.iterdir()} <= {"README.md", *SIZES}


@pytest.mark.parametrize("size", SIZES)
def test_claims_ask_for_runs_at_every_size(size) -> None:
    assert len(asked_for(size)) >= 10


@pytest.mark.parametrize("size", SIZES)
def test_every_run_that_claims_ask_for_can_be_begun(size) -> None:
    """Its method takes its settings, its problem its options, and as many clients are there as take part."""
    for text in asked_for(size):
        training = Training.of(json.loads(text))
        training.build()
        _, options = read_options(training.problem, {"seed": 0, **training.options, "data": None})
        assert options.clients >= (training.available or training.participants or 1), training.key


def test_a_run_is_done_by_three_files(root) -> None:
    context = Context(results=str(root / "laptop"))
    [folder] = kept("laptop", root)
    assert {path.name for path in folder.iterdir()} == {*KEPT, FILE}, "no checkpoint of a run that has ended"
    assert RUN.is_done(context) and flaws(folder) == [] and stale("laptop", root) == []
    assert (RUN.read(context)["value"] == RUN.read(Context())["value"]).all()
    assert kept("small", root) == [] and stale("small", root) == []


def test_a_run_that_no_claim_asks_for_is_stale(root) -> None:
    other: Training = replace(RUN, rounds=2)
    other.make(Context(results=str(root / "laptop")))
    assert [folder.name for folder in stale("laptop", root)] == [other.key]
    shutil.copytree(root / "laptop", root / "paper")
    assert {folder.name for folder in stale("paper", root)} == {RUN.key, other.key}, "each size has its own runs"


def test_work_that_consists_of_runs_names_them_without_making_any(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.claims.experiments.run", None)
    context, work = Context(size="paper", results=str(tmp_path)), MethodRuns(MNIST, DUALFL)
    named = work.trainings(context)
    assert len(named) > 100 and not any(tmp_path.iterdir())
    asked = {text for text in asked_for("paper") if '"method": "dualfl"' in text}
    assert len(asked) >= len({*map(str, (replace(t, seed=0) for t in named))}) - 1


def test_one_file_says_what_made_all_runs(root) -> None:
    context, said = Context(results=str(root / "laptop")), []
    [folder] = kept("laptop", root)
    before = Identity.read(folder)
    stamp("laptop", Context(), root=root, tell=said.append)
    assert {path.name for path in folder.iterdir()} == {*KEPT} and (root / "laptop" / SHARED).exists()
    assert Identity.read(folder) == before and RUN.is_done(context) and flaws(folder) == []
    assert said == [f"{RUN.key}: made again, byte by byte as it is kept", "1 runs of laptop size are stamped"]


def test_nothing_is_stamped_where_a_run_comes_out_otherwise(root) -> None:
    [folder] = kept("laptop", root)
    (folder / FILE).unlink()
    table = folder / "metrics.csv"
    table.write_text(table.read_text().replace("0.", "0.0", 1))
    with pytest.raises(
        InvalidInput,
        match="came out otherwise when it was made again; nothing was stamped",
    ):
        stamp("laptop", Context(), root=root)
    assert not (root / "laptop" / SHARED).exists()
    with pytest.raises(RefusedRun, match="does not say what made it"):
        RUN.read(Context(results=str(root / "laptop")))


def test_where_digits_are_others_the_sample_of_the_code_that_is_stamped_decides(root, tmp_path) -> None:
    [folder] = kept("laptop", root)
    (folder / FILE).unlink()
    table = folder / "metrics.csv"
    table.write_text(table.read_text().replace("0.", "0.0", 1))  # as of another processor
    with pytest.raises(InvalidInput, match=r"is not there; the sample that .* makes is expected"):
        stamp("laptop", Context(), root=root, like=tmp_path)
    assert [*make_sample("laptop", Context(), tmp_path, root=root)] == [RUN.key]
    said: list[str] = []
    stamp("laptop", Context(), root=root, tell=said.append, like=tmp_path)
    assert said[0] == f"{RUN.key}: made again, byte by byte as it is in {tmp_path}" and flaws(folder) == []
    made = tmp_path / RUN.key / "metrics.csv"
    made.write_text(made.read_text().replace("0.", "0.0", 1))
    with pytest.raises(InvalidInput, match="came out otherwise"):
        stamp("laptop", Context(), root=root, like=tmp_path)


def test_an_edited_run_is_not_stamped(root) -> None:
    [folder] = kept("laptop", root)
    stamp("laptop", Context(), root=root, tell=lambda line: None)
    before = (root / "laptop" / SHARED).read_bytes()
    table = folder / "metrics.csv"
    table.write_bytes(table.read_bytes().replace(b"0.", b"0.0", 1))
    assert any(flaw.startswith(f"metrics.csv of {RUN.key} was changed after it was made") for flaw in flaws(folder))
    with pytest.raises(EditedRun, match=f"metrics.csv of {RUN.key} was changed after it was made"):
        stamp("laptop", Context(), sample=0, root=root)
    assert (root / "laptop" / SHARED).read_bytes() == before


def test_runs_from_before_there_were_digests_are_stamped_with_theirs(root) -> None:
    [folder] = kept("laptop", root)
    made_with = json.loads((folder / FILE).read_text())
    del made_with["files"]
    (folder / FILE).write_text(json.dumps(made_with))
    assert any("it has no digests of the run's files" in flaw for flaw in flaws(folder)), (
        "they may have been taken away"
    )
    (folder / FILE).unlink()
    first = {"format": 1, "identities": [{"made_with": made_with, "runs": [RUN.key]}]}
    (root / "laptop" / SHARED).write_text(json.dumps(first))
    assert flaws(folder) == []
    stamp("laptop", Context(), sample=0, root=root, tell=lambda line: None)
    assert Identity.read(folder).files == hash_run(folder) and {*hash_run(folder)} == {*KEPT}


def test_nothing_is_stamped_without_its_data(monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    with pytest.raises(InvalidInput, match=r"the data of fedavg-mnist-softmax-\S+ are not here; give the data folder"):
        stamp("paper", Context())


def _edit(path: Path, **changes) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "metrics.csv").unlink(), "metrics.csv is missing"),
        (lambda f: (f / "checkpoint.npz").touch(), "checkpoint.npz does not belong there"),
        (lambda f: (f / "summary.json").write_text("{"), "it cannot be read"),
        (lambda f: _edit(f / "configuration.json", rounds=9), "its configuration belongs to fedpd-digits-mlp-seed77-"),
        (lambda f: _edit(f / "configuration.json", settings=[1]), "it cannot be read"),
        (lambda f: (f / "configuration.json").write_text("[]"), "it cannot be read: this is no configuration of a run"),
        (lambda f: (f / "summary.json").write_text("[]"), "it cannot be read"),
        (lambda f: _edit(f / "configuration.json", settings={"no": 1}), "it cannot be read: fedpd does not use no"),
        (lambda f: _edit(f / "configuration.json", method="fedfoo"), "it cannot be read: unknown algorithm 'fedfoo'"),
        (lambda f: _edit(f / "configuration.json", no=1), "it cannot be read"),
        (lambda f: _edit(f / "summary.json", versions={"python": "3"}), "the version of fedtheory is missing"),
        (lambda f: _edit(f / "summary.json", seed=3), "its summary is of seed 3, its configuration of seed 77"),
        (
            lambda f: (f / "metrics.csv").write_text("".join((f / "metrics.csv").read_text().splitlines(True)[:-1])),
            "its metrics do not reach round 60",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "-",
)
def test_damage_is_told(root, damage, message) -> None:
    [folder] = kept("laptop", root)
    damage(folder)
    assert any(flaw.startswith(message) for flaw in flaws(folder)), flaws(folder)


def test_checkpoints_stay_out_of_the_repository() -> None:
    inside = "paper_checks/results/paper/some-run"
    root = FOLDER.parent.parent
    if not (root / ".git").exists():
        pytest.skip("not a checkout")
    asked = [f"{inside}/{name}" for name in ("checkpoint.npz", "checkpoint.npz.part", "value.png", *KEPT)]
    found = subprocess.run(["git", "check-ignore", *asked], cwd=root, capture_output=True, text=True)
    assert [Path(line).name for line in found.stdout.splitlines()] == [
        "checkpoint.npz",
        "checkpoint.npz.part",
        "value.png",
    ]


def test_a_stamp_keeps_the_device_of_runs_that_another_one_made(root) -> None:
    """They could not come out alike here: none is in the sample, and they stay runs of that device with its libraries."""
    [folder] = kept("laptop", root)
    there = {"device": "cuda", "versions": {"python": "3.12.3", "numpy": "1.26.4"}, "code": {"problems.softmax": "0"}}
    (folder / FILE).write_text(json.dumps(json.loads((folder / FILE).read_text()) | there))
    assert [*make_sample("laptop", Context(), root.parent / "sample", root=root)] == []
    stamp("laptop", Context(), root=root, tell=lambda line: None)
    stamped = Identity.read(folder)
    assert (stamped.device, stamped.versions) == ("cuda", there["versions"])
    assert stamped.code == Identity.of(RUN, Context()).code and RUN.is_done(Context(results=str(root / "laptop")))
