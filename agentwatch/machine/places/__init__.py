"""Finds the sessions of all agents on disk: where they lie, and what the files beside them say about them.

Folders are scanned again when their modification time has changed. No link is followed, nothing is written,
and of the files only those are opened that hold a session or describe one.
"""

from agentwatch.machine.places.candidates import Changes
from agentwatch.machine.places.places import Places

__all__ = ["Changes", "Places"]
