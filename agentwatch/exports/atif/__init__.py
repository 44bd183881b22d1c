"""ATIF: a session as a trajectory of the Agent Trajectory Interchange Format, version 1.8.

The format: `rfcs/0001-trajectory-format.md` of harbor-framework/harbor.
"""

from agentwatch.exports.atif.document import write
from agentwatch.exports.exporter import Exporter

EXPORTER = Exporter(name="atif", suffix=".atif.json", write=write)
