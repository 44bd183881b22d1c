"""Recordings with many texts in every place where foreign text can occur, each with its mark.

A mark is a letter for the place around the number of the text, `c12c`; it shows which text was drawn where.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tests.builders.lines import answered, completed, event, final, init, result, started, thought, user

_MARK = re.compile(rb"([a-z])(\d+)\1")
_MARKDOWN = ("# {0}\n", "- {0} **{0}**\n", "```{1}\n{0}\n```\n", "|{0}|b|\n|-|-|\n|c|{0}|\n")

SAID = "abcde"
"""The places of `said`: prompt, thought, answer, notice, malformed line."""
CALLED = "hijk"
"""The places of `called`: command, error, tool, file."""
DETAILED = ("l", "no", "q", "r", "s", "uv")
"""The places of each call of `detailed`."""


def mark(place: str, texts: Iterable[str]) -> list[str]:
    return [f"{place}{number}{place}{text}" for number, text in enumerate(texts)]


def marks_in(shown: bytes) -> set[tuple[str, int]]:
    """Return the place and number of each text that is shown at least in part."""
    return {(place.decode(), int(number)) for place, number in _MARK.findall(shown)}


def marks_of(places: str, texts: Sequence[str]) -> set[tuple[str, int]]:
    """Return the marks of texts in several places."""
    return {(place, number) for place in places for number in range(len(texts))}


def said(texts: Sequence[str]) -> bytes:
    """Return the beginning of a run with each text as prompt, thought, answer, notice and odd line."""
    asked, thoughts, answers, notices, lines = (mark(place, texts) for place in SAID)
    found = [init(), user("\n".join(asked)), thought("\n".join(thoughts))]
    for number, text in enumerate(texts):
        notice = notices[number]
        noticed = event(notice, text), event("connection", notice), answered({text: {"reason": notice}})
        found.append(final(_MARKDOWN[number % 4].format(answers[number], text[:8])))
        found.append(noticed[number % 3])
        found.append(lines[number].encode("utf-8", "surrogatepass") + b"\n")
    return b"".join(found)


def called(texts: Sequence[str]) -> bytes:
    """Return two calls per text: it is command and error of one, and tool, file and result of the other."""
    commands, errors, tools, files = (mark(place, texts) for place in CALLED)
    found = []
    for number, text in enumerate(texts):
        command, failure = commands[number], {"failure": {"stderr": errors[number]}}
        found.append(started("shell", f"shell {number}", command=command))
        found.append(completed("shell", f"shell {number}", failure, command=command))
        tool, path = tools[number], files[number]
        found.append(started(tool, f"{text}{number}", path=path))
        found.append(completed(tool, f"{text}{number}", {text or "odd": {"why": text}}, path=path))
    return b"".join(found)


def detailed(texts: Sequence[str]) -> bytes:
    """Return a call for each section of the detail pane, with all texts in each."""
    [keys], [stdout, stderr], [lines], [content], [errors], [prompts, reasons] = (
        [mark(place, texts) for place in places] for places in DETAILED
    )
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n" + "\n".join(f"{'-+ @'[n % 4]}{text}" for n, text in enumerate(lines))
    output = {"exitCode": 1, "stdout": "\n".join(stdout), "stderr": "\n".join(stderr)}
    ends: list[tuple[str, dict[str, Any], Any]] = [
        ("shell", dict(zip(keys, texts, strict=True)), {"success": {"exitCode": 0}}),
        ("shell", {"command": "x"}, {"failure": output}),
        ("edit", {"path": "x"}, {"success": {"diffString": diff}}),
        ("read", {"path": "x"}, {"success": {"content": "\n".join(content)}}),
        ("mcp", {"name": "x"}, {"error": {"error": "\n".join(errors)}}),
        ("task", {"prompt": "\n".join(prompts)}, {"rejected": {"reason": "\n".join(reasons)}}),
    ]
    return b"".join(
        started(tool, f"detail {n}", 0, **arguments) + completed(tool, f"detail {n}", outcome, 1, **arguments)
        for n, (tool, arguments, outcome) in enumerate(ends)
    )


def facts(row: str) -> bytes:
    """Return the beginning of a run with a text as every fact and as its running command."""
    begun = init(row, session_id=row, model=row, permissionMode=row, apiKeySource=row)
    return begun + started("shell", "running", command=row)


def failed(text: str) -> bytes:
    """Return the result of a run that failed with a text."""
    return result(text, is_error=True, subtype=text, request_id=text)


def all_of(texts: Sequence[str]) -> bytes:
    """Return a session that fails, with every text in every field."""
    row = " ".join(texts)
    return init(row, model=row) + said(texts) + called(texts) + detailed(texts) + failed("\n".join(texts))
