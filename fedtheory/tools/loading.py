"""Python files that users hand over: claims, adapters."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from fedtheory.core.errors import FedtheoryError, InvalidInput, describe
from fedtheory.tools.beside import SEPARATE


def refuse_shadows() -> None:
    """Refuse to go on where a file or folder of the user is found under the name of a package that stands beside this one.

    Raises
    ------
    InvalidInput
        A package of ours is hidden; the message names what hides it.
    """
    home = Path(__file__).resolve().parents[2]
    for name in SEPARATE:
        if not (home / name / "__init__.py").is_file():
            continue
        spec = importlib.util.find_spec(name)
        found = spec.origin if spec is not None else None
        if found is not None and Path(found).resolve() != home / name / "__init__.py":
            raise InvalidInput(f"{found} hides fedtheory's own package {name!r}: rename it, or run from another folder")


def load_file(path: Path) -> ModuleType:
    """Run a Python file as a module, whose name comes from its path; it can import its neighbours.

    Its folder is looked in last, so that a neighbour cannot take the name of an installed package.

    Raises
    ------
    InvalidInput
        The file is missing, is no Python text, or raises while it is read.
    """
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; expected a Python file")
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}")
    path = path.resolve()
    name = f"fedtheory_file_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise InvalidInput(f"{path} is not a Python file; expected a name that ends in .py")
    try:
        spec.loader.get_code(name)
    except (SyntaxError, ValueError) as error:  # what is not text, or has null bytes, is a ValueError
        raise InvalidInput(f"{path} cannot be read: it is not Python text ({error})") from error
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        said = isinstance(error, FedtheoryError) and lines
        why = f"line {lines[-1]}: {error}" if said else describe(error)
        raise InvalidInput(f"{path} cannot be read: {why}") from error
    return module
