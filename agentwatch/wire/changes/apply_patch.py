"""Reads the patches of the tool `apply_patch`, which Codex and other agents use.

The grammar is that of `codex-rs/apply-patch/src/parser.rs`: `*** Begin Patch`, then for each file
`*** Add File:`, `*** Delete File:` or `*** Update File:` with its lines, then `*** End Patch`.
"""

from __future__ import annotations

from agentwatch.wire.changes.file_change import ChangeKind, FileChange

_BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_FILES = {
    "*** Add File: ": ChangeKind.ADD,
    "*** Delete File: ": ChangeKind.DELETE,
    "*** Update File: ": ChangeKind.UPDATE,
}
_MOVE = "*** Move to: "
_END_OF_FILE = "*** End of File"
_COMMANDS = ("apply_patch", "applypatch")


def patched_files(patch: str) -> list[FileChange]:
    """Return the changes of a patch, one for each file, with their unified diffs.

    A patch without its end, of a line that was only partly read, has the files up to there. The tool
    tolerates spaces around its marks, and a here-document around the patch.

    Example:
        >>> patched_files("*** Begin Patch\\n*** Add File: a.py\\n+x\\n*** End Patch")[0].diff
        '--- /dev/null\\n+++ a.py\\n@@ -0,0 +1 @@\\n+x'
    """
    found: list[FileChange] = []
    path, kind, moved_to = "", ChangeKind.UPDATE, None
    lines: list[str] = []
    has_begun = False
    for raw in patch.split("\n"):
        line = raw.removesuffix("\r")
        if not has_begun:
            has_begun = line.strip() == _BEGIN
            continue
        is_end = line.strip() == _END
        mark = None if is_end else next((each for each in _FILES if line.strip().startswith(each)), None)
        if (is_end or mark is not None) and path:
            found.append(_change(path, kind, moved_to, lines))
        if is_end:
            return found
        if mark is not None:
            path, kind, moved_to = line.strip().removeprefix(mark), _FILES[mark], None
            lines = []
        elif line.startswith(_MOVE):
            moved_to = line.removeprefix(_MOVE).strip()
        elif line.strip() != _END_OF_FILE:
            lines.append(line)
    return [*found, _change(path, kind, moved_to, lines)] if path else found


def patch_in_command(command: str) -> str | None:
    """Return the patch that a shell command passes to `apply_patch`; None if it runs something else.

    Example:
        >>> patch_in_command("apply_patch <<'EOF'\\n*** Begin Patch\\n*** End Patch\\nEOF")[:15]
        '*** Begin Patch'
    """
    begin = command.find(_BEGIN)
    before = command[:begin].lstrip() if begin >= 0 else ""
    words = before.rpartition("&&")[2].split(None, 1)
    if not words or words[0] not in _COMMANDS:
        return None
    return command[begin:]


def _change(path: str, kind: ChangeKind, moved_to: str | None, lines: list[str]) -> FileChange:
    if kind is ChangeKind.DELETE:
        return FileChange(path, kind)
    body = [line or " " for line in lines]  # an empty line stands for an empty line of context
    added = sum(line.startswith("+") for line in body)
    if kind is ChangeKind.ADD:
        head = f"@@ -0,0 +1{'' if added == 1 else f',{added}'} @@"
        body = [head, *(line for line in body if line.startswith("+"))] if added else []
        diff = "\n".join(["--- /dev/null", f"+++ {path}", *body])
        return FileChange(path, kind, diff, added, 0)
    while body and not body[-1].strip():
        body.pop()
    diff = "\n".join([f"--- {path}", f"+++ {moved_to or path}", *body])
    return FileChange(path, kind, diff, added, sum(line.startswith("-") for line in body), moved_to or None)
