"""What a call reads of a file of secrets is masked, in the format of each agent."""

import json
from random import Random
from typing import Any

from agentwatch.output.redact.secrets.scanner import find
from tests.builders.redaction.templates import planted
from tests.conftest import case
from tests.output.redact.redacting import redacted_bytes

Row = dict[str, Any]
KEY = planted("«<hex:31>7»", Random(5)).text


def lines(rows: list[Row]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def calls(path: str, shown: str) -> dict[str, list[Row]]:
    """Return a call that reads a file and its result, as agents write them."""
    command = f"cat {path}"
    output = {"output": f"{shown}\n", "metadata": {"exit_code": 0}}
    item = {"id": "item_3", "type": "command_execution", "command": f"bash -lc '{command}'"}
    update = {
        "toolCallId": "t-17",
        "content": [{"type": "content", "content": {"type": "text", "text": shown}}],
    }
    read = {"type": "tool_use", "id": "toolu_01", "name": "Read", "input": {"file_path": f"/w/{path}"}}
    file = {"file_path": f"/w/{path}", "content": shown}
    write = {"type": "tool_use", "id": "toolu_02", "name": "Write", "input": file}
    arguments = json.dumps({"cmd": command})
    numbered = "\n".join(f"     {number}→{line}" for number, line in enumerate(shown.split("\n"), 1))
    return {
        "claude": [
            {"type": "assistant", "message": {"content": [read]}},
            {
                "type": "user",
                "message": {
                    "content": [{"tool_use_id": "toolu_01", "type": "tool_result", "content": numbered}]
                },
            },
        ],
        "claude, written": [
            {"type": "assistant", "message": {"content": [write]}},
        ],
        "cursor": [
            {
                "type": "tool_call",
                "call_id": "c1-x",
                "tool_call": {
                    "readToolCall": {"args": {"path": path}, "result": {"success": {"content": shown}}}
                },
            },
        ],
        "codex": [
            {"payload": {"type": "function_call", "arguments": arguments, "call_id": "call_1"}},
            {"payload": {"type": "function_call_output", "call_id": "call_1", "output": json.dumps(output)}},
        ],
        "codex exec": [
            {"type": "item.started", "item": {**item, "aggregated_output": ""}},
            {"type": "item.completed", "item": {**item, "aggregated_output": f"{shown}\n"}},
        ],
        "gemini": [
            {"type": "tool_use", "tool_id": "read-1", "parameters": {"absolute_path": f"/w/{path}"}},
            {"type": "tool_result", "tool_id": "read-1", "output": shown},
        ],
        "acp": [
            {"params": {"update": {"toolCallId": "t-17", "locations": [{"path": f"/w/{path}"}]}}},
            {"params": {"update": update}},
        ],
    }


FILES: list[tuple[str, str, str]] = [
    ("config/master.key", "{}", KEY),
    ("config/credentials/production.key", "{}", KEY),
    (".vault-token", "{}", "tul9x4be2"),
    ("run/secrets/db", "{}", "swordfish"),
    (".pgpass", "db.h:5432:app:ada:{}", "tulpen9x"),
    (".htpasswd", "ada:{}", "tulpen9x"),
    (".npmrc", "registry=https://registry.npmjs.org/\n//npm.h/:_thing={}", "tulpen9x4b"),
    (".ssh/id_rsa", "{0}\n{0}", planted("«<b64:62>Z9»", Random(1)).text),
]


def test_the_content_of_a_file_of_secrets_is_masked() -> None:
    """The lines of a key, a token or a password are masked in the result of the call that reads the file."""
    for path, shown, secret in FILES:
        for name, rows in calls(path, shown.format(secret)).items():
            with case(f"{path} {name}"):
                written, report = redacted_bytes(lines(rows))
                assert secret.encode() not in written
                assert report.secrets["key file"] > 0
                assert path.encode() in written
    # A hash in the result of a call that reads another file is not masked, also beside a file of secrets. The
    # lines that a command prints are found, to the next prompt.
    other = calls("config/routes.rb", KEY)
    keys = calls("config/master.key", "words of a message")
    for name in other:
        with case(name):
            rows = [*keys[name], {"type": "between"}]
            renamed = json.loads(
                json.dumps(other[name])
                .replace("toolu_0", "toolu_9")
                .replace("c1-x", "c9-x")
                .replace("call_1", "call_9")
                .replace("item_3", "item_9")
                .replace("read-1", "read-9")
                .replace("t-17", "t-99")
            )
            data = lines([*rows, *renamed])
            assert redacted_bytes(data)[0] == data
    text = f"$ cat config/master.key\n{KEY}\n$ sha1sum x\n{KEY[::-1]}  x\n"
    assert [text[each.start : each.end] for each in find(text)] == [KEY]
