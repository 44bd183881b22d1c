"""The format of opencode: the lines of `opencode run --format json`, and those made of its stored sessions.

A stored session is a set of rows in `opencode.db`, or of JSON files in the older folder `storage`. They are
turned into lines by `agentwatch.sources.stores.opencode`.
"""
