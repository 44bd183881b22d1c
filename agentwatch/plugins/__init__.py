"""Plugins: what other packages add to agentwatch, by entry points.

Each kind of plugin is a group of entry points: `agentwatch.agents` for formats of agents,
`agentwatch.exporters` for formats of exports. The package of a plugin is imported when its name is used, or
when nothing built-in fits. `AGENTWATCH_PLUGINS=0` turns all plugins off.
"""
