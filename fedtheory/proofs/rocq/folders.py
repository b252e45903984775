"""Theorems as a folder that Rocq compiles: statements, proofs, their axioms, the core, and what a reader needs."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: the files of the core, each after those that it needs
CORE = (
    "Polynomials",
    "Numbers",
    "Regions",
    "Spaces",
    "Classes",
    "Instances",
    "Grams",
    "Derivations",
    "Settings",
    "Runs",
    "Rounds",
)
CORE_FOLDER = Path(__file__).parent / "core"
#: with which a proof begins after what it imports
SCOPES = "From Coq Require Import QArith.\nClose Scope Q_scope.\nOpen Scope R_scope."
#: the files of a theorem, each after those that it needs
FILES = ("Statement", "Proof", "Axioms")


@dataclass(frozen=True)
class RocqTheorem:
    """A theorem for Rocq.

    ``name``: a name for Rocq, and that of its folder; ``definitions``: what the statement is made of; ``statement``: its definition, a proposition
    named ``statement``; ``proof``: lemmas and data that end with ``Theorem proof : statement``; ``says``, ``proves``: files of the
    core that both need.
    """

    name: str
    title: str
    definitions: str
    statement: str
    proof: str
    says: str = "Classes"
    proves: str = "Settings Instances"

    def files(self) -> dict[str, str]:
        """The texts of its folder by name."""
        head = f"(* {_comment(self.title or self.name)} *)\n"
        statement = f"{head}From Fedtheory Require Import {self.says}.\n\n{self._stated}"
        proof = (
            f"{head}From Fedtheory Require Import {self.proves}.\nFrom {self.name} Require Import Statement.\n"
            f"{SCOPES}\n\n{self.proof}"
        )
        proved = _proved(f"{self.name}.Statement", f"{self.name}.Proof", "proved")
        axioms = f"From {self.name} Require Statement Proof.\n{proved}\nPrint Assumptions proved."
        return {"Statement.v": f"{statement}\n", "Proof.v": f"{proof}\n", "Axioms.v": f"{axioms}\n"}

    def stated_module(self) -> str:
        """The statement as a module of the theorem's name, where what it is written in was imported."""
        return f"Module {self.name}.\n{self._stated}\nEnd {self.name}.\n"

    def proved_module(self, statements: str) -> str:
        """The proof as a module of the theorem's name, from the module that has its statement; what it is written in was imported."""
        return f"Module {self.name}.\nImport {statements}.{self.name}.\n\n{self.proof}\nEnd {self.name}.\n"

    @property
    def _stated(self) -> str:
        return "\n\n".join(filter(None, (self.definitions, self.statement)))

    def digest(self) -> str:
        """A name made of all that its proof depends on, the core included."""
        text = "\0".join([core_digest(), self.name, *self.files().values()])
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def write_in_one_file(theorems: Sequence[RocqTheorem], place: str) -> str:
    """Theorems of different names in the file of this name for Rocq, which is started once and prints what all of them rest on, once.

    Statements come first, those that are written in less before the others, so that nothing else is imported where they are read. What proofs are
    written in is imported once after them: to import it for each takes Rocq longer than to check most derivations.
    """
    needed = sorted({word for t in theorems for word in f"{t.says} {t.proves}".split()})
    lines = [f"From Fedtheory Require {' '.join(needed)}.\nFrom Coq Require QArith.\n\nModule Statements."]
    for says in sorted({t.says for t in theorems}, key=_place_in_core):
        lines += [f"Import {says}.", *(t.stated_module() for t in theorems if t.says == says)]
    lines.append("End Statements.\n\nModule Proofs.")
    scopes = SCOPES.replace("From Coq Require Import", "Import")
    for proves in sorted({t.proves for t in theorems}, key=_place_in_core):
        lines.append(f"Import {proves}.\n{scopes}")
        lines += [t.proved_module(f"{place}.Statements") for t in theorems if t.proves == proves]
    lines.append("End Proofs.\n")  # nothing is imported from here on, so that axioms are printed with their whole names
    lines += [_proved(f"{place}.Statements.{t.name}", f"{place}.Proofs.{t.name}", f"of_{t.name}") for t in theorems]
    lines.append(
        f"Definition proved := {''.join(f'(conj of_{t.name} ' for t in theorems)}I{')' * len(theorems)}.\nPrint Assumptions proved.\n"
    )
    return "\n".join(lines)


def _place_in_core(words: str) -> int:
    """Where the last of some files of the core stands."""
    return max(CORE.index(word) for word in words.split())


def _proved(statement: str, proof: str, name: str) -> str:
    """That a proof is one of its statement, whatever the proof's own text calls so."""
    return f"Definition {name} : {statement}.statement := {proof}.proof."


def _comment(text: str) -> str:
    plain = text.encode("ascii", "replace").decode().replace('"', "'")
    return plain.replace("(*", "( *").replace("*)", "* )")


def core_digest() -> str:
    """A name made of the core's text."""
    digest = hashlib.blake2b(digest_size=12)
    for word in CORE:
        digest.update((CORE_FOLDER / f"{word}.v").read_bytes())
    return digest.hexdigest()


def write_core(folder: Path) -> None:
    """The core's sources."""
    folder.mkdir(parents=True, exist_ok=True)
    for word in CORE:
        shutil.copyfile(CORE_FOLDER / f"{word}.v", folder / f"{word}.v")


def write_theorem_files(theorem: RocqTheorem, folder: Path) -> None:
    """A theorem's files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in theorem.files().items():
        (folder / name).write_text(text)


def write_folder(theorems: Sequence[RocqTheorem], folder: Path) -> None:
    """The core, every theorem in a folder of its own, ``_CoqProject``, and a page that says what is there."""
    write_core(folder / "core")
    lines = ["-Q core Fedtheory", *(f"-Q {t.name} {t.name}" for t in theorems), *(f"core/{word}.v" for word in CORE)]
    for theorem in theorems:
        write_theorem_files(theorem, folder / theorem.name)
        lines += [f"{theorem.name}/{word}.v" for word in FILES]
    (folder / "_CoqProject").write_text("\n".join(lines) + "\n")
    (folder / "README.md").write_text(_page(theorems))


def _page(theorems: Sequence[RocqTheorem]) -> str:
    listed = "\n".join(f"- `{t.name}`: {t.title or t.name}" for t in theorems)
    return f"""# Theorems that Rocq checks

{listed}

Each folder has three files.

- `Statement.v`: the theorem's statement, without its proof. It imports definitions alone: read it, and `core/Spaces.v` and `core/Classes.v`.
- `Proof.v`: its proof. `Theorem proof : statement` is the last line but the proof's own.
- `Axioms.v`: prints what the proof assumes.

To check them, with Rocq (Coq) 8.16 or later and its standard library (`apt install coq`):

```console
$ coq_makefile -f _CoqProject -o Makefile
$ make
```

Each `Axioms.v` should print none but these: the standard library's real numbers (`ClassicalDedekindReals.sig_forall_dec`, `sig_not_dec`),
`FunctionalExtensionality.functional_extensionality_dep` and `Classical_Prop.classic`.

## What is said

`space` is a real inner-product space of any dimension, `clients V` any clients with weights, or draws: `E` averages numbers over them, `mean`
averages vectors. `in_class L mu f g` says that g is the gradient of f, L-smooth and mu-strongly convex (weakly convex for negative mu) by the
textbook's inequalities; `subgradient r x s` is the textbook's. `core/Instances.v` shows that none of this is empty: R^(d+1), and n clients.

A statement about any vectors is one about a method's where these vectors are the method's. Which they are is not said here.

A statement that supposes `played_1 ... (states t) (states (S t))` of every round is about any states of which two, one after the other,
are what that predicate says: vectors exist of which they are made, with gradients and subgradients at the points that it names, and with what
it assumes. That there are such states is not said here.

## What the proof is made of

`steps` is data: multipliers of inequalities, and squares. `core/Derivations.v` has a program that reads such data, and the proof that what it
accepts is true. Rocq runs the program (`vm_compute`); signs of polynomials on the region are shown by halving it (`core/Regions.v`).
"""
