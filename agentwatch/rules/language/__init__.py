"""The language of rules, which select calls, or sessions of a list.

The filter of the calls, the filter of the list, `check`, `--on` and `export --only` share the parser. A
rule has no functions, no assignment and no recursion, so its length and the number of calls bound its cost.
`docs/rules.md` describes the language for users.

The package does not depend on sessions. A vocabulary defines the fields of a rule, and readers return the
values of a call or of a row. A term about an unknown value is neither true nor false, and neither is its
negation.
"""
