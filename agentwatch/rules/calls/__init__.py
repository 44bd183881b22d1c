"""The fields of calls in rules: `tool`, `path`, `program`, `duration` and the others of `docs/rules.md`.

Values are those of every agent's sessions: tools are matched by their kind, never by the words of one agent.
"""
