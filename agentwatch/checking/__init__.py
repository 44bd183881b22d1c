"""Checks sessions by rules of the user: what must not happen, what must be so at the end, and limits.

`rules.py` has the kinds of rules, `rule_file.py` reads them from TOML. `judging.py` judges them in one pass
over a recording, and `reports/` writes what it found. Nothing here prints.
"""
