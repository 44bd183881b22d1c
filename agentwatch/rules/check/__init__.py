"""Checks sessions by the user's rules: forbidden calls, facts that must be true at the end, and limits.

`kinds.py` defines the kinds of rules, and reads them from TOML. `judge.py` judges a
recording in one pass, and `reports.py` formats the judgements. Nothing here prints.
"""
