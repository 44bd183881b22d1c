"""The facts about the run that most lines of an agent's own file repeat."""

from __future__ import annotations

from agentwatch.events import RunInfo
from agentwatch.wire.fields import Fields, text


class Facts:
    """The present session, folder, version, permission mode and model."""

    def __init__(self) -> None:
        self._present = RunInfo()
        self.folder = ""
        """The first working directory, without a trailing separator: paths are shown relative to it."""

    def new(self, fields: Fields, model: str | None = None) -> RunInfo | None:
        """Return the facts of a line that differ from those before; None without any.

        A resumed session may begin with the lines of an earlier one, so its id may change.

        Args:
            fields: The line.
            model: The model that it names.
        """
        found = RunInfo(
            session_id=text(fields, "sessionId"),
            model=model,
            cwd=text(fields, "cwd"),
            permission_mode=text(fields, "permissionMode"),
            agent_version=text(fields, "version"),
        )
        if found == self._present:
            return None
        changed = {
            name: value
            for name, value in found._asdict().items()
            if value is not None and value != getattr(self._present, name)
        }
        if not changed:
            return None
        self._present = self._present._replace(**changed)
        self.folder = self.folder or (found.cwd or "").rstrip("/\\")
        return RunInfo(**changed)
