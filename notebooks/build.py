"""Execute the notebooks: the percent-format scripts are the source, the .ipynb files beside them carry the outputs.

python notebooks/build.py            execute and write the .ipynb files
python notebooks/build.py --check    execute, write nothing, and fail when an .ipynb is stale or a cell raises
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent


def sources(notebook):
    """Cells without outputs."""
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


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
    check = "--check" in sys.argv[1:]
    stale = []
    scripts = sorted(p for p in HERE.glob("*.py") if p.name != "build.py")
    with ProcessPoolExecutor(min(len(scripts), os.cpu_count() or 1)) as pool:
        for script, notebook in zip(scripts, pool.map(executed, scripts), strict=True):
            target = script.with_suffix(".ipynb")
            if not check:
                nbformat.write(notebook, target)
            elif not target.exists() or sources(nbformat.read(target, 4)) != sources(notebook):
                stale.append(target.name)
            print(f"{script.name}: executed", flush=True)
    if stale:
        sys.exit(f"stale: {', '.join(stale)}; run 'python notebooks/build.py' and commit the result")


if __name__ == "__main__":
    main()
