"""A model server on the loopback that plays the script, in the four protocols that agents speak.

It keeps no conversation: the step follows from the request. `truth` has each answer with its time.
"""

import gzip
import json
import re
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tests.real.script import SCENARIOS, Played, Step, Tools, Usage, can_play, place, played, usage

Json = dict[str, Any]
Message = tuple[bool, str, bool]
_NAME = "mock-model"
_ids = count(1)


class Answer(NamedTuple):
    """What the model answers to one request."""

    scenario: str | None
    step: int
    text: str
    calls: list[tuple[str, Played]]
    """Each with its id."""
    usage: Usage
    script: Step


class ScriptedModel:
    """The server, and what it has played."""

    def __init__(self, work: Path, port: int, log: Path | None) -> None:
        self.work = work
        self.truth: list[Json] = []
        self.refusals = 0
        self._log = log
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Request)
        self._server.model = self
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def note(self, what: str, **fields: Any) -> None:
        """Keep an event of the truth, with its time in seconds."""
        entry = {"t": round(time.time(), 3), "what": what, **fields}
        with self._lock:
            self.truth.append(entry)
            if self._log:
                with self._log.open("a") as log:
                    log.write(json.dumps(entry) + "\n")

    def steps(self, scenario: str) -> list[Json]:
        """Return the answers of a scenario, in their order."""
        return [each for each in self.truth if each["what"] == "step" and each["scenario"] == scenario]

    def answer(self, messages: list[Message], tools: Tools, body: Json) -> Answer:
        """Return the next answer of a conversation, and keep it as the truth.

        A request without tools is one of the agent's own, such as the one for a title. An agent that runs no
        commands gets no calls.
        """
        scenario, step = place(messages)
        can = (len(tools) > 1 and can_play(tools)) or (tools and scenario == "write")  # it may be forbidden
        if scenario is None or step >= len(SCENARIOS[scenario]) or not can:
            self.note("other", scenario=scenario, step=step, tools=len(tools), usage=usage(0))
            return Answer(None, 0, "A short title", [], usage(0), Step())
        script = SCENARIOS[scenario][step]
        if script.error:
            self.refusals += 1
            if not script.refusals or self.refusals % (script.refusals + 1):
                self.note("refusal", scenario=scenario)
                return Answer(scenario, step, "", [], usage(0), script)
            script = replace(script, error=0)
        found = re.search(re.escape(str(self.work)) + r"/[\w.-]+", json.dumps(body))
        folder = found[0] if found else str(self.work)
        calls = [
            (f"call_s{step}c{at}_{next(_ids)}", played(call, tools, folder, self.url))
            for at, call in enumerate(script.calls)
        ]
        prompts = sum(bool(place([each])[0]) for each in messages)
        more = {"usage": usage(step), "folder": found and found[0], "prompts": prompts}
        self.note("step", scenario=scenario, step=step, calls=[call for _, call in calls], **more)
        return Answer(scenario, step, script.text, calls, usage(step), script)


@contextmanager
def scripted_model(work: Path, port: int = 0, log: Path | None = None) -> Generator[ScriptedModel]:
    """Run a model for agents that work below a folder; `log` gets a JSON line of each answer."""
    model = ScriptedModel(work, port, log)
    try:
        yield model
    finally:
        model.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ScriptedModel


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path.endswith("/models"):
            return self._json({"object": "list", "data": [{"id": _NAME, "object": "model"}], "models": []})
        if path == "/page":
            return self._send(b"<html><body>page text</body></html>", "text/html")
        return self._json({"error": {"message": "not here", "type": "not_found_error"}}, 404)

    def do_POST(self) -> None:
        body, path = self._body(), self.path.split("?")[0]
        with suppress(BrokenPipeError, ConnectionResetError):
            if path.endswith(("/count_tokens", ":countTokens")):
                self._json({"input_tokens": 1000, "totalTokens": 1000})
            elif path.endswith("/messages"):
                self._play(body, *_anthropic(body), _anthropic_events)
            elif path.endswith("/chat/completions"):
                self._play(body, *_chat(body), _chat_events)
            elif path.endswith("/responses"):
                self._play(body, *_responses(body), _responses_events)
            elif "enerateContent" in path:
                self._play(body, *_gemini(body), _gemini_events, whole="streamGenerate" not in path)
            else:
                self._json({})

    def _play(
        self, body: Json, messages: list[Message], tools: Tools, events: Any, *, whole: bool = False
    ) -> None:
        answer = self.server.model.answer(messages, tools, body)
        if status := answer.script.error:
            kind = "api_error" if status >= 500 else "invalid_request_error"
            name = "INTERNAL" if status >= 500 else "INVALID_ARGUMENT"
            error = {"type": kind, "code": status, "status": name, "message": "the scripted model refuses"}
            return self._json({"type": "error", "error": error}, status)
        if whole or (events is not _gemini_events and not body.get("stream")):
            return self._json(_whole(events, answer, body))
        self.send_response(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Connection", "close")):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        for event in events(answer, body):
            head = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{head}data: {data}\n\n".encode())
            self.wfile.flush()
        return None

    def _body(self) -> Json:
        if self.headers.get("Transfer-Encoding") == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        with suppress(ValueError):
            body = json.loads(raw or b"{}")
            if isinstance(body, dict):
                return body
        return {}

    def _json(self, value: Json, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", status)

    def _send(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _words(answer: Answer) -> Iterator[str]:
    """Yield the words of an answer, over the time that it takes; then stay silent as long as it stalls."""
    words = re.findall(r"\S+\s*", answer.text)
    for word in words:
        yield word
        time.sleep(answer.script.seconds / len(words))
    time.sleep(answer.script.stalls)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(_text, content))
    return _text(content.get("text") or "") if isinstance(content, dict) else ""


# Each protocol: the messages and tools of a request, and the events of an answer.


def _anthropic(body: Json) -> tuple[list[Message], Tools]:
    tools = {each["name"]: each["input_schema"] for each in body.get("tools") or () if "input_schema" in each}
    messages = []
    for each in body.get("messages") or ():
        blocks = (
            each["content"]
            if isinstance(each["content"], list)
            else [{"type": "text", "text": each["content"]}]
        )
        has_calls = any(block.get("type") == "tool_use" for block in blocks)
        text = _text([block for block in blocks if block.get("type") == "text"])
        messages.append((each["role"] == "user", text, has_calls))
    return messages, tools


def _anthropic_events(answer: Answer, body: Json) -> Iterator[Json]:
    tokens = answer.usage
    counts = {
        "input_tokens": tokens.uncached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": 1,
    }
    message: Json = {
        "id": f"msg_{next(_ids)}_{time.time_ns()}",
        "type": "message",
        "role": "assistant",
        "content": [],
    }
    message |= {"model": body.get("model"), "stop_reason": None, "stop_sequence": None, "usage": counts}
    yield {"type": "message_start", "message": message}
    index = 0
    if answer.text:
        block: Json = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for word in _words(answer):
            delta = {"type": "text_delta", "text": word}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    for at, (name, call) in enumerate(answer.calls, index):
        block = {"type": "tool_use", "id": name, "name": call.tool, "input": {}}
        yield {"type": "content_block_start", "index": at, "content_block": block}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    stop = {"stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": tokens.output}}
    yield {"type": "message_stop"}


def _chat(body: Json) -> tuple[list[Message], Tools]:
    functions = [each["function"] for each in body.get("tools") or () if each.get("type") == "function"]
    tools = {each["name"]: each.get("parameters") or {} for each in functions}
    return [
        (each["role"] == "user", _text(each.get("content")), bool(each.get("tool_calls")))
        for each in body.get("messages") or ()
    ], tools


def _chat_events(answer: Answer, body: Json) -> Iterator[Json | str]:
    base: Json = {"id": f"chatcmpl-{next(_ids)}-{time.time_ns()}", "object": "chat.completion.chunk"}
    base |= {"created": int(time.time()), "model": body.get("model")}

    def chunk(delta: Json, reason: str | None = None) -> Json:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    for word in _words(answer):
        yield chunk({"content": word})
    calls = [
        {
            "index": at,
            "id": name,
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
        }
        for at, (name, call) in enumerate(answer.calls)
    ]
    if calls:
        yield chunk({"tool_calls": calls})
    yield chunk({}, "tool_calls" if calls else "stop")
    tokens = answer.usage
    counts = {
        "prompt_tokens": tokens.uncached + tokens.cached,
        "completion_tokens": tokens.output,
        "total_tokens": sum(tokens),
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
    }
    yield {**base, "choices": [], "usage": counts}
    yield "[DONE]"


def _responses(body: Json) -> tuple[list[Message], Tools]:
    tools: dict[str, Any] = {}
    for each in body.get("tools") or ():
        for tool in each.get("tools", ()) if each.get("type") == "namespace" else (each,):
            if tool.get("type", "function") in ("function", "custom"):
                tools[tool["name"]] = None if tool.get("type") == "custom" else tool.get("parameters") or {}
    given = body.get("input") or []
    messages: list[Message] = []
    steps: set[str] = set()
    for each in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if each.get("type", "message") == "message":
            messages.append((each.get("role") == "user", _text(each.get("content")), False))
            steps = set() if each.get("role") == "user" else steps
        elif each.get("type") in ("function_call", "custom_tool_call"):
            # The calls of one step are items of their own, between which their outputs may be.
            step = re.sub(r"^call_s(\d+)c.*", r"\1", each.get("call_id", ""))
            messages.append((False, "", step not in steps))
            steps.add(step)
    return messages, tools


def _responses_events(answer: Answer, body: Json) -> Iterator[Json]:
    base = {"id": f"resp_{next(_ids)}_{time.time_ns()}", "object": "response", "model": body.get("model")}
    yield {"type": "response.created", "response": {**base, "status": "in_progress", "output": []}}
    output: list[Json] = []
    if answer.text:
        item: Json = {"type": "message", "id": f"msg_{base['id']}", "role": "assistant", "content": []}
        part: Json = {"type": "output_text", "text": "", "annotations": []}
        at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        yield {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "status": "in_progress"},
        }
        yield {"type": "response.content_part.added", **at, "part": part}
        for word in _words(answer):
            yield {"type": "response.output_text.delta", **at, "delta": word}
        yield {"type": "response.output_text.done", **at, "text": answer.text}
        item |= {"status": "completed", "content": [{**part, "text": answer.text}]}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        output.append(item)
    for index, (name, call) in enumerate(answer.calls, len(output)):
        is_text = isinstance(call.arguments, str)
        kind, key = ("custom_tool_call", "input") if is_text else ("function_call", "arguments")
        value = call.arguments if is_text else json.dumps(call.arguments)
        item = {"type": kind, "id": f"fc_{name}", "call_id": name, "name": call.tool, key: value}
        item |= {"status": "completed"}
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        if not is_text:
            done = {"item_id": item["id"], "output_index": index, "name": call.tool, "arguments": value}
            yield {"type": "response.function_call_arguments.done", **done}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
        output.append(item)
    tokens = answer.usage
    counts = {
        "input_tokens": tokens.uncached + tokens.cached,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sum(tokens),
    }
    done = {**base, "status": "completed", "output": output, "usage": counts}
    yield {"type": "response.completed", "response": done}


def _gemini(body: Json) -> tuple[list[Message], Tools]:
    functions = [
        each for tools in body.get("tools") or () for each in tools.get("functionDeclarations") or ()
    ]
    tools = {
        each["name"]: each.get("parametersJsonSchema") or each.get("parameters") or {} for each in functions
    }
    messages = []
    for each in body.get("contents") or ():
        parts = each.get("parts") or []
        has_calls = any("functionCall" in part for part in parts)
        messages.append((each.get("role") != "model", _text(parts), has_calls))
    settings = body.get("generationConfig") or {}
    is_own = (
        "responseJsonSchema" in settings or "responseSchema" in settings
    )  # the router's and the summary's
    return messages, {} if is_own else tools


def _gemini_events(answer: Answer, body: Json) -> Iterator[Json]:
    settings = body.get("generationConfig") or {}
    if "responseJsonSchema" in settings or "responseSchema" in settings:
        chosen = {"reasoning": "ok", "next_speaker": "user", "model_choice": "flash", "title": "A title"}
        answer = answer._replace(
            text=json.dumps({**chosen, "complexity_reasoning": "x", "complexity_score": 10})
        )
    base = {"modelVersion": "mock-model", "responseId": f"r{next(_ids)}"}

    def candidate(parts: list[Json], **more: str) -> Json:
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **more}], **base}

    for word in _words(answer):
        yield candidate([{"text": word}])
    if answer.calls:
        yield candidate(
            [
                {"functionCall": {"id": name, "name": call.tool, "args": call.arguments}}
                for name, call in answer.calls
            ]
        )
    tokens = answer.usage
    counts = {
        "promptTokenCount": tokens.uncached + tokens.cached,
        "cachedContentTokenCount": tokens.cached,
        "candidatesTokenCount": tokens.output,
        "totalTokenCount": sum(tokens),
    }
    yield {**candidate([{"text": ""}], finishReason="STOP"), "usageMetadata": counts}


def _whole(events: Any, answer: Answer, body: Json) -> Json:
    """Return an answer that is not streamed: agents ask for one only for requests of their own."""
    if events is _anthropic_events:
        content = [{"type": "text", "text": answer.text}]
        start: Json = next(_anthropic_events(answer, body))["message"]
        return {**start, "content": content, "stop_reason": "end_turn"}
    if events is _chat_events:
        message = {"role": "assistant", "content": answer.text}
        *_, counts, _end = _chat_events(answer._replace(text=""), body)
        assert isinstance(counts, dict)
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {**counts, "object": "chat.completion", "choices": [choice]}
    if events is _responses_events:
        *_, done = _responses_events(answer, body)
        response: Json = done["response"]
        return response
    *parts, last = _gemini_events(answer, body)
    text = "".join(part["candidates"][0]["content"]["parts"][0].get("text", "") for part in parts)
    last["candidates"][0]["content"]["parts"] = [{"text": text}]
    return last
