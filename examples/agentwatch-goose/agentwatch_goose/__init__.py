"""Goose: `goose run --output-format stream-json`, its sessions and its processes.

The stream is not verified against a real capture: the lines are those of Goose's source
(`crates/goose-cli/src/session/mod.rs`) and those that others have published for versions 1.6 to 1.51.
"""
