PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# where nobody names a number, the tests take one a core, and fedtheory decides itself (on a GPU as many runs as fit)
ASKED := $(if $(WORKERS),--workers $(WORKERS))
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# one BLAS thread a worker: more of them on few cores cost far more than they bring
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: check test quick selftest times changes expected proofs kernel lint notebooks check-notebooks docs site benchmarks gpu clean

check: $(VENV)/ready  ## check the papers and write the report; CHECK="--size small --data DIR", CHECK=fedpd, ...
	$(BIN)/fedtheory check --json report/verdicts.json --html report/verdicts.html --referee report/papers $(ASKED) $(CHECK)
	@echo "the report is in report/verdicts.html, a page for a referee a paper in report/papers"

PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

test: $(VENV)/ready  ## run the tests; TEST="tests/proofs", TEST="-m torch", ...
	$(PYTEST) -m "not selftest" $(TEST)

quick: $(VENV)/ready  ## run the tests for everyday work: those that are not slow
	$(PYTEST) -m "not slow" $(TEST)

selftest: $(VENV)/ready  ## try whether checks and the search for mistakes can fail: planted faults, mutants, edits, bugs that nobody listed
	$(PYTEST) -m selftest $(TEST)

times: $(VENV)/ready  ## run everything, and write down in tests/slow.txt which tests are too slow for everyday work
	$(PYTEST) --junit-xml report/times.xml; $(BIN)/python tests/support/slow_tests.py report/times.xml

# of pip's messages only errors: its warnings are of a machine's own settings
$(VENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("%d.%d is too old: fedtheory needs Python 3.11 or newer. Name one: make PYTHON=python3.13 $(MAKECMDGOALS)" \
	  % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo "setting up $(VENV) (a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

SEED ?= 1
COUNT ?= 100
changes: $(VENV)/ready  ## change the ledgers' text at random, one place each, and say what no claim notices (some 20 minutes); SEED=2, COUNT=10
	$(BIN)/python tests/support/changed_ledgers.py --seed $(SEED) --count $(COUNT)

# claims of every paper whose theorems are many, and quick: some two minutes on two cores, the core included
KERNEL ?= AFEDPD-L1 AFEDPD-T1R DUALFL-L6.6 DUALFL-T-SEQ DUALFL-T3.2-EXACT DUALFL-T3.4 DUALFL-T3.5 FEDPD-D1 FEDPD-L4 \
  FEDSLR-L1 FEDSLR-N3 FEDSLR-T1a FEDSLR-T1b SAFARI-T4a SAFARI-X1

kernel: $(VENV)/ready  ## let Rocq check some claims' theorems (it needs coqc); fail unless it accepts one of each, and all; KERNEL=fedslr, ...
	$(BIN)/fedtheory check --kernel --json report/kernel.json $(ASKED) $(KERNEL)
	@$(BIN)/python -c 'import json, sys; found = json.load(open("report/kernel.json")).get("kernel") or sys.exit("no theorem for Rocq"); \
	  none = found["claims"] - len(found["whole"]) - len(found["pieces"]); \
	  sys.exit("Rocq: %d claims without a theorem, refused: %s, not written: %s" % (none, found["refused"], found["unwritten"]) \
	  if none or found["refused"] or found["unwritten"] else 0)'

expected: $(VENV)/ready  ## store today's verdicts as the expected ones, and the counterexamples
	$(BIN)/fedtheory check $(ASKED) --json - | $(BIN)/python -c 'import json, sys; \
	  found = json.load(sys.stdin)["verdicts"]; \
	  rows = ",\n".join("  " + json.dumps({"id": v["id"], "status": v["status"]} | ({"repair": v["repair"]} if v["repair"] else {})) for v in found); \
	  open("paper_checks/expected.json", "w").write("{\"format\": 1, \"verdicts\": [\n" + rows + "\n]}\n")'
	$(BIN)/python -m paper_checks.collected

# found in an empty folder, so that nothing which was kept there is read
proofs: $(VENV)/ready  ## find the derivations of the papers' theory anew, and keep them beside the ledgers
	rm -rf report/proofs paper_checks/proofs
	mkdir -p report/proofs
	cd report/proofs && FEDTHEORY_PROOFS=none ../../$(BIN)/fedtheory check --theory --fresh $(ASKED)
	mv report/proofs/.fedtheory/proofs paper_checks/proofs

lint: $(VENV)/ready  ## ruff, mypy, and which room imports which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

notebooks: $(VENV)/ready  ## execute the notebooks and write them with their outputs
	$(BIN)/python notebooks/build.py

check-notebooks: $(VENV)/ready  ## execute the notebooks; fail on an error, or where sources, texts or pictures are not those of the .ipynb
	$(BIN)/python notebooks/build.py --check

docs: $(VENV)/documented  ## build the documentation (report/documentation/index.html); warnings are errors, internal links are followed
	$(BIN)/python -m sphinx -q -W --keep-going -E -b html docs report/documentation
	$(BIN)/python docs/check_links.py report/documentation

# from the verdicts of 'make check', or SITE="--verdicts FILE"; pages of theorems are made once and kept
site: $(VENV)/documented  ## build the site (report/site): front page, verdicts, papers, theorems, gallery, documentation
	$(BIN)/python docs/build_site.py $(SITE)
	$(BIN)/python docs/check_links.py report/site

$(VENV)/documented: $(VENV)/ready
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[docs]' \
	  || { echo "no documentation: the packages of the extra 'docs' (Sphinx, MyST, furo, nbconvert) could not be installed" >&2; exit 1; }
	@touch $@

benchmarks: $(VENV)/ready  ## compare with loops, JAX and PyTorch (the latter two if installed)
	for job in standard_job sweep single_run methods growth worst_case lyapunov cnn; do $(BIN)/python benchmarks/$$job.py || exit 1; done

# pytest's exit status 5: no test needs what is here
gpu: $(VENV)/ready  ## measure NumPy, PyTorch and CuPy (report/gpu.csv), then the contract tests on the GPU; GPU=--small, ...
	$(BIN)/python benchmarks/gpu.py --csv report/gpu.csv $(GPU)
	$(BIN)/python -m pytest -q -m gpu $(TEST) || test $$? = 5

clean:
	rm -rf $(VENV) report .fedtheory .pytest_cache .mypy_cache .ruff_cache .hypothesis
