"""Compares the sessions of two runs, or of several runs a side. `reports` writes a comparison."""
