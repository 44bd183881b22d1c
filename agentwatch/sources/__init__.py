"""The sources of a session's bytes: a saved file, a pipe, or an agent that agentwatch starts.

This folder may import `capture`, `recording`, `events`, `faults` and `agent_facts`. It does not interpret the
bytes.
"""
