"""The texts of a session are only sent with `--content`; even then, no value is long and no path absolute."""

import json
from itertools import product
from pathlib import Path

import pytest

from agentwatch.output.export.otlp.spans import MOST_BYTES, message_list, relative, shortened
from agentwatch.text.safe import safe_text
from tests.builders.lines import completed, final, init, result, started, thought, user
from tests.conftest import Saver, case
from tests.output.export.otlp.collector import Collector, attributes
from tests.output.export.otlp.sent import sent

CWD = "/home/zebulon/quokka"
AT_MS = 1_770_000_000_000
WORDS = (
    *("zebulon", "quokka", "wombatprompt", "wombatthought", "wombatanswer", "wombatargument", "wombatoutput"),
    *("wombaterror", "wombatfile", "wombatreason", "wombatresult", "wombatquery", "wombatoutside"),
)
"""What the session below contains: in its paths, prompts, texts, arguments, outputs and errors."""


def story() -> tuple[bytes, ...]:
    """Return a session with a planted word in each kind of text."""
    failure = {"failure": {"exitCode": 1, "stdout": "wombatoutput", "stderr": "wombaterror"}}
    return (
        init(CWD),
        user("Read wombatprompt."),
        thought("I think wombatthought", AT_MS),
        thought("so.", AT_MS + 9),
        started("shell", "c-1", AT_MS + 10, command=f"pytest {CWD}/wombatargument", workingDirectory=CWD),
        completed("shell", "c-1", failure, AT_MS + 20, command=f"pytest {CWD}/wombatargument"),
        started("read", "c-2", AT_MS + 30, path=f"{CWD}/src/wombatfile.py"),
        completed("read", "c-2", {"success": {"content": "wombatoutput"}}, AT_MS + 40, path=f"{CWD}/x"),
        started("webFetch", "c-3", AT_MS + 50, url="https://wombatquery.example"),
        completed("webFetch", "c-3", {"rejected": {"reason": "wombatreason"}}, AT_MS + 60),
        started("read", "c-4", AT_MS + 70, path="/srv/wombatoutside"),
        completed("read", "c-4", {"error": {"errorMessage": "wombaterror"}}, AT_MS + 80),
        final("It is wombatanswer."),
        result("It is wombatanswer."),
    )


@pytest.mark.parametrize("is_raw", [False, True])
def test_without_content_no_text_of_the_session_is_sent(
    is_raw: bool, backend: Collector, tmp_path: Path
) -> None:
    """No prompt, text, argument, output, error, path, user name or file name is in the bytes."""
    path = tmp_path / "wombatfile.ndjson"
    path.write_bytes(b"".join(story()))
    assert sent(path, is_raw=is_raw).is_complete
    [request] = backend.requests
    assert [word for word in WORDS if word.encode() in request.data] == []
    assert [word for word in WORDS if word in str(request.headers)] == []
    assert len(backend.spans()) == 6


def test_with_content_the_texts_are_sent(backend: Collector, recording: Saver) -> None:
    """With content, a run has its prompts and its answer, a call its arguments, result and error."""
    assert sent(recording(*story()), content=True, is_raw=True).is_complete
    run = attributes(backend.named("invoke_agent cursor"))
    prompt = {"role": "user", "parts": [{"type": "text", "content": "Read wombatprompt."}]}
    assert json.loads(str(run["gen_ai.input.messages"])) == [prompt]
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "It is wombatanswer."}]}
    assert json.loads(str(run["gen_ai.output.messages"])) == [answer]
    shell = backend.named("execute_tool shell pytest")
    found = attributes(shell)
    arguments = json.loads(str(found["gen_ai.tool.call.arguments"]))
    assert arguments == {"command": "pytest wombatargument", "workingDirectory": "."}
    assert json.loads(str(found["gen_ai.tool.call.result"]))["failure"]["stderr"] == "wombaterror"
    assert backend.named("execute_tool webFetch").status.message == "wombatreason"
    # The working directory and with it the user's name are in no value, even of a raw export.
    [request] = backend.requests
    assert [word for word in ("zebulon", "quokka") if word.encode() in request.data] == []
    assert b"src/wombatfile.py" in request.data
    # A value has at most 8 kB in UTF-8, whatever it consists of, and messages stay valid JSON.
    backend.taken.clear()
    long_text = 'ä"\\\n' * 10_000
    calls = (
        started("shell", command=f"echo {long_text}"),
        completed("shell", result={"success": {"stdout": long_text}}),
    )
    sent(recording(init(), user(long_text), *calls, final(long_text), result()), content=True)
    values = [value for span in backend.spans() for value in attributes(span).values()]
    sent_texts = [value for value in values if isinstance(value, str)]
    assert MOST_BYTES - 10 <= max(len(text.encode()) for text in sent_texts) <= MOST_BYTES
    run = attributes(backend.named("invoke_agent cursor"))
    for name in ("gen_ai.input.messages", "gen_ai.output.messages"):
        [message] = json.loads(str(run[name]))
        assert message["parts"][0]["content"].startswith(long_text[:2000])
    # Text that is no Unicode, in any field, loses no span.
    backend.taken.clear()
    bad = "aHALF\0b"
    lines = (
        init(bad, model=bad),
        user(bad),
        started("read", bad, AT_MS, path=bad),
        completed("read", bad, {"success": {"content": bad}}, AT_MS),
        final(bad),
        result(bad),
    )
    path = recording(*(each.replace(b"HALF", b"\\ud800") for each in lines))
    assert sent(path, content=True).is_complete
    assert attributes(backend.named("execute_tool read"))["gen_ai.tool.call.id"] == "a\ufffd␀b"
    # Arguments that are nested too deeply to be encoded are replaced by words.
    backend.taken.clear()
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    begun = started("read", at_ms=AT_MS, path="DEEP").replace(b'"DEEP"', deep)
    assert sent(recording(init(), user(), begun, result()), content=True).is_complete
    assert "deep" in str(attributes(backend.named("execute_tool read"))["gen_ai.tool.call.arguments"])
    # A foreign number of any size, as a time, an exit code or a count, loses no span.
    for number in (1 << 62, 1 << 64, -(1 << 70)):
        with case(number):
            backend.taken.clear()
            failure = {"failure": {"exitCode": number, "stdout": "", "stderr": ""}}
            calls = (
                started("shell", at_ms=number, command="x"),
                completed("shell", result=failure, at_ms=number),
            )
            usage = {"inputTokens": number, "outputTokens": number}
            done = sent(
                recording(init(), user(), *calls, result(usage=usage, duration_ms=number)), content=True
            )
            assert done.is_complete
            assert attributes(backend.named("execute_tool shell x"))["agentwatch.outcome"] == "failed"


PATHS: list[tuple[str, str | None, str]] = [
    ("/srv/ada/app/a.py", "/srv/ada/app", "a.py"),
    ("file:///srv/ada/app/a.py", "/srv/ada/app", "file://a.py"),
    ("-I/srv/ada/app/include", "/srv/ada/app", "-Iinclude"),
    ("/srv/ada/application /srv/ada/app-2", "/srv/ada/app", "/srv/ada/application /srv/ada/app-2"),
    ("/srv/app/x /app/x", "/app", "/srv/app/x x"),
    ("/app", "/app", "."),
    ("in /srv/x: y", "/srv/x", "in .: y"),
    ("C:\\src\\a.py", "C:\\src", "a.py"),
    ("/a/b", "/", "/a/b"),
    ("/a/b", "", "/a/b"),
    ("/a/b", None, "/a/b"),
]


def test_a_path_inside_the_cwd_is_relative() -> None:
    """Only whole components are compared, and a path elsewhere stays as it is."""
    for text, cwd, expected in PATHS:
        with case(f"{text} in {cwd}"):
            assert relative(text, cwd) == expected
    # In JSON, where backslashes and quotes are escaped, paths become relative and escapes stay whole.
    for cwd in ["C:\\src", 'C:\\a"b', "/srv/a\\b", "/srv/\n"]:
        with case(cwd):
            separator = "\\" if cwd.startswith("C") else "/"
            value = [f"{cwd}{separator}a.py", f"{cwd}\n", f'{cwd}"', cwd]
            made = relative(json.dumps(value), cwd, is_json=True)
            assert json.loads(made) == ["a.py", ".\n", '."', "."]
    # Whatever the characters, a value has at most 8 kB in UTF-8; one that fits is whole.
    lengths = (0, 1, 2700, 4000, 8100, 8191, 8192, 8193, 100_000)
    for length, char in product(lengths, ("a", "ä", "\U0001f600", '"', "\n", "\0")):
        with case(f"{length}, {char!r}"):
            safe = safe_text(char * length)
            cut = shortened(char * length)
            assert cut == safe if len(safe.encode()) <= MOST_BYTES else cut.endswith("…")
            assert len(cut.encode()) <= MOST_BYTES
            messages = message_list("user", [char * length, "next"])
            assert len(messages.encode()) <= MOST_BYTES
            content = json.loads(messages)[0]["parts"][0]["content"]
            fits = len(json.dumps(safe, ensure_ascii=False).encode()) < 8000
            assert content == safe if fits else len(messages) > 2000
