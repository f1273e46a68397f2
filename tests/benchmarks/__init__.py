"""Measurements against the bare thing: ``python -m tests.benchmarks [NAME…]``. None is a test that has to be fast."""
