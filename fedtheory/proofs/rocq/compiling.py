"""Theorems checked by Rocq: its compiler is run on what is written, and that it accepted a theorem is kept by digest."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.rocq.folders import CORE, RocqTheorem, write_core, write_in_one_file
from fedtheory.proofs.rocq.keeping import find_core, is_sealed_core, keep_answer, recall_answers, seal_core
from fedtheory.tools.limits import limit_processor_time

#: seconds of a processor for one file; where a process's own time cannot be limited, of the clock
FILE_SECONDS = 300
#: how many times longer it may take by the clock, on a machine that does other work as well
WAITING = 10
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
_AXIOM = re.compile(r"[A-Za-z_][\w.']*(?:\s*:|$)")


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


def compile_core(kept: Path | None = None) -> Path:
    """The folder of the compiled core; it is compiled where it was not yet, or was changed since, about half a minute.

    Parameters
    ----------
    kept : Path, optional
        Where it and answers are kept; in the user's cache by default.

    Raises
    ------
    NotAvailable
        There is no Rocq, or it does not accept the core.
    """
    path, version = require_compiler()
    folder = find_core(version, kept)
    if is_sealed_core(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        here = Path(place) / "core"
        write_core(here)
        for word in CORE:
            code, said = _run([path, "-Q", ".", "Fedtheory", f"{word}.v"], here)
            if code:
                raise NotAvailable(f"Rocq {version} does not accept the core's file {word}.v: {_short(said)}")
        seal_core(here, folder.name)
        if not is_sealed_core(folder):  # another process may have been faster
            if os.path.lexists(folder):
                folder.rename(Path(place) / "changed")
            here.rename(folder)
    return folder


def check_theorem(theorem: RocqTheorem, kept: Path | None = None) -> RocqAnswer:
    """Let Rocq check a theorem; that it accepted it is kept, and told again."""
    return check_together([theorem], kept)[0]


def check_together(theorems: Sequence[RocqTheorem], kept: Path | None = None) -> list[RocqAnswer]:
    """Let Rocq check theorems of different names in one file; where it stops at one of them, this one and the others each in one of their own.

    Rocq takes longer to start, and to list axioms, than to check most derivations. Axioms are then those of all of them. What it accepted is kept.
    """
    _, version = require_compiler()
    known = recall_answers(version, kept)
    found = {t.name: _judge(t.name, version, **known[t.digest()]) for t in theorems if t.digest() in known}
    asked = [theorem for theorem in theorems if theorem.name not in found]
    if asked:
        answers = _compile_parts(asked, kept)
        found.update((answer.name, answer) for answer in answers)
    return [found[theorem.name] for theorem in theorems]


def _compile_parts(theorems: Sequence[RocqTheorem], kept: Path | None) -> list[RocqAnswer]:
    """Answers of one run of the compiler; where it stops at a theorem, of one for this and one for the others; else of one for each half."""
    answers = _compile(theorems, kept)
    if len(theorems) == 1 or all(answer.accepted for answer in answers):
        return answers
    found, middle = _find_stop(theorems, answers[0].said), len(theorems) // 2
    parts = (
        [theorems[:middle], theorems[middle:]] if found is None else [[t for t in theorems if t is not found], [found]]
    )
    every = {answer.name: answer for part in parts for answer in _compile_parts(part, kept)}
    return [every[theorem.name] for theorem in theorems]


def _find_stop(theorems: Sequence[RocqTheorem], said: str) -> RocqTheorem | None:
    """The theorem in whose module an error is."""
    line = re.search(r"line (\d+), characters", said)
    if line is None:
        return None
    before = write_in_one_file(theorems, "Together").splitlines()[: int(line[1])]
    begun = [at for at in before if at.startswith(("Module ", "End "))]
    return next((t for t in theorems if begun and begun[-1] == f"Module {t.name}."), None)


def _compile(theorems: Sequence[RocqTheorem], kept: Path | None) -> list[RocqAnswer]:
    """One run of the compiler; of several theorems each gets its share of the time."""
    path, version = require_compiler()
    core, begun = compile_core(kept), time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "Together.v").write_text(write_in_one_file(theorems, "Together"))
        code, said = _run([path, "-Q", str(core), "Fedtheory", "-Q", ".", "", "Together.v"], Path(place))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    seconds = round((time.monotonic() - begun) / len(theorems), 1)
    if code:
        why = _short(said) or f"the compiler ended with status {code}"
        return [RocqAnswer(theorem.name, False, version, today, (), seconds, why) for theorem in theorems]
    axioms = read_axioms(said)
    for theorem in theorems:
        keep_answer(version, kept, theorem.digest(), axioms, today, seconds)
    return [_judge(theorem.name, version, axioms, today, seconds) for theorem in theorems]


def _judge(name: str, version: str, axioms: Sequence[str], date: str, seconds: float) -> RocqAnswer:
    """What it means that Rocq accepted a proof: it may rest on the allowed axioms alone."""
    strange = sorted(set(axioms) - AXIOMS)
    said = f"it rests on {', '.join(strange)}" if strange else ""
    return RocqAnswer(name, not strange, version, date, tuple(axioms), seconds, said)


def read_axioms(said: str) -> tuple[str, ...]:
    """The names of axioms in what Print Assumptions says, and lines that say what is assumed otherwise, such as that a guard was switched off."""
    lines = [line.rstrip() for line in said.splitlines() if line[:1].strip()]
    told = {"Axioms:", "Closed under the global context"}
    return tuple(sorted({line.partition(" ")[0] if _AXIOM.match(line) else line for line in lines if line not in told}))


def _run(command: list[str], folder: Path) -> tuple[int, str]:
    """Exit code and output of a compiler's run."""
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    ) as process:
        seconds = FILE_SECONDS * (WAITING if limit_processor_time(process.pid, FILE_SECONDS) else 1)
        try:
            out, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return 124, f"{command[-1]} took more than {seconds} s"
        except BaseException:  # an interrupt leaves no compiler behind
            process.kill()
            raise
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return 124, f"{command[-1]} took more than {FILE_SECONDS} s of a processor"
    return process.returncode, out + errors if process.returncode else out


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 600 else f"{plain[:600]} ..."
