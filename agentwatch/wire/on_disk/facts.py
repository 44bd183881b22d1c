"""The facts about the run that most lines of an agent's own file repeat."""

from __future__ import annotations

from agentwatch.events import RunInfo
from agentwatch.wire.fields import Fields, text

_ONE_LINER = "sdk-cli"
"""The entry point of Claude Code if another program starts it for one prompt, with `-p`."""


class Facts:
    """The present session, folder, branch, version, permission mode and model."""

    def __init__(self) -> None:
        self._session_id: object = None
        self._cwd: object = None
        self._branch: object = None
        self._version: object = None
        self._mode: object = None
        self._model: object = None
        self.folder = ""
        """The first working directory, without a trailing separator: paths are shown relative to it."""

    def new(self, fields: Fields, model: str | None = None) -> RunInfo | None:
        """Return the facts of a line that differ from those before; None without any.

        A resumed session may begin with the lines of an earlier one, so its id may change.

        Args:
            fields: The line.
            model: The model that it names.
        """
        get = fields.get  # called for each line; very few differ from the line before
        session_id, cwd, version = get("sessionId"), get("cwd"), get("version")
        mode, branch = get("permissionMode"), get("gitBranch")
        if (
            (session_id is None or session_id == self._session_id)
            and (cwd is None or cwd == self._cwd)
            and (version is None or version == self._version)
            and (mode is None or mode == self._mode)
            and (model is None or model == self._model)
            and (not branch or branch == self._branch)
        ):
            return None
        self._session_id, self._cwd = session_id or self._session_id, cwd or self._cwd
        self._version, self._mode = version or self._version, mode or self._mode
        self._model, self._branch = model or self._model, branch or self._branch
        found = RunInfo(
            session_id=text(fields, "sessionId"),
            model=model,
            cwd=text(fields, "cwd"),
            permission_mode=text(fields, "permissionMode"),
            agent_version=text(fields, "version"),
            branch=text(fields, "gitBranch"),
            is_one_liner=get("entrypoint") == _ONE_LINER,
        )
        self.folder = self.folder or (found.cwd or "").rstrip("/\\")
        return found
