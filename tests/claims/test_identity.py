"""What made a kept run: every part of it is compared, and a run that something else made is refused and left as it is."""

from __future__ import annotations

import gzip
import json
import struct
from dataclasses import asdict, replace

import numpy as np
import pytest

from fedtheory.claims import identity
from fedtheory.claims.checking import check_one
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Training
from fedtheory.claims.identity import FILE, KEPT, SHARED, EditedRun, Identity, RefusedRun, collect_data, collect_remarks
from fedtheory.claims.needs import list_needs
from fedtheory.claims.references import select

RUN = Training(
    "fedavg", "digits-softmax", 2, {"lr": 0.1, "steps": 1, "batch": 8}, {"clients": 3, "split": "iid"}, ("value",)
)
MNIST = replace(RUN, problem="mnist-softmax", options=RUN.options | {"test": "own"}, metrics=("test_accuracy",))
CLAIM = """
from fedtheory.claims import Claim, Fault, Part
from fedtheory.claims.experiments import Training

RUN = Training(**{run!r})

def check(ctx, *, level=0.0):
    found = RUN.read(ctx).last("test_accuracy")
    yield Part("level", bool(found >= level), "real data", "accuracy")

CLAIMS = [Claim("X-LEVEL", "x", "ordering", "here", "It learns.", check, (Fault("two", "level", {{"level": 2.0}}),), needs=lambda ctx: [RUN])]
"""


@pytest.fixture
def kept(tmp_path):
    context = Context(results=str(tmp_path / "runs"))
    RUN.make(context)
    return context, tmp_path / "runs" / RUN.key


def write_mnist(root, images=40, *, seed=0):
    """Write a data folder with so many images like MNIST's for training and for testing."""
    (root / "mnist").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for stem in ("train", "t10k"):
        pixels, labels = rng.integers(0, 256, (images, 28, 28)), np.arange(images) % 10
        for name, array in (("images-idx3", pixels), ("labels-idx1", labels)):
            head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
            (root / "mnist" / f"{stem}-{name}-ubyte.gz").write_bytes(
                gzip.compress(head + array.astype(np.uint8).tobytes(), mtime=0)
            )
    return str(root)


def test_what_made_a_run_is_written_before_its_first_round(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fedtheory.claims.experiments.run", None)
    with pytest.raises(TypeError):
        RUN.make(Context(results=str(tmp_path)))
    found = Identity.read(tmp_path / RUN.key)
    assert found is not None and {*found.data} == {"scikit-learn/digits.csv.gz"}
    assert {
        "fedtheory.algorithms.fedavg",
        "fedtheory.local.stochastic",
        "fedtheory.running.runner",
        "problems.softmax",
    } <= {*found.code}
    assert not any(
        name.startswith("fedtheory.tools") or "safari" in name or name == "problems.svm" for name in found.code
    )
    assert {*found.versions} == {"python", "numpy"} and found.device == "cpu" and found.defaults["l2"] == 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"data": {"scikit-learn/digits.csv.gz": "0" * 64}},
            r"was made with data scikit-learn/digits.csv.gz \(sha256 0{12}...\), here",
        ),
        (
            {"data": {}},
            r"made with data scikit-learn/digits.csv.gz \(none\), here scikit-learn/digits.csv.gz \(sha256 ",
        ),
        ({"code": {"problems.softmax": "0"}}, r"made with other code of fedtheory.algorithms.base, .*problems.softmax"),
        ({"versions": {"python": "3.11.7", "numpy": "1.26.4"}}, "made with numpy 1.26.4, here "),
        ({"defaults": {"l2": 0.5}}, "made with l2 = 0.5 by default, here 0.0"),
    ],
    ids=["data", "no data", "code", "versions", "defaults"],
)
def test_a_run_that_something_else_made_is_refused(kept, changes, message) -> None:
    context, folder = kept
    path = folder / FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    for refused in (RUN.read, RUN.is_done):
        with pytest.raises(RefusedRun, match=message):
            refused(context)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"files": {}}))
    (folder / "summary.json").rename(folder / "away")  # of an unfinished run nothing is gone on with, or written over
    with pytest.raises(RefusedRun, match="give another folder"):
        RUN.make(context)
    (folder / "away").rename(folder / "summary.json")
    path.write_bytes(before[FILE])
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_a_run_of_another_device_is_read_once_it_is_done(kept) -> None:
    """With the libraries that were there, which is told; before, nothing goes on with it."""
    context, folder = kept
    path, there = folder / FILE, {"device": "cuda", "versions": {"python": "3.12.3", "numpy": "1.26.4"}}
    path.write_text(json.dumps(json.loads(path.read_text()) | there))
    with collect_remarks() as told:
        assert RUN.is_done(context)
    assert "made on cuda, here cpu" in told and any("numpy 1.26.4 (here " in remark for remark in told)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"files": {}}))
    (folder / "summary.json").unlink()
    with pytest.raises(RefusedRun, match="begun on cuda, here cpu"):
        RUN.make(context)


def test_a_run_that_does_not_say_what_made_it_is_refused(kept) -> None:
    context, folder = kept
    (folder / FILE).unlink()
    with pytest.raises(RefusedRun, match="a kept run of fedavg on digits-softmax does not say what made it"):
        RUN.read(context)
    (folder / FILE).write_text("{")
    with pytest.raises(RefusedRun, match="cannot be read"):
        RUN.read(context)


def test_another_default_of_the_method_is_refused(kept) -> None:
    context, folder = kept
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(
        json.dumps(summary | {"algorithm": summary["algorithm"].replace("lr=0.1", "lr=0.2")})
    )
    Identity.read(folder).finish(folder)
    with pytest.raises(RefusedRun, match=r"was made with FedAvg\(.*lr=0.2.*, here FedAvg\(.*lr=0.1"):
        RUN.read(context)


@pytest.mark.parametrize("name", KEPT)
def test_a_run_that_was_edited_is_refused_by_name(kept, name) -> None:
    context, folder = kept
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b"0.", b"0.0", 1))
    for refused in (RUN.read, RUN.is_done):
        with pytest.raises(EditedRun, match=f"^{name} of {RUN.key} was changed after it was made; "):
            refused(context)
    (folder / name).write_bytes(content)
    assert RUN.is_done(context)


def test_an_edit_that_makes_a_run_unreadable_or_shorter_is_refused_and_not_written_over(kept) -> None:
    context, folder = kept
    lines = (folder / "metrics.csv").read_text().splitlines(keepends=True)
    (folder / "metrics.csv").write_text("".join(lines[:-1]))
    with pytest.raises(EditedRun, match=r"metrics.csv of \S+ was changed"):
        RUN.make(context)
    for text in ("round,round\n", "round,value\n1\n", "round,value\nx,y\n", 'round,value\n"'):
        (folder / "metrics.csv").write_text(text)
        with pytest.raises(RefusedRun, match="cannot be read"):
            RUN.read(context)
        assert (folder / "metrics.csv").read_text() == text


def test_a_run_from_before_there_were_digests_is_read_and_that_is_told(kept) -> None:
    context, folder = kept
    old = json.loads((folder / FILE).read_text())
    del old["files"]
    (folder.parent / SHARED).write_text(
        json.dumps({"format": 1, "identities": [{"made_with": old, "runs": [folder.name]}]})
    )
    (folder / FILE).unlink()
    with collect_remarks() as remarks:
        RUN.read(context)
    assert any("made when runs had no digests" in text for text in remarks), remarks


NO_DIGESTS = {
    "left out": lambda own: own.pop("files"),
    "null": lambda own: own.update(files=None),
}


@pytest.mark.parametrize("shared", [False, True], ids=["of the run", "of the folder of runs"])
@pytest.mark.parametrize("how", NO_DIGESTS)
def test_an_identity_whose_digests_were_removed_is_not_believed(kept, how, shared) -> None:
    """It had them: with them an edited table is refused, and without them it was read."""
    context, folder = kept
    own = json.loads((folder / FILE).read_text())
    content = (folder / "metrics.csv").read_bytes()
    (folder / "metrics.csv").write_bytes(content.replace(b"0.", b"0.0", 1))
    NO_DIGESTS[how](own)
    (folder / FILE).write_text(json.dumps(own))
    if shared:
        runs = [folder.name] if how == "left out" else {folder.name: None}
        (folder.parent / SHARED).write_text(json.dumps({"format": 2, "identities": [{"made_with": own, "runs": runs}]}))
        (folder / FILE).unlink()
    for refused in (RUN.read, RUN.is_done, RUN.make):
        with pytest.raises(RefusedRun, match=f"{RUN.key} cannot be read"):
            refused(context)


def test_a_run_that_was_killed_before_its_digests_were_written_is_made_to_its_end(kept) -> None:
    context, folder = kept
    whole = (folder / "metrics.csv").read_bytes()
    Identity.read(folder).begin(folder)
    assert not RUN.is_done(context)
    RUN.make(context)
    assert (folder / "metrics.csv").read_bytes() == whole
    assert RUN.is_done(context) and Identity.read(folder).files.keys() == {*KEPT}


def test_other_versions_of_python_are_told_and_patches_of_numpy(kept) -> None:
    context, folder = kept
    here = Identity.read(folder)
    minor = ".".join(here.versions["numpy"].split(".")[:2])
    replace(here, versions={"python": "3.0.1", "numpy": f"{minor}.99"}).finish(folder)
    with collect_remarks() as remarks, collect_data() as data:
        RUN.read(context)
        RUN.read(context)
    assert data == here.data
    [(text, runs)] = remarks.items()
    assert runs == {RUN.key} and text.startswith(
        f"made with numpy {minor}.99 (here {here.versions['numpy']}), python 3.0.1 (here 3"
    )


def test_a_run_that_pytorch_made_is_read_where_pytorch_is_not_installed_but_not_gone_on_with(kept, monkeypatch) -> None:
    context, folder = kept
    here = Identity.read(folder)
    monkeypatch.setattr(identity, "find_versions", lambda: here.versions)
    replace(here, versions={**here.versions, "torch": "2.13.0"}).finish(folder)
    with collect_remarks() as remarks:
        RUN.read(context)
    assert [*remarks] == ["made with torch 2.13.0, which is not installed here"]
    Identity.read(folder).begin(folder)
    with pytest.raises(RefusedRun, match=r"made with torch 2.13.0, here \(none\)"):
        RUN.make(context)


def test_the_data_of_a_run_are_its_files(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    data = write_mnist(tmp_path / "data")
    context = Context(data=data, results=str(tmp_path / "runs"))
    MNIST.make(context)
    stored = Identity.read(tmp_path / "runs" / MNIST.key)
    assert sorted(stored.data) == [
        f"mnist/{a}-ubyte.gz"
        for a in ("t10k-images-idx3", "t10k-labels-idx1", "train-images-idx3", "train-labels-idx1")
    ]
    assert MNIST.is_done(context)
    write_mnist(tmp_path / "data", seed=1)  # another image each, the same labels
    with pytest.raises(
        RefusedRun, match=r"made with data mnist/t10k-images-idx3-ubyte.gz \(sha256 \w{12}...\), here mnist/t10k-images"
    ) as refused:
        MNIST.read(context)
    assert "labels" not in str(refused.value)


def test_a_verdict_says_that_data_were_not_compared(tmp_path, monkeypatch) -> None:
    """And that a refused run was: it is no evidence, and it is not made again over the one that is kept."""
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    file, data = tmp_path / "claims.py", write_mnist(tmp_path / "data")
    file.write_text(CLAIM.format(run={**MNIST.configuration, "metrics": MNIST.metrics}))
    [reference] = select([str(file)])
    with_data, without = (Context(data=folder, results=str(tmp_path / "runs")) for folder in (data, None))
    MNIST.make(with_data)
    assert list_needs([reference], without) == {} == list_needs([reference], with_data)
    compared, alone = check_one(reference, with_data), check_one(reference, without)
    assert not any("compared" in text for text in compared.readings)
    assert any(
        "mnist/train-images-idx3-ubyte.gz (sha256 " in text and "are not here and were not compared" in text
        for text in alone.readings
    )
    write_mnist(tmp_path / "data", seed=1)
    assert list_needs([reference], with_data) == {}
    refused = check_one(reference, with_data)
    assert refused.status == "inconclusive" and "made with data mnist/t10k-images" in str(refused.error)


def test_everything_that_decides_the_code_is_a_root() -> None:
    """Other methods, metrics and families rest on other code."""
    here = Context()
    of = Identity.of(RUN, here).code
    others = {
        "fedtheory.algorithms.scaffold": replace(RUN, method="scaffold"),
        "fedtheory.measures.residuals": replace(RUN, metrics=("value", "primal_residual")),
        "problems.mlp": replace(RUN, problem="digits-mlp"),
        "fedtheory.measures.primal_dual": replace(RUN, method="fedpd", settings={"eta": 1.0}, metrics=("mean_dual",)),
    }
    for module, training in others.items():
        assert Identity.of(training, here).code.get(module) != of.get(module), module
    assert asdict(Identity.of(replace(RUN, seed=5, rounds=9), here)) == asdict(Identity.of(RUN, here))


def test_many_files_of_a_data_set_are_counted() -> None:
    many = {f"cifar10/train_{k:02}.webp": "a" * 64 for k in range(9)}
    made = replace(Identity.of(RUN, Context()), data=many | {"mnist/train.gz": "b" * 64})
    [told] = [text for text in made.remarks(replace(made, data=None)) if "made with data" in text]
    assert "cifar10 (9 files, whose digests are kept with the run), mnist/train.gz (sha256 bbbbbbbbbbbb...)" in told
