"""Benchmarks: files with a name, a reason and a check of the result; ratios in one run."""
