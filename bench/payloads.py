"""What calls are given and give back in a generated session: files, diffs, output, matches.

Everything is escaped once, so that a session of a gigabyte is put together by joining.
"""

from __future__ import annotations

import json
from random import Random
from typing import NamedTuple

CWD = "/home/ada/src/tidepool"

_PROSE = (
    "the parser reads each line of a file and returns what it knows then the test compares both before "
    "anything is written because order matters when two calls end at once so join cache index widget stream "
    "buffer handler value lookup session result status build module import function path token error is not"
)
_WORDS = _PROSE.split()
_WIDE = ("—", "→", "naïve", "Größe", "日本語", "Σx²", "привет", "한국어", "🙂", "“so”", "✓", "اختبار")
_CODE = (
    "def {0}({1}: str, {2}: int = 0) -> None:",
    "    return {0}[{1}] + {2}",
    "    if {0} is None or {1} > 0:",
    '        raise ValueError(f"no {0}: {{{1}!r}}")',
    "from {0}.{1} import {2}",
    "",
    "# {0} {1} {2}",
    "    self.{0} = {1}('{2}\\n')",
    "\t{0} := {1}.{2}()",
    "const {0} = ({1}) => {{ return {2}; }};",
    "\x1b[32mPASSED\x1b[0m tests/test_{0}.py::test_{1}_{2}",
    "C:\\src\\{0}\\{1}.{2}",
)
_SUFFIXES = ("py", "ts", "rs", "go", "md", "toml")


class Body(NamedTuple):
    """What stands in `tool_call` for one tool, as JSON: when it starts, and when it has ended."""

    started: str
    completed: str


class Payloads:
    """Texts and calls to choose from, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._lines = [self._code_line() for _ in range(3000)]
        self._paths = [f"{CWD}/{self._word()}/{self._word()}.{self._one(_SUFFIXES)}" for _ in range(600)]

    def pieces(self, count: int, shortest: int, longest: int) -> list[str]:
        """Return consecutive pieces of one Markdown text, each a JSON string without its quotes."""
        prose = self._prose(count * (shortest + longest) // 2 + count)
        sizes = [shortest + int(self._random.random() * (longest - shortest + 1)) for _ in range(count)]
        found, start = [], 0
        for size in sizes:
            found.append(_escaped(prose[start : start + size] or "so "))
            start += size
        return found

    def typical_bodies(self, count: int = 600) -> list[Body]:
        """Return calls as agents make them: of ten, four read, two run a command, two edit."""
        makers = (
            *(self._read, self._read, self._read, self._read, self._shell, self._shell),
            *(self._edit, self._edit, self._grep, self._small),
        )
        return [makers[number % len(makers)]() for number in range(count)]

    def small_bodies(self, count: int = 200) -> list[Body]:
        """Return calls whose payload is a few hundred bytes."""
        return [self._small() for _ in range(count)]

    def large_bodies(self, size: int, count: int = 4) -> list[Body]:
        """Return calls that read a file of so many bytes."""
        return [self._read(size) for _ in range(count)]

    def _one(self, choices: tuple[str, ...] | list[str]) -> str:
        return choices[int(self._random.random() * len(choices))]

    def _between(self, least: int, most: int) -> int:
        """Return a number of which small ones are as likely as large ones, by magnitude."""
        return int(least * (most / least) ** self._random.random())

    def _word(self) -> str:
        return self._one(_WORDS)

    def _code_line(self) -> str:
        words = [self._one(_WIDE) if self._random.random() < 0.02 else self._word() for _ in range(3)]
        return self._one(_CODE).format(*words)

    def _code(self, size: int) -> str:
        """Return lines of code of about so many characters."""
        count = max(size // 24, 1)
        return "\n".join(self._random.choices(self._lines, k=count))[:size]

    def _prose(self, size: int) -> str:
        """Return Markdown of about so many characters: paragraphs, lists, code."""
        found: list[str] = []
        length = 0
        while length < size:
            words = [self._one(_WIDE) if self._random.random() < 0.02 else self._word() for _ in range(9)]
            words[3] = f"`{words[3]}`"
            end = self._random.random()
            if end < 0.25:
                ending = ".\n\n"
            elif end < 0.35:
                ending = ":\n\n- "
            elif end < 0.38:
                ending = f":\n\n```python\n{self._code(200)}\n```\n\n"
            else:
                ending = ". "
            found.append(" ".join(words) + ending)
            length += len(found[-1])
        return "".join(found)

    def _read(self, size: int = 0) -> Body:
        content = self._code(size or self._between(1200, 32_000))
        path, lines = self._one(self._paths), content.count("\n") + 1
        success = {
            "content": content,
            "isEmpty": False,
            "exceededLimit": False,
            "totalLines": lines,
            "fileSize": len(content),
            "path": path,
            "readRange": {"startLine": 1, "endLine": lines},
            "relatedCursorRulePaths": [],
            "relatedCursorRules": [],
        }
        return _body("read", {"path": path}, {"success": success})

    def _shell(self) -> Body:
        command = f"pytest -q tests/test_{self._word()}.py | tail -n {self._between(2, 99)}"
        output = self._code(self._between(80, 16_000))
        has_failed = self._random.random() < 0.2
        arguments = {
            "command": command,
            "workingDirectory": "",
            "timeout": 120_000,
            "simpleCommands": ["pytest", "tail"],
            "isBackground": False,
            "description": f"Run the tests of {self._word()}",
        }
        outcome = {
            "command": command,
            "workingDirectory": "",
            "exitCode": 1 if has_failed else 0,
            "signal": "",
            "stdout": output,
            "stderr": self._code(60) if has_failed else "",
            "executionTime": self._between(3, 9999),
            "interleavedOutput": output,
        }
        return _body("shell", arguments, {"failure" if has_failed else "success": outcome})

    def _edit(self) -> Body:
        path = self._one(self._paths)
        before = self._code(self._between(600, 12_000)).split("\n")
        changed = [self._one(self._lines) for _ in range(self._between(2, 30))]
        at = int(self._random.random() * len(before))
        after = before[:at] + changed + before[at + 1 :]
        removed, added = f"-{before[at]}\n", "".join(f"+{line}\n" for line in changed)
        success = {
            "path": path,
            "linesAdded": len(changed),
            "linesRemoved": 1,
            "diffString": f"@@ -{at},1 +{at},{len(changed)} @@\n{removed}{added}",
            "beforeFullFileContent": "\n".join(before),
            "afterFullFileContent": "\n".join(after),
            "message": f"The file {path} has been updated.",
        }
        return _body("edit", {"path": path, "streamContent": "\n".join(changed)}, {"success": success})

    def _grep(self) -> Body:
        pattern, count = self._word(), self._between(1, 60)
        matches = [
            {"lineNumber": number * 7 + 1, "content": self._one(self._lines), "isContextLine": False}
            for number in range(count)
        ]
        found = {
            "matches": [{"file": self._one(self._paths), "matches": matches}],
            "totalLines": count,
            "totalMatchedLines": count,
            "clientTruncated": False,
            "ripgrepTruncated": False,
        }
        success = {
            "pattern": pattern,
            "path": CWD,
            "outputMode": "content",
            "workspaceResults": {CWD: {"content": found}},
        }
        return _body("grep", {"pattern": pattern, "path": CWD, "outputMode": "content"}, {"success": success})

    def _small(self) -> Body:
        if self._random.random() < 0.1:
            rejected = {"reason": "Not approved in this mode"}
            return _body("webFetch", {"url": f"https://example.org/{self._word()}"}, {"rejected": rejected})
        files = [self._one(self._paths).removeprefix(f"{CWD}/") for _ in range(self._between(1, 8))]
        success = {
            "pattern": "",
            "path": "",
            "files": files,
            "totalFiles": len(files),
            "clientTruncated": False,
            "ripgrepTruncated": False,
        }
        return _body("glob", {"globPattern": f"**/{self._word()}*.py"}, {"success": success})


def command_body(command: str) -> Body:
    """Return a call that ran a command without a word of output."""
    success = {"command": command, "exitCode": 0, "signal": "", "stdout": "", "stderr": ""}
    return _body("shell", {"command": command, "workingDirectory": ""}, {"success": success})


def compact(value: object) -> str:
    """Return JSON as the agent writes it: no blanks, and nothing escaped that need not be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _body(tool: str, arguments: dict[str, object], result: dict[str, object]) -> Body:
    name, args = f'"{tool}ToolCall"', compact(arguments)
    again = "" if "rejected" in result else f'"args":{args},'
    return Body(f'{name}:{{"args":{args}}}', f'{name}:{{{again}"result":{compact(result)}}}')


def _escaped(text: str) -> str:
    return compact(text)[1:-1]
