"""Python files that users hand over: claims, adapters."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from fedtheory.core.errors import InvalidInput, describe


def load_file(path: Path) -> ModuleType:
    """Run a Python file as a module, whose name comes from its path.

    Raises
    ------
    InvalidInput
        The file is missing or raises while it is read.
    """
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}")
    path = path.resolve()
    name = f"fedtheory_file_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{path} is not a Python file; expected a name that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InvalidInput(f"{path} cannot be read: {describe(error)}") from error
    return module
