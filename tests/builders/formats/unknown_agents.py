"""Streams of JSON lines that no known agent writes."""

from tests.builders.lines import line

HELLO = line({"ev": "hello", "version": 1})
_VERSION = "2025-06-18"
FOREIGN = line({"type": "greeting", "session_id": "s-1", "words": "Good morning."})
"""A line that no known agent writes, with the fields that most have."""

STREAMS = {
    "another agent": HELLO + line({"ev": "say", "text": "Hm."}) + line({"ev": "bye", "ok": True}),
    "other types": FOREIGN + line({"type": "action", "session_id": "s-1", "do": "ls"}),
    "tools by JSON-RPC": b"".join(
        (
            line(
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": _VERSION}}
            ),
            line({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": _VERSION, "tools": {}}}),
            line({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read"}}),
        )
    ),
    "a language server": line(
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"processId": 7}}
    ),
    "a log": line({"level": 30, "time": 1531171074631, "pid": 657, "msg": "listening"}),
    "spans": line({"name": "chat", "trace_id": "0af7", "span_id": "b7ad", "attributes": {}}),
    "a server's bus": line({"id": "e-1", "type": "server.connected", "properties": {}}),
    "messages alone": line({"role": "user", "content": [{"type": "text", "text": "List."}]}),
}
"""Whole streams, by what writes them."""
