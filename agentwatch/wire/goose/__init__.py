"""The decoder of Goose's stream: `goose run --output-format stream-json`.

It is not verified against a real capture: the lines are those of Goose's source
(`crates/goose-cli/src/session/mod.rs`) and those that others have published for versions 1.6 to 1.51. This
folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` imports from here.
"""
