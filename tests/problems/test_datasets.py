"""Data sets: every format written small and read back, what damaged and missing files are told, and the real files where they are."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.problem import constant
from problems.datasets import (
    BUNDLED,
    FROM_FOLDER,
    LIBSVM,
    Dataset,
    breast_cancer,
    cifar10,
    data_folder,
    emnist_letters,
    libsvm,
    load,
    mnist,
    shakespeare,
)
from problems.datasets.cifar import CLASSES, read_batch
from problems.datasets.handwriting import read_idx
from problems.splits import by_group, by_sorted_label, federate, iid

# ---- bundled sets -------------------------------------------------------------------------------------------------


def test_breast_cancer_is_bundled() -> None:
    data = breast_cancer()
    assert data.features.shape == (569, 31)  # 30 features and a constant
    assert {-1.0, 1.0} == set(data.labels)
    assert (data.labels > 0).sum() == 357  # benign cases, as the data set's description says
    np.testing.assert_allclose(data.features[:, :-1].mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(data.features[:, :-1].std(axis=0), 1, rtol=1e-12)
    np.testing.assert_array_equal(data.features[:, -1], 1)
    f = federate(data, by_sorted_label(data.labels, 10), l2=0.01)
    assert (f.n, f.d, int(f.n_samples.sum())) == (10, 31, 569)
    np.testing.assert_allclose(f.weights.sum(axis=-1), 1, rtol=1e-14)


SIZES = {
    "breast_cancer": (569, 31, (), 0),
    "digits": (1797, 64, (8, 8), 10),
    "wine": (178, 14, (), 3),
    "iris": (150, 5, (), 3),
}


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_have_their_sizes(name) -> None:
    data = load(name)
    samples, d, shape, classes = SIZES[name]
    assert data.features.shape == (samples, d) and len(data) == samples and data.shape == shape
    assert np.issubdtype(data.labels.dtype, np.integer) and len(data.classes) == classes
    kinds = set(range(classes)) if classes else {-1, 1}
    assert set(np.unique(data.labels)) == kinds


def test_digits_are_the_images_over_sixteen() -> None:
    from sklearn.datasets import load_digits

    data = load("digits")
    np.testing.assert_array_equal(data.features.reshape(-1, *data.shape), load_digits().images / 16)
    assert data.features.min() == 0 and data.features.max() == 1


def test_unknown_names_are_told_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"unknown data set 'minst'; known are breast_cancer, digits.*mnist.*splice"):
        load("minst")
    with pytest.raises(InvalidInput, match="unknown LIBSVM set 'a10a'; known are a1a, a9a"):
        libsvm("a10a")


# ---- the container ------------------------------------------------------------------------------------------------


def test_a_data_set_is_plain_arrays() -> None:
    data = Dataset(np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]), "toy")
    f = federate(data, iid(data.labels, 2), l2=0.1, beta=0.2)
    assert (f.n, f.d, f.l2, f.beta) == (2, 4, 0.1, 0.2)
    assert "toy" in f.name


def test_parts_of_a_data_set_fit_each_other() -> None:
    rows = np.zeros((3, 4))
    with pytest.raises(InvalidInput, match=r"toy: features of shape \(3, 4\) with labels of shape \(2,\)"):
        Dataset(rows, np.zeros(2), "toy")
    with pytest.raises(InvalidInput, match=r"4 features cannot have the shape \(2, 3\)"):
        Dataset(rows, np.zeros(3), "toy", shape=(2, 3))
    with pytest.raises(InvalidInput, match=r"groups of shape \(2,\) for 3 samples"):
        Dataset(rows, np.zeros(3), "toy", groups=np.zeros(2, dtype=int))


def test_some_samples_keep_their_order_and_their_groups() -> None:
    data = Dataset(
        np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), "toy", classes=("a", "b"), groups=np.array([7, 8, 9])
    )
    some = data.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.features, [[4, 5], [0, 1]])
    np.testing.assert_array_equal(some.labels, [1, 0])
    assert some.groups is not None and some.groups.tolist() == [9, 7]
    assert some.classes == ("a", "b") and len(some) == 2


# ---- LIBSVM -------------------------------------------------------------------------------------------------------

TINY = "+1 1:0.5 3:-2\n-1 2:1.25\n+1 24:4\n"


PACKED = {"": lambda text: text, ".gz": gzip.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("ending", PACKED, ids=["plain", "gz", "bz2"])
@pytest.mark.parametrize("folder", ["", "libsvm"])
def test_libsvm_files_are_read(tmp_path, ending, folder) -> None:
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    (place / f"german.numer_scale{ending}").write_bytes(PACKED[ending](TINY.encode()))
    data = libsvm("german.numer_scale", tmp_path)
    expected = np.zeros((3, 24))  # 24 features, though the last of a file may never occur
    expected[0, 0], expected[0, 2], expected[1, 1], expected[2, 23] = 0.5, -2, 1.25, 4
    np.testing.assert_array_equal(data.features, expected)
    np.testing.assert_array_equal(data.labels, [1, -1, 1])


def test_other_labels_become_signs_in_rising_order(tmp_path) -> None:
    (tmp_path / "mushrooms").write_text("2 1:1\n1 2:1\n2 3:1\n")
    np.testing.assert_array_equal(libsvm("mushrooms", tmp_path).labels, [1, -1, 1])


def test_libsvm_errors_say_what_to_do(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    with pytest.raises(NotAvailable, match=r"none was given; pass a folder \(--data DIR\) or set FEDTHEORY_DATA"):
        libsvm("a1a")
    monkeypatch.setenv("FEDTHEORY_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    with pytest.raises(NotAvailable, match=r"'a1a' was not found; looked for .*a1a.bz2 and 5 other places"):
        libsvm("a1a")
    (tmp_path / "a1a").write_text("1 1:1\n2 1:1\n3 1:1\n")
    with pytest.raises(InvalidInput, match="3 kinds of label; expected two"):
        libsvm("a1a")
    (tmp_path / "a1a").write_text("+1 1:one\n")
    with pytest.raises(InvalidInput, match="a1a is not a readable LIBSVM file"):
        libsvm("a1a")
    (tmp_path / "a1a").write_text("+1 124:1\n-1 1:1\n")
    with pytest.raises(InvalidInput, match="a1a is not a readable LIBSVM file"):
        libsvm("a1a")  # one feature too many


#: rows, positive labels, and the largest eigenvalue of A^T A / m over the whole file, as measured when it was archived
ARCHIVED = {
    "a1a": (1605, 395, None),
    "a9a": (32561, 7841, 6.287679),
    "w8a": (49749, 1479, 2.644797),
    "mushrooms": (8124, 4208, 10.344857),
    "phishing": (11055, 6157, 0.650204),
    "german.numer_scale": (1000, 300, None),
    "splice": (3175, 1648, 382.853483),
}


@pytest.mark.data
@pytest.mark.parametrize("name", LIBSVM)
def test_libsvm_sets_are_the_archived_ones(name) -> None:
    data = libsvm(name)
    rows, positive, eigenvalue = ARCHIVED[name]
    assert data.features.shape == (rows, LIBSVM[name]) and data.name == name
    assert (data.labels > 0).sum() == positive
    if eigenvalue is not None:
        f = federate(data, iid(data.labels, 1))  # logistic loss: L is a quarter of it
        assert 4 * float(constant(f, "L")) == pytest.approx(eigenvalue, abs=1e-6)  # archived with six places, some cut


# ---- idx: MNIST and EMNIST ----------------------------------------------------------------------------------------


def idx(array: np.ndarray) -> bytes:
    """An idx file of unsigned bytes, written from the format's description."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def pictures(count: int = 5, shape: tuple[int, ...] = (28, 28), seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


IDX_PACKED = {"": lambda raw: raw, ".gz": gzip.compress}


@pytest.mark.parametrize("ending", IDX_PACKED, ids=["plain", "gz"])
@pytest.mark.parametrize("folder", ["mnist", "MNIST/raw", "."])
@pytest.mark.parametrize("part", ["train", "test"])
def test_mnist_is_read_from_idx_files(tmp_path, ending, folder, part) -> None:
    place, stem = tmp_path / folder, {"train": "train", "test": "t10k"}[part]
    place.mkdir(parents=True, exist_ok=True)
    pixels, labels = pictures(), np.array([3, 0, 9, 1, 1])
    (place / f"{stem}-images-idx3-ubyte{ending}").write_bytes(IDX_PACKED[ending](idx(pixels)))
    (place / f"{stem}-labels-idx1-ubyte{ending}").write_bytes(IDX_PACKED[ending](idx(labels)))
    data = mnist(tmp_path, part)
    assert data.shape == (28, 28) and data.classes == tuple("0123456789") and data.features.dtype == np.float32
    np.testing.assert_array_equal(np.rint(data.features.reshape(-1, 28, 28) * 255), pixels)
    np.testing.assert_allclose(data.features.ravel(), pixels.ravel() / 255, rtol=6e-8)  # half an ulp of float32
    np.testing.assert_array_equal(data.labels, labels)


def test_mnist_is_read_from_npz(tmp_path) -> None:
    (tmp_path / "mnist").mkdir()
    pixels, labels = pictures(), np.array([3, 0, 9, 1, 1], dtype=np.uint8)
    np.savez_compressed(tmp_path / "mnist/mnist_train.npz", images=pixels, labels=labels)
    # labels in the other format, without their images, do not get in the way
    (tmp_path / "mnist/train-labels-idx1-ubyte").write_bytes(idx(np.zeros(5)))
    data = mnist(tmp_path)
    np.testing.assert_array_equal(np.rint(data.features * 255), pixels.reshape(5, -1))
    np.testing.assert_array_equal(data.labels, labels)


def test_both_forms_of_emnist_are_upright_and_count_from_zero(tmp_path) -> None:
    """The idx files hold images transposed; the npz files do not. Letters count from 1 in both."""
    pixels, labels = pictures(3), np.array([1, 26, 2], dtype=np.uint8)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    np.savez(tmp_path / "a/emnist_letters_test.npz", images=pixels, labels=labels)
    (tmp_path / "b/emnist-letters-test-images-idx3-ubyte").write_bytes(idx(np.swapaxes(pixels, 1, 2)))
    (tmp_path / "b/emnist-letters-test-labels-idx1-ubyte").write_bytes(idx(labels))
    one, two = emnist_letters(tmp_path / "a", "test"), emnist_letters(tmp_path / "b", "test")
    np.testing.assert_array_equal(np.rint(one.features.reshape(-1, 28, 28) * 255), pixels)
    np.testing.assert_array_equal(one.features, two.features)
    assert one.labels.tolist() == two.labels.tolist() == [0, 25, 1]
    assert [one.classes[k] for k in one.labels] == ["A", "Z", "B"]
    np.savez(tmp_path / "a/emnist_letters_test.npz", images=pixels, labels=labels - 1)
    with pytest.raises(InvalidInput, match="has the label 0; EMNIST Letters counts its letters from 1"):
        emnist_letters(tmp_path / "a", "test")


def damaged(tmp_path, raw: bytes, axes: int = 3) -> str:
    path = tmp_path / "file"
    path.write_bytes(raw)
    with pytest.raises(InvalidInput) as caught:
        read_idx(path, axes)
    return str(caught.value)


def test_damaged_idx_files_say_which_bytes_are_wrong(tmp_path) -> None:
    whole = idx(pictures(2))
    assert "has 1583 bytes; its header announces the shape (2, 28, 28), which takes 1584" in damaged(
        tmp_path, whole[:-1]
    )
    assert "has 1585 bytes" in damaged(tmp_path, whole + b"x")
    assert (
        "starts with the bytes 00 00 08 03; an idx file of unsigned bytes with 1 axes starts with 00 00 08 01"
        in damaged(tmp_path, whole, axes=1)
    )
    assert "starts with the bytes 50 4b 03 04" in damaged(tmp_path, b"PK\3\4")
    assert "starts with the bytes (none)" in damaged(tmp_path, b"")
    assert "has 9 bytes; its header alone takes 16" in damaged(tmp_path, whole[:9])
    assert "cannot be unpacked" in damaged(tmp_path, gzip.compress(whole)[:-9])
    assert "cannot be unpacked" in damaged(tmp_path, b"\x1f\x8bnonsense")
    assert "cannot be unpacked" in damaged(tmp_path, bz2.compress(whole)[:-9])


@given(keep=st.integers(0, 15 + 2 * 3 * 2), packed=st.booleans())
@settings(max_examples=60)
def test_no_truncated_idx_file_is_read(tmp_path_factory, keep, packed) -> None:
    whole = idx(pictures(2, (3, 2)))
    whole = gzip.compress(whole, mtime=0) if packed else whole
    path = tmp_path_factory.mktemp("idx") / "file"
    path.write_bytes(whole[: min(keep, len(whole) - 1)])
    with pytest.raises(InvalidInput, match=str(path)):
        read_idx(path, 3)


def test_images_and_labels_must_fit(tmp_path) -> None:
    def stored(pixels, labels, **others) -> None:
        np.savez(tmp_path / "mnist_train.npz", images=pixels, labels=labels, **others)

    stored(pictures(3), np.zeros(2, dtype=np.uint8))
    with pytest.raises(
        InvalidInput, match=r"images of shape \(3, 28, 28\) and labels of shape \(2,\); expected \(samples, 28, 28\)"
    ):
        mnist(tmp_path)
    stored(pictures(3, (28, 27)), np.zeros(3, dtype=np.uint8))
    with pytest.raises(InvalidInput, match=r"images of shape \(3, 28, 27\)"):
        mnist(tmp_path)
    stored(pictures(2), np.array([1, 10], dtype=np.uint8))
    with pytest.raises(InvalidInput, match="has the label 10; expected 0 to 9"):
        mnist(tmp_path)
    stored(pictures(2).astype(float), np.zeros(2, dtype=np.uint8))
    with pytest.raises(InvalidInput, match="holds 'images' as float64; expected uint8"):
        mnist(tmp_path)
    stored(np.zeros((0, 28, 28), dtype=np.uint8), np.zeros(0, dtype=np.uint8))
    with pytest.raises(InvalidInput, match="images of shape"):
        mnist(tmp_path)


class Trap:
    """Unpickling this would write a file."""

    def __init__(self, path) -> None:
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_npz_files_are_read_without_running_anything(tmp_path) -> None:
    file = tmp_path / "mnist_train.npz"
    trap = np.array([Trap(tmp_path / "sprung")], dtype=object)
    np.savez(file, images=trap, labels=np.zeros(1, dtype=np.uint8))
    with pytest.raises(InvalidInput, match=r"mnist_train.npz is not a readable .npz file"):
        mnist(tmp_path)
    assert not (tmp_path / "sprung").exists()
    np.savez(file, x_train=pictures())
    with pytest.raises(InvalidInput, match="has the arrays x_train; expected images, labels"):
        mnist(tmp_path)
    whole = file.read_bytes()
    array = io.BytesIO()
    np.save(array, pictures())
    for raw in (b"", whole[: len(whole) // 2], b"not a zip file", array.getvalue()):
        file.write_bytes(raw)
        with pytest.raises(InvalidInput, match=r"mnist_train.npz is not a readable .npz file"):
            mnist(tmp_path)


@pytest.mark.parametrize("name", FROM_FOLDER)
def test_missing_files_name_the_path_the_option_and_the_variable(name, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("FEDTHEORY_DATA", raising=False)
    with pytest.raises(
        NotAvailable, match=rf"'{name}' is read from a data folder.*\(--data DIR\) or set FEDTHEORY_DATA"
    ):
        load(name)
    monkeypatch.setenv("FEDTHEORY_DATA", str(tmp_path))
    with pytest.raises(
        NotAvailable, match=rf"'{name}' was not found; looked for {tmp_path}/.*--data DIR or FEDTHEORY_DATA"
    ):
        load(name)


def test_half_a_pair_of_idx_files_is_named(tmp_path) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(pictures()))
    with pytest.raises(
        NotAvailable, match="train-images-idx3-ubyte is there, but not the other one of images and labels"
    ):
        mnist(tmp_path)


# ---- CIFAR-10 -----------------------------------------------------------------------------------------------------


def batch(pixels: np.ndarray, labels: np.ndarray) -> bytes:
    """A binary batch, written from the format's description: label, then the red, green and blue plane."""
    return b"".join(
        bytes([label, *image[..., 0].ravel(), *image[..., 1].ravel(), *image[..., 2].ravel()])
        for image, label in zip(pixels, labels, strict=True)
    )


@pytest.mark.parametrize("folder", ["cifar-10-batches-bin", "cifar10"])
def test_cifar_is_read_from_the_binary_version(tmp_path, folder) -> None:
    (tmp_path / folder).mkdir()
    pixels, labels = pictures(12, (32, 32, 3)), np.arange(12) % 10
    for k in range(5):
        part = slice(2 * k, 2 * k + 2)
        (tmp_path / folder / f"data_batch_{k + 1}.bin").write_bytes(batch(pixels[part], labels[part]))
    (tmp_path / folder / "test_batch.bin").write_bytes(batch(pixels[10:], labels[10:]))
    data, test = cifar10(tmp_path), cifar10(tmp_path, "test")
    assert data.shape == (32, 32, 3) and data.classes == CLASSES and len(test) == 2
    np.testing.assert_array_equal(np.rint(data.features.reshape(-1, 32, 32, 3) * 255), pixels[:10])
    np.testing.assert_array_equal(np.rint(test.features.reshape(-1, 32, 32, 3) * 255), pixels[10:])
    np.testing.assert_array_equal(data.labels, labels[:10])
    (tmp_path / folder / "data_batch_4.bin").unlink()
    with pytest.raises(NotAvailable, match=r"looked for .*data_batch_4.bin"):
        cifar10(tmp_path)


def test_cifar_is_read_from_lossless_sheets(tmp_path) -> None:
    from PIL import Image

    place = tmp_path / "cifar10"
    place.mkdir()
    pixels = pictures(1000, (32, 32, 3))
    sheet = np.zeros((800, 1280, 3), dtype=np.uint8)
    for k, image in enumerate(pixels):
        row, column = divmod(k, 40)
        sheet[32 * row : 32 * row + 32, 32 * column : 32 * column + 32] = image
    labels = np.arange(1000, dtype=np.uint8) % 10
    Image.fromarray(sheet).save(place / "test_first1000.webp", lossless=True, method=0)
    with pytest.raises(NotAvailable, match=r"labels\.npz"):
        cifar10(tmp_path, "test")
    np.savez(place / "labels.npz", test_first1000=labels)
    data = cifar10(tmp_path, "test")
    np.testing.assert_array_equal(np.rint(data.features.reshape(-1, 32, 32, 3) * 255), pixels)
    np.testing.assert_array_equal(data.labels, labels)
    Image.fromarray(sheet[:32]).save(place / "test_first1000.webp", lossless=True, method=0)
    with pytest.raises(InvalidInput, match="is 32 high and 1280 wide; expected 800 and 1280"):
        cifar10(tmp_path, "test")
    (place / "test_first1000.webp").write_bytes(b"RIFF")
    with pytest.raises(InvalidInput, match=r"test_first1000.webp \(4 bytes\) is not a readable picture"):
        cifar10(tmp_path, "test")


def test_damaged_binary_batches_say_how_many_bytes(tmp_path) -> None:
    path = tmp_path / "batch"
    for size in (0, 3072, 3074):
        path.write_bytes(bytes(size))
        with pytest.raises(InvalidInput, match=f"has {size} bytes; expected a positive multiple of 3073"):
            read_batch(path)


def test_the_pickled_version_is_refused_unread(tmp_path) -> None:
    place = tmp_path / "cifar-10-batches-py"
    place.mkdir()
    (place / "data_batch_1").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(
        NotAvailable, match=r"data_batch_1 is the Python version, a pickle, which can run code.*binary version"
    ):
        cifar10(tmp_path)
    assert not (tmp_path / "sprung").exists()


# ---- Shakespeare --------------------------------------------------------------------------------------------------

PLAY = "ROMEO:\nAb cdefg\n\nJULIET:\nO Ro\nmeo!\n\nROMEO:\nhi\n\nNURSE:\nno.\n\nROMEO:\nXyz,,"


@pytest.mark.parametrize("ending", PACKED, ids=["plain", "gz", "bz2"])
def test_plays_are_cut_into_characters_by_role(tmp_path, ending) -> None:
    (tmp_path / f"tinyshakespeare.txt{ending}").write_bytes(PACKED[ending](PLAY.encode()))
    data = shakespeare(tmp_path)
    written = [{"space": " ", "other": "."}.get(name, name) for name in data.classes]
    text = ["".join(written[k] for k in row.reshape(3, 28).argmax(axis=-1)) for row in data.features]
    windows = [t + written[k] for t, k in zip(text, data.labels, strict=True)]
    assert windows == ["ab c", "defg", "o ro", " meo", "xyz."]
    assert data.groups is not None and data.groups.tolist() == [1, 1, 0, 0, 1], "the nurse says too little"
    assert (data.features.sum(axis=1) == 3).all()
    assert [len(part) for part in by_group(data.groups)] == [2, 3]


def test_a_text_without_speeches_is_refused(tmp_path) -> None:
    (tmp_path / "tinyshakespeare.txt").write_text("To be or not to be")
    with pytest.raises(InvalidInput, match=r"tinyshakespeare.txt has no speeches; expected lines 'ROLE:'"):
        shakespeare(tmp_path)


# ---- the real files -----------------------------------------------------------------------------------------------


@pytest.mark.data
def test_real_mnist() -> None:
    """Class counts and moments as published (mean 0.1307, standard deviation 0.3081)."""
    data, test = mnist(), mnist(part="test")
    assert data.name == test.name == "mnist"
    assert np.bincount(data.labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(test.labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    # the training images in circulation may have lost pixels of value 1, which moves the mean by less than 2e-6
    assert data.features.mean(dtype=float) == pytest.approx(0.13066, abs=5e-6)
    assert data.features.std(dtype=float) == pytest.approx(0.30811, abs=5e-6)


@pytest.mark.data
def test_real_emnist() -> None:
    data, test = emnist_letters(), emnist_letters(part="test")
    assert data.name == test.name == "emnist_letters"
    assert np.bincount(data.labels).tolist() == [4800] * 26 and np.bincount(test.labels).tolist() == [800] * 26
    assert data.features.mean(dtype=float) == pytest.approx(0.1722, abs=5e-5)
    assert data.features.std(dtype=float) == pytest.approx(0.3309, abs=5e-5)
    # upright: a mean I is taller than wide
    letter = data.take(np.flatnonzero(data.labels == 8)).features.reshape(-1, 28, 28).mean(axis=0)
    assert letter.sum(axis=0).max() > 1.5 * letter.sum(axis=1).max()


@pytest.mark.data
def test_real_cifar() -> None:
    """The decoded pixels are the ones archived, whose channel means are the published ones to eight digits."""
    data = cifar10()
    assert data.name == cifar10(part="test").name == "cifar10"
    pixels = np.rint(data.features * np.float32(255)).astype(np.uint8)
    digest = hashlib.sha256(pixels.tobytes()).hexdigest()
    assert digest == "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a"
    means = pixels.reshape(-1, 3).mean(axis=0) / 255
    np.testing.assert_allclose(means, [0.49139968, 0.48215841, 0.44653091], atol=1e-8)
    assert np.bincount(data.labels).tolist() == [5000] * 10 and len(cifar10(part="test")) in (1000, 10000)


@pytest.mark.data
def test_real_shakespeare() -> None:
    """A million characters of some 300 roles; e is the most frequent letter and Gloucester speaks most."""
    data = shakespeare()
    assert data.name == "shakespeare" and data.features.shape[1] == 84 and data.groups is not None
    assert 250_000 < len(data) < 1_020_773 / 4 and 290 < data.groups.max() < 309
    assert data.classes[np.bincount(data.labels)[1:27].argmax() + 1] == "e"
    assert max(map(len, by_group(data.groups))) == pytest.approx(37405 / 4, rel=0.02)


def test_the_last_images_of_cifar10_are_its_test_set_whatever_the_folder_has(tmp_path, monkeypatch) -> None:
    """Neither the official test set, of which the folder may have a part, nor an image of it twice."""
    from problems.networks import families

    place = tmp_path / "cifar10"
    place.mkdir()
    rows = np.random.default_rng(0).integers(0, 10, (5, 8, 3073), dtype=np.uint8)
    for k, batch in enumerate(rows, start=1):
        (place / f"data_batch_{k}.bin").write_bytes(batch.tobytes())
    (place / "test_batch.bin").write_bytes(rows[0].tobytes())
    monkeypatch.setattr(families, "LAST_HELD_OUT", {"cifar10": (cifar10, 12)})
    train, test = (families.load_part("cifar10", part, str(tmp_path)) for part in ("train", "test"))
    assert (len(train), len(test)) == (28, 12)
    whole = cifar10(tmp_path)
    assert (np.concatenate([train.features, test.features]) == whole.features).all()
    assert (np.concatenate([train.labels, test.labels]) == whole.labels).all()
    files = families.list_part_files("cifar10", str(tmp_path), tested=True)
    assert sorted(files) == [f"cifar10/data_batch_{k}.bin" for k in range(1, 6)]
    monkeypatch.setattr(families, "LAST_HELD_OUT", {"cifar10": (cifar10, 40)})
    families.load_part.cache_clear()
    with pytest.raises(InvalidInput, match="has 40 images; the last 40 are held out for tests, so more are needed"):
        families.load_part("cifar10", "train", str(tmp_path))
