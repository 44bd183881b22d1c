"""Rules, which the user writes: which calls they select, what a session must not do, and when to ring.

`language/` reads a rule, `calls/` has the fields of calls, `check/` judges a recording at its end, and
`alarms/` watches a session that grows. `docs/rules.md` describes the language for users.

The room may import `analysis`, `session`, `feed` and what is below them, and neither the list of sessions nor
the screen.
"""
