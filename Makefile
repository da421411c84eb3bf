# The verbs of the project; continuous integration calls the same ones.
PYTHON ?= python
JOBS ?= 2
# Compiled once: else every process of a test compiles what it imports, and pytest every test.
unexport PYTHONDONTWRITEBYTECODE

# Workers that have finished take over half of what is left to another one.
PYTEST = $(PYTHON) -m pytest -n $(JOBS) --dist worksteal

# Something of every room, so that all of it takes 30 s of processor time.
QUICK_TESTS = tests/test_surface.py tests/cli/test_options.py tests/comparison/test_estimate.py \
  tests/crossval/test_folds.py tests/data/test_labels.py \
  tests/decision/test_rope.py tests/display/test_sentences.py tests/display/test_table.py \
  tests/gates/test_margins.py::test_a_usual_margin_is_taken \
  tests/inference/test_edges.py tests/io/test_conll.py tests/io/test_read_scores.py \
  tests/labelling/test_by_hand.py tests/metrics/test_metric.py tests/metrics/test_ordinal.py \
  tests/monitor/test_scores.py tests/nhst/test_result.py tests/planning/test_by_hand.py \
  tests/posterior/test_bootstrap.py tests/ranking/test_by_hand.py \
  tests/report/test_writing.py::test_a_file_is_replaced_only_if_asked \
  tests/results/test_default_rope.py::test_every_format_of_a_comparison_names_it \
  tests/runs/test_by_hand.py tests/slices/test_by_hand.py tests/suite/test_policy.py \
  tests/sensitivity/test_fragility.py::test_words_tables_and_facts

PYMC_TESTS = docs/how-to/arviz.md docs/how-to/your-own-prior.md \
  tests/posterior/pymc tests/inference/test_chained.py \
  tests/inference/test_engines.py tests/inference/test_own_prior.py \
  tests/comparison/test_datatree.py tests/papers/test_news_figures.py

.PHONY: all quick lint types test test-core test-rest test-all test-minimal coverage pymc pymc-all \
  doctest docs figures bench bench-ratios studies verify nightly dist sbom

all: lint types docs doctest test

lint:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

types:
	$(PYTHON) -m mypy

# Half a minute, for between two thoughts: something of every room, in one process.
quick:
	$(PYTHON) -m pytest -q $(QUICK_TESTS) -k "not six_errors_of_the_means and not others_teach"

test:
	$(PYTEST)

# What may depend on the version of Python or of a library: enough for a second one.
test-core:
	$(PYTEST) -m "core and not slow"

# The tests that one Python is enough for.
test-rest:
	$(PYTEST) -m "not core and not slow"

# The slow tests too, with 10,000 hypothesis examples each.
test-all:
	$(PYTEST) -m "slow or not slow" --hypothesis-profile=nightly

# Without the optional libraries: the package alone, as `pip install outperform` gives it.
test-minimal:
	$(PYTEST) tests/decision tests/nhst $(wildcard tests/*/test_by_hand.py)

# Lines and branches of the package that the tests run; build/coverage/index.html shows the rest.
coverage:
	$(PYTEST) --cov --cov-report=term:skip-covered \
	  --cov-report=html:build/coverage

# What needs the extra `pymc`: the models' densities, chains against the exact engine, ArviZ.
pymc:
	$(PYTEST) --doctest-glob='*.md' $(PYMC_TESTS)

# The long chains too.
pymc-all:
	$(PYTEST) --doctest-glob='*.md' -m "slow or not slow" $(PYMC_TESTS)

# Every example in a docstring, in the README and in the documentation is run. The hook of Inspect
# is imported only where Inspect is.
doctest:
	$(PYTEST) --doctest-modules --doctest-glob='*.md' --ignore=src/outperform/inspect_ai.py \
	  src papers $(wildcard README.md) docs

docs:
	$(PYTHON) -m sphinx -W --keep-going -q -b html docs docs/_build/html

# The pictures of the documentation, drawn anew from the package into docs/_static.
figures:
	PYTHONPATH=. $(PYTHON) docs/figures/make_figures.py
	PYTHONPATH=. $(PYTHON) docs/figures/make_gallery.py

bench:
	for script in bench/bench_*.py; do PYTHONPATH=. $(PYTHON) "$$script" || exit 1; done

# The ratios to a reference in the same run, for a file that is tracked over time.
bench-ratios: export BENCH_RATIOS = build/bench/ratios.json
bench-ratios:
	rm -f $$BENCH_RATIOS
	for name in import cli compare slices scores; do \
	  PYTHONPATH=. $(PYTHON) bench/bench_$$name.py || exit 1; done

# The simulation studies, whose tables docs/explanation/verification.md shows. Where PyMC is not
# installed, the part `engines` is skipped, not run, and its last record stays.
studies:
	$(PYTHON) -m verification --jobs $(JOBS)

# Every test and every study. It takes hours.
verify: test-all studies

# Everything that `.ci/run` runs and everything that it leaves out, on every installed Python.
nightly:
	.ci/run nightly

# The wheel and the source distribution, built twice: the same bytes, and nothing but the package.
dist: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
dist:
	rm -rf dist build/dist
	$(PYTHON) -m build --outdir dist
	$(PYTHON) -m build --outdir build/dist
	$(PYTHON) -m twine check --strict dist/*
	$(PYTHON) scripts/check_dist.py dist --again build/dist

# What the wheel brings along when it is installed with all extras, as CycloneDX.
sbom:
	$(PYTHON) -m venv --clear build/sbom
	build/sbom/bin/python -m pip install --quiet "$$(ls dist/*.whl)[all]"
	build/sbom/bin/python -m pip uninstall --quiet --yes pip
	$(PYTHON) -m cyclonedx_py environment build/sbom/bin/python --pyproject pyproject.toml \
	  --output-reproducible --output-format JSON --output-file build/sbom.json
