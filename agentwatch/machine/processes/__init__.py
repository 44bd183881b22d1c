"""The processes of the known agents, and which session each of them belongs to.

Only processes of the own user are considered. Nothing here sends a signal.
"""

from agentwatch.machine.processes.joining import joined
from agentwatch.machine.processes.processes import Processes
from agentwatch.machine.processes.same import is_same_process

__all__ = ["Processes", "is_same_process", "joined"]
