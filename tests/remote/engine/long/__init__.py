"""Faults and loads that take minutes, with real servers. The figures are those of `bench/engine.py`."""
