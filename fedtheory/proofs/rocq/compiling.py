"""Theorems checked by Rocq: its compiler is run on what is written, and what it said is kept by digest."""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.rocq.folders import CORE, FILES, RocqTheorem, core_digest, write_core, write_theorem_files

#: where compiled cores and answers are kept
KEPT_ANSWERS = Path(".fedtheory") / "rocq"
#: seconds for one file
FILE_SECONDS = 300
#: what proofs may rest on: the standard library's real numbers, functions that agree everywhere are equal, the excluded middle
AXIOMS = frozenset(
    [
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    ]
)
HOW = "install Rocq (Coq) 8.16 or later: 'apt install coq' on Debian and Ubuntu, 'brew install coq' on macOS, or opam"
_AXIOM = re.compile(r"^([A-Za-z_][\w.']*)\s*(?::|$)", re.M)


@dataclass(frozen=True)
class RocqAnswer:
    """What Rocq said of a theorem.

    ``version`` of Rocq, ``date`` of the check, ``axioms`` that the proof rests on, ``said`` where it was refused.
    """

    name: str
    accepted: bool
    version: str
    date: str
    axioms: tuple[str, ...]
    seconds: float
    said: str = ""


@cache
def find_compiler() -> tuple[str, str] | None:
    """Path and version of Rocq's compiler, or None where there is none."""
    path = shutil.which("coqc")
    if path is None:
        return None
    told = subprocess.run([path, "--print-version"], capture_output=True, text=True, check=False)
    return (path, told.stdout.split()[0]) if told.returncode == 0 and told.stdout.split() else None


def require_compiler() -> tuple[str, str]:
    """Path and version of Rocq's compiler.

    Raises
    ------
    NotAvailable
        There is none; the message says how to get one.
    """
    found = find_compiler()
    if found is None:
        raise NotAvailable(f"the command 'coqc' was not found; {HOW}")
    return found


def compile_core(kept: Path = KEPT_ANSWERS) -> Path:
    """The folder of the compiled core; it is compiled where it was not yet, about half a minute.

    Raises
    ------
    NotAvailable
        There is no Rocq, or it does not accept the core.
    """
    path, version = require_compiler()
    folder = kept.resolve() / f"core-{version}-{core_digest()}"
    if folder.exists():
        return folder
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.resolve()) as place:
        here = Path(place) / "core"
        write_core(here)
        for word in CORE:
            code, said = _run([path, "-Q", ".", "Fedtheory", f"{word}.v"], here)
            if code:
                raise NotAvailable(f"Rocq {version} does not accept the core's file {word}.v: {_short(said)}")
        if not folder.exists():  # another process may have been faster
            here.rename(folder)
    return folder


def check_theorem(theorem: RocqTheorem, kept: Path = KEPT_ANSWERS) -> RocqAnswer:
    """Let Rocq check a theorem's files; an answer that was kept is given again."""
    path, version = require_compiler()
    file = kept / f"{theorem.digest()}-{version}.json"
    if file.exists():
        stored = json.loads(file.read_text())
        return RocqAnswer(**{**stored, "axioms": tuple(stored["axioms"])})
    core, begun = compile_core(kept), time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        here, said = Path(place) / theorem.name, ""
        write_theorem_files(theorem, here)
        for word in FILES:
            code, said = _run([path, "-Q", str(core), "Fedtheory", "-Q", ".", theorem.name, f"{word}.v"], here)
            if code:
                break
    axioms = () if code else read_axioms(said)
    strange = sorted(set(axioms) - AXIOMS)
    told = _short(said) if code else f"it rests on {', '.join(strange)}" if strange else ""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    answer = RocqAnswer(
        theorem.name, not told and not code, version, today, axioms, round(time.monotonic() - begun, 1), told
    )
    file.write_text(json.dumps(asdict(answer)))
    return answer


def check_theorems(
    theorems: Sequence[RocqTheorem], workers: int = 1, kept: Path = KEPT_ANSWERS
) -> Iterator[tuple[RocqTheorem, RocqAnswer]]:
    """Let Rocq check theorems, so many at a time; answers as they come."""
    compile_core(kept)
    with ThreadPoolExecutor(max(1, workers)) as pool:
        asked = {pool.submit(check_theorem, theorem, kept): theorem for theorem in theorems}
        try:
            for done in as_completed(asked):
                yield asked[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def read_axioms(said: str) -> tuple[str, ...]:
    """The names after "Axioms:" in what Print Assumptions says; none where it says "Closed under the global context"."""
    _, _, listed = said.partition("Axioms:")
    return tuple(sorted(set(_AXIOM.findall(listed))))


def _run(command: list[str], folder: Path) -> tuple[int, str]:
    """Exit code and output of a compiler's run."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=FILE_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    except subprocess.TimeoutExpired:
        return 124, f"{command[-1]} took more than {FILE_SECONDS} s"
    return done.returncode, done.stdout + done.stderr


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 600 else f"{plain[:600]} ..."
