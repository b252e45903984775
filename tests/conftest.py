"""Array libraries as a fixture, the profile of the property tests, and Ctrl-C as a terminal has it."""

import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import LIBRARIES, Library, as_parameters
from hypothesis import settings

# a shell starts what runs in the background with Ctrl-C ignored; the tests of interruption need it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# derandomised, so that a failure shows again; no deadline, since machines differ; no files of examples
settings.register_profile("ci", deadline=None, derandomize=True, database=None)
settings.load_profile("ci")


@pytest.fixture(params=as_parameters(LIBRARIES))
def xp(request: pytest.FixtureRequest) -> Library:
    """Every array library at hand: inputs made by it, read-only where it can be."""
    return request.param


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands keep beside them (journals, runs of experiments) is this test's own: the project's is neither read nor forgotten."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True, scope="session")
def with_a_key_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Journals of tests are written with a key that is not the user's, one for all processes that run tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp().parent / "state"))
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs PyTorch, or real data, where there is none."""
    if item.get_closest_marker("torch") and importlib.util.find_spec("torch") is None:
        pytest.skip("networks need PyTorch, the extra 'cnn'")
    if item.get_closest_marker("data") and not os.environ.get("FEDTHEORY_DATA"):
        pytest.skip("FEDTHEORY_DATA names no folder with real data")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what was slow when tests were last measured (`make times`). Whole experiments come first: none is left to one worker at the end."""
    slow = {*(Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").splitlines()}
    for item in items:
        if item.nodeid in slow:
            item.add_marker("slow")
    items.sort(key=lambda item: "test_experiments_at_laptop_size" not in item.nodeid)
