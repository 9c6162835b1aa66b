# Every task by name. `make` lists them; ARGS='…' is passed on: make demo ARGS='--seconds 20'
.DEFAULT_GOAL := help
.PHONY: help setup web browser demo test test-spark test-recovery test-worlds test-engine long style check bench accept package lock clean

python := .venv/bin/python

# Spark's Python workers must be the same Python as the driver.
export PYSPARK_PYTHON := $(CURDIR)/.venv/bin/python
export PYSPARK_DRIVER_PYTHON := $(PYSPARK_PYTHON)
# What another Python or Spark left in the environment is not to leak into ours.
unexport PYTHONPATH PYTHONHOME SPARK_HOME

help:
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## build .venv with the pinned packages and the sanderling command; compile the kernels
	@tools/setup

web: setup ## build the page anew, if it is not as its sources are
	@tools/web

browser: setup
	@tools/setup --browser

demo: setup ## a simulated city, live
	@.venv/bin/sanderling demo $(ARGS)

# Spark mostly waits: what shares one, what starts it again and again, and what computes go side by side, all at
# once, so that two cores are never idle; what is in no list is the engine's.
spark_tests := $(addprefix tests/,architecture command demo examples server session spark)
recovery_tests := tests/recovery tests/spark/test_cluster.py
world_tests := $(addprefix tests/,scripts properties)
# Whatever has a long form (tests/long.py), random cases among them.
long_tests := $(addprefix tests/,ask recovery properties operate kernels space language oracle state storage scripts engine ingest plan \
	command/test_interrupt.py demo/test_demo.py session/test_order.py server/test_fuzz.py \
	server/test_limits.py server/test_views.py server/test_watcher.py session/test_signals.py spark/test_cluster.py \
	spark/test_memory_on_spark.py spark/test_random_expressions.py spark/test_real_data.py spark/test_space_on_spark.py spark/test_sql_on_spark.py \
	spark/test_triggers_on_spark.py spark/test_trigger_routes.py)

# A Java that lives as long as a test has no time to become fast: better it does not try. Half the wait.
test test-spark test-recovery test-worlds test-engine long: export SPARK_SUBMIT_OPTS := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC

test: browser ## the tests; one of them: ARGS='-k name'
ifeq ($(strip $(ARGS)),)
	@$(MAKE) --no-print-directory -j4 test-spark test-recovery test-worlds test-engine
else
	@$(python) -m pytest $(ARGS)
endif

test-spark:
	@$(python) -m pytest $(spark_tests) --ignore=tests/spark/test_cluster.py

test-recovery:
	@$(python) -m pytest $(recovery_tests)

test-worlds:
	@$(python) -m pytest $(world_tests)

test-engine:
	@$(python) -m pytest tests $(addprefix --ignore=,$(spark_tests) $(recovery_tests) $(world_tests))

long: browser ## the long forms: every crash point, thousands of random worlds (hours); one: ARGS='tests/…', less of it: PARTS=20
	@SANDERLING_LONG=1 SANDERLING_PARTS=$(PARTS) $(python) -m pytest $(or $(ARGS),$(long_tests))

style: setup ## style and types
	@$(python) -m ruff check
	@$(python) -m ruff format --check
	@$(python) -m mypy

check: style test ## style, types, then the tests

bench: setup ## the benchmarks
	@$(python) -m benchmarks $(ARGS)

accept: setup ## rewrite the expected part of the test scripts, to be read as a diff
	@$(python) -m pytest tests/scripts --accept $(ARGS)

package: web ## a wheel in dist/, to be installed with pip anywhere
	@rm -rf build
	@$(python) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@rm -rf build
	@ls dist/*.whl

lock: setup ## for maintainers: resolve pyproject.toml and requirements.in into requirements.lock
	@$(python) -m pip install --quiet uv
	@$(python) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --fork-strategy fewest \
		--system-certs --no-emit-index-url --custom-compile-command 'make lock' \
		pyproject.toml requirements.in --output-file requirements.lock

clean: ## remove .venv and what the tools leave behind
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	@find . -name __pycache__ -prune -exec rm -rf {} +
	@rm -rf src/*.egg-info
