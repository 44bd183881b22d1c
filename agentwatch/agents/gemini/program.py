"""The Gemini CLI beside its formats. Source: the vendor's documentation and code, and its folders."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.description_files import first_text, folder_in, id_in, json_object
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file, owns
from agentwatch.agents.program import (
    NO_CALLS,
    TIMEOUT_S,
    Command,
    HookedAgent,
    Knowledge,
    McpClient,
    Mode,
    Program,
    Resume,
    SessionsAt,
    opens,
)
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry
from agentwatch.recording.head_tail import first_bytes

if TYPE_CHECKING:
    from agentwatch.sources.stores.lines import Store


_MOST_BELOW = 1000


def _with_subagents(path: Path, head: bytes) -> Store | None:
    if path.suffix != ".jsonl" or b'"projectHash"' not in head:
        return None
    from agentwatch.agents.description_files import id_in, text_with
    from agentwatch.agents.subagents import open_session
    from agentwatch.recording.store import within

    is_main = path.name.startswith("session-")
    chats = path.parent if is_main else path.absolute().parents[1]
    session = (id_in(text_with(head, "sessionId")) if is_main else None) or path.stem

    def folders(_path: Path) -> list[Path]:
        found = {session: within(chats, session)}
        for folder in (queue := [*found.values()]):
            for each in () if folder is None else sorted(folder.glob("*.jsonl"))[:_MOST_BELOW]:
                if each.stem not in found and len(found) < _MOST_BELOW:
                    queue.append(found.setdefault(each.stem, within(chats, each.stem)))
        return [each for each in found.values() if each is not None]

    return open_session(path, folders)


_SPACES = b" \t\r\n\xef\xbb\xbf"


def is_document(path: Path, head: bytes) -> bool:
    """Return whether a chat is one document. It may be named as a file of lines: its first line is a lone
    brace then, or has the messages, which a line never has."""
    start = head.lstrip(_SPACES)
    if path.suffix not in (".json", ".jsonl") or not start.startswith(b"{"):
        return False
    if path.suffix == ".jsonl":
        first = start.partition(b"\n")[0].rstrip()
        is_lines = first != b"{" and b'"messages"' not in first
        if is_lines or b'"projectHash"' not in head:
            return False
    return b'"sessionId"' in head and b'"messages"' in head


_FIRST = ("Now ", "Now, ", "Next, ", "First, ", "Then, ")
_ANNOUNCING = (
    *("I will ", "I'll ", "I\u2019ll ", "I must ", "I need to "),
    *("I am going to ", "I'm going to ", "I\u2019m going to ", "Let me "),
)
_DOING = re.compile(r"I ([a-z]+)(?=[ .]|$)")
_NOT_DOING = frozenset(
    {"also", "already", "am", "can", "cannot", "could", "did", "do", "had", "have", "just", "may"}
    | {"might", "now", "should", "was", "would", "agree", "appreciate", "apologize", "assume", "believe"}
    | {"expect", "hope", "know", "notice", "recommend", "see", "suggest", "think", "understand", "want"}
    | {"wish", "began", "built", "chose", "came", "found", "gave", "got", "kept", "left", "made", "put"}
    | {"ran", "read", "saw", "set", "took", "went", "wrote"}
)
"""Words after `I` with which an answer says what it thinks, or has done."""
_SENTENCE_ENDS = (". ", "! ", "? ", "\n")


def _announces(answer: str) -> bool:
    """Its instructions demand a sentence before each call: "Explain Before Acting"."""
    answer = answer.strip()
    begin = max(answer.rfind(end) + len(end) if end in answer else 0 for end in _SENTENCE_ENDS)
    sentence = answer[begin:].lstrip("*-# ")
    for word in _FIRST:
        sentence = sentence.removeprefix(word)
    if sentence.endswith("?") or sentence.startswith("Let me know"):
        return False
    if sentence.startswith(_ANNOUNCING) or sentence.endswith(":"):
        return True
    word = found[1] if (found := _DOING.match(sentence)) else ""
    return bool(word) and word not in _NOT_DOING and not word.endswith(("ed", "ly"))


def _keeps(path: Path, cwd: str) -> bool:
    """Older versions name the folder by the hash of the directory. The file beside it that names the
    directory lies where the agent may write."""
    from hashlib import sha256  # takes 2 ms to import

    slug = path.parents[1].name
    return len(slug) != 2 * sha256().digest_size or slug == sha256(os.fsencode(cwd)).hexdigest()


_MODES = {
    "plan": "it plans, and changes nothing",
    "default": "what needs a permission is refused",
    "auto_edit": "files are edited without a question; what else needs a permission is refused",
    "yolo": "everything runs without a question",
}


_MANIFEST = {
    "name": "agentwatch",
    "version": "1.0.0",
    "description": "Notes the state of each session for agentwatch. Installed by `agentwatch hooks install`.",
}
HOOKS = HookedAgent(
    "gemini",
    "Gemini CLI",
    "GEMINI_CLI_HOME",
    ".gemini",
    "extensions/agentwatch/hooks/hooks.json",
    ("BeforeAgent", "BeforeTool", "Notification", "AfterTool", "AfterAgent", "SessionEnd"),
    is_nested=True,
    timeout=TIMEOUT_S * 1000,
    note="Gemini CLI loads extensions when it starts: restart it, and type /extensions list",
    manifest=("gemini-extension.json", _MANIFEST),
)
"""Source: docs/hooks/reference.md and docs/extensions/reference.md of the Gemini CLI (October 2026). Other
people report that hooks in settings.json did not fire in version 0.52. Run with the Gemini CLI 0.61.0."""


# The files: tmp/SLUG/chats/session-TIME-ID.jsonl, before that one JSON document each.
# The lines have no working directory. The folder SLUG has it in `.project_root`, or `projects.json` names the
# slug of each working directory. In older versions the slug is the SHA-256 of the working directory.

_MOST_PATH = 4096
_MOST_PROJECTS = 10_000
_SUFFIXES = (".jsonl", ".json")


def chats() -> Kind:
    return _Chats().kind


class _Chats:
    """Reads the sessions of Gemini, and remembers the working directory of each folder."""

    def __init__(self) -> None:
        self._cwds: dict[str, str] = {}
        self._projects: tuple[str, object, dict[str, str]] = ("", None, {})
        """The last `projects.json`: its path, its modification time, and the directories by their slugs."""
        subagents = Kind("gemini", owns(_SUFFIXES), self._subagent, cools_after_s=HOUR_S)
        chats = Kind("gemini", owns(_SUFFIXES, "session-"), self._session, below=any_folder(subagents))
        self.kind = Kind("gemini", below=any_folder(Kind("gemini", below={"chats": chats}.get)))

    def _session(self, spot: Spot) -> list[SessionEntry]:
        stamp, previous = spot.stamp, spot.previous
        if previous and stamp is not None and previous[0].inode == stamp.inode:
            session_id = previous[0].id
        else:
            session_id = id_in(first_text(spot.path, "sessionId")) or os.path.splitext(spot.name)[0]
        return self._one(spot, session_id, spot.folder.parent())

    def _subagent(self, spot: Spot) -> list[SessionEntry]:
        stem = os.path.splitext(spot.name)[0]
        return self._one(spot, stem, spot.folder.parent(2), spot.folder.name)

    def _one(self, spot: Spot, session_id: str, slug: str, parent: str | None = None) -> list[SessionEntry]:
        metadata = Metadata(cwd=self._cwd(slug))
        reach = Reach.STORE if spot.name.endswith(".json") else Reach.LINES
        return one_file(spot, session_id, parent=parent, metadata=metadata, reach=reach)

    def _cwd(self, slug: str) -> str | None:
        cwd = self._cwds.get(slug)
        if cwd is None:
            written = first_bytes(os.path.join(slug, ".project_root"), _MOST_PATH)
            cwd = folder_in(written.decode("utf-8", "replace").strip())
            cwd = self._by_slug(os.path.dirname(os.path.dirname(slug))).get(os.path.basename(slug), cwd)
            if cwd is not None:
                self._cwds[slug] = cwd
        return cwd

    def _by_slug(self, root: str) -> dict[str, str]:
        path = os.path.join(root, "projects.json")
        changed = None
        with suppress(OSError, ValueError):
            changed = os.lstat(path).st_mtime_ns
        if self._projects[:2] != (path, changed):
            projects = json_object(path).get("projects") if changed is not None else None
            pairs = list(projects.items())[:_MOST_PROJECTS] if isinstance(projects, dict) else []
            known = {slug: cwd for cwd, slug in pairs if isinstance(slug, str) and folder_in(cwd)}
            from hashlib import sha256  # takes 2 ms to import

            hashed = {sha256(cwd.encode()).hexdigest(): cwd for cwd in known.values()}
            self._projects = (path, changed, hashed | known)
        return self._projects[2]


PROGRAM = Program(
    name="gemini",
    sessions=(
        SessionsAt(
            "tmp",
            ("$GEMINI_CLI_HOME/.gemini", "~/.gemini"),
            chats,
            "${GEMINI_CLI_HOME:-$HOME}/.gemini",
        ),
    ),
    file_format="gemini-chat",
    command=Command(
        names=("gemini",),
        packages=("@google/gemini-cli",),
        one_prompt=frozenset({"-p", "--prompt"}),
        several_prompts=frozenset({"--acp", "--experimental-acp"}),
        # `✋  Action Required (folder)`, `✦  Working… (folder)` and, after a silence, `⏲  Working… (folder)`,
        # unless its settings leave the title alone
        titles={"\u270b": "asks", "\u2726": "working", "\u23f2": "working"},
    ),
    knowledge=Knowledge(
        NO_CALLS,
        has_calls=False,
        ends_in_silence=True,
        announces=_announces,
        never_asks=frozenset({"-y", "--yolo", "--approval-mode=yolo", "yolo"}),
    ),
    hooks=HOOKS,
    stores=(opens("agentwatch.agents.gemini.json_chat:GeminiJson", is_document), _with_subagents),
    resume=Resume(
        ("gemini", "--output-format", "stream-json", "{mode}", "--resume", "{id}", "--prompt={text}"),
        "gemini --resume",
        modes=tuple(Mode(name, words, (f"--approval-mode={name}",)) for name, words in _MODES.items()),
        asking="default",
        keeps=_keeps,
    ),
    published_name="gemini-cli",
    mcp=McpClient(
        "Gemini CLI",
        ("$GEMINI_CLI_HOME/.gemini/settings.json", "~/.gemini/settings.json"),
        "gemini mcp add --scope user {env}agentwatch",
    ),
)
"""Gemini CLI writes a call only when all calls of its step have ended."""
