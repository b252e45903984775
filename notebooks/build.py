"""Execute the notebooks: the percent-format scripts are the source, the .ipynb files beside them carry the outputs.

python notebooks/build.py            execute and write the .ipynb files
python notebooks/build.py --check    execute, write nothing, and fail when a cell raises, or sources, texts or pictures are not those of an .ipynb

With names of notebooks these alone. Texts agree where their words are the same and their numbers are close: other processors end in other digits, and
numbers of seconds are passed over. Pictures agree where they have one size and are alike in all of their squares.
"""

import base64
import io
import math
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import jupytext
import nbformat
import numpy as np
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
#: of printed numbers, relatively, and of those near zero
CLOSE, TINY = 2e-2, 1e-9
#: pictures are compared in squares of so many pixels, by their mean colours from 0 to 1
SQUARE, ALIKE = 16, 0.12
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.]*\d)")
SECONDS = re.compile(r"[\d.]+(?=\s*(?:s|seconds|min|minutes)\b)")


def sources(notebook):
    """Cells without outputs."""
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def texts(cell):
    """What a cell prints and returns."""
    return "".join(
        o.get("text", "") or o.get("data", {}).get("text/plain", "")
        for o in cell.get("outputs", [])
        if "image/png" not in o.get("data", {})
    )


def pictures(cell):
    """The pictures of a cell, as arrays."""
    import matplotlib.image

    found = [o["data"]["image/png"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
    return [matplotlib.image.imread(io.BytesIO(base64.b64decode(data)))[..., :3] for data in found]


def same_text(kept, now):
    """Whether two texts have the same words, and numbers that are close."""
    kept, now = (SECONDS.sub("some", text) for text in (kept, now))
    if NUMBER.sub("#", kept).split() != NUMBER.sub("#", now).split():
        return False
    pairs = zip(NUMBER.findall(kept), NUMBER.findall(now), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=CLOSE, abs_tol=TINY) for a, b in pairs)


def same_picture(kept, now):
    """Whether two pictures have one size, and colours that are alike in every square."""
    if kept.shape != now.shape:
        return False
    rows, columns = (size - size % SQUARE for size in kept.shape[:2])
    apart = (kept - now)[:rows, :columns].reshape(rows // SQUARE, SQUARE, columns // SQUARE, SQUARE, 3)
    return np.abs(apart.mean(axis=(1, 3))).max() <= ALIKE


def differences(kept, now):
    """What is not the same in two executed notebooks, in words."""
    if sources(kept) != sources(now):
        return ["its source"]
    found = []
    for number, (old, new) in enumerate(zip(kept.cells, now.cells, strict=True)):
        if not same_text(texts(old), texts(new)):
            found.append(f"what cell {number} prints")
        ours, theirs = pictures(old), pictures(new)
        if len(ours) != len(theirs) or not all(map(same_picture, ours, theirs)):
            found.append(f"a picture of cell {number}")
    return found


def executed(script):
    """The notebook of a script, with the outputs of a kernel of its own."""
    notebook = jupytext.read(script)
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{script.stem}-{number}"[:64]
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(HERE)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # time stamps would change with every run
    return notebook


def main():
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    check = "--check" in sys.argv[1:]
    stale = []
    scripts = sorted(p for p in HERE.glob("*.py") if p.name != "build.py" and (not named or p.stem in named))
    with ProcessPoolExecutor(max(1, min(len(scripts), os.cpu_count() or 1))) as pool:
        for script, notebook in zip(scripts, pool.map(executed, scripts), strict=True):
            target = script.with_suffix(".ipynb")
            if not check:
                nbformat.write(notebook, target)
            elif not target.exists():
                stale.append(f"{target.name} is missing")
            elif found := differences(nbformat.read(target, 4), notebook):
                stale.append(f"{target.name} has other: {', '.join(found)}")
            print(f"{script.name}: executed", flush=True)
    if stale:
        sys.exit("\n".join(stale) + "\nrun 'python notebooks/build.py', look at the result, and commit it")


if __name__ == "__main__":
    main()
