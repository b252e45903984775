"""A data set's name is earned by size and checksum."""

from __future__ import annotations

import bz2
from itertools import islice

import numpy as np
import pytest

from problems.datasets import FROM_FOLDER, data_folder, libsvm, load, mnist, shakespeare
from problems.datasets.known import KNOWN, checksum, name_of


def test_all_sets_from_files_have_checksums() -> None:
    assert set(KNOWN) == set(FROM_FOLDER) and all(KNOWN.values())


def test_two_hundred_lines_are_no_a9a(tmp_path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{rng.choice([-1, 1])} {rng.integers(1, 124)}:1" for _ in range(200)]
    (tmp_path / "a9a").write_text("\n".join(lines) + "\n")
    data = libsvm("a9a", tmp_path)
    assert len(data) == 200 and data.name == f"a9a-like file {tmp_path / 'a9a'} (200 samples; a9a has 32561), not a9a"


def test_other_images_are_no_mnist(tmp_path) -> None:
    np.savez(tmp_path / "mnist_train.npz", images=np.zeros((3, 28, 28), np.uint8), labels=np.zeros(3, np.uint8))
    assert mnist(tmp_path).name.endswith("(3 samples; mnist has 60000 or 10000), not mnist")


def test_another_play_is_no_tinyshakespeare(tmp_path) -> None:
    (tmp_path / "tinyshakespeare.txt").write_text("ROMEO:\nAb cdefg\n")
    assert "not shakespeare" in shakespeare(tmp_path).name


def test_the_right_size_is_not_enough(tmp_path) -> None:
    assert name_of("a9a", tmp_path, 32561, "0" * 32).endswith("(32561 samples; another checksum), not a9a")
    assert name_of("a9a", tmp_path, 32561, KNOWN["a9a"][32561]) == "a9a"


def test_checksums_see_order_shape_and_entries() -> None:
    a = np.arange(6, dtype=np.uint8)
    others = [a[::-1], a.reshape(2, 3), a + np.uint8(1)]
    assert len({checksum(a), *map(checksum, others), checksum(a[:3], a[3:])}) == 5
    assert checksum(a.astype("<i8")) == checksum(a.astype(">i8"))


@pytest.mark.data
@pytest.mark.parametrize("name", ["a1a", "mushrooms", "shakespeare"])
def test_the_archived_files_have_their_names(name) -> None:
    assert load(name).name == name


@pytest.mark.data
def test_one_changed_label_takes_the_name_away(tmp_path) -> None:
    folder = data_folder()
    assert folder is not None
    lines = bz2.decompress((folder / "libsvm/a1a.bz2").read_bytes()).decode().splitlines()
    (tmp_path / "a1a").write_text("\n".join(lines) + "\n")
    assert libsvm("a1a", tmp_path).name == "a1a"
    first = next(islice((k for k, line in enumerate(lines) if line.startswith("-1")), 1))
    lines[first] = "+1" + lines[first][2:]
    (tmp_path / "a1a").write_text("\n".join(lines) + "\n")
    assert libsvm("a1a", tmp_path).name.endswith("(1605 samples; another checksum), not a1a")
