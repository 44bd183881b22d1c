"""The decoder of the stream of Factory's Droid: `droid exec --output-format stream-json`.

It is not verified against a real capture: the lines are those that others have published for droid 0.32 to
0.116. This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.agents.registry` imports from here.
"""
