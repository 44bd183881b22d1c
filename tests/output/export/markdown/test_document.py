"""The Markdown of a session: what it contains, in which order, and within which size."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentwatch.analysis.moments import Asked, CallEnd
from agentwatch.base.faults import Fault
from agentwatch.output.export.exported import Wanted
from agentwatch.output.export.exporters import Choices
from agentwatch.output.export.markdown import EXPORTER, Bounds, fenced, markdown, pieces, quoted
from agentwatch.session.transcript import Kind
from tests.builders.captures import Captures
from tests.builders.claude_lines import written as lines_written
from tests.builders.exports.opened import RAW, every_recording, opened, written
from tests.builders.lines import completed, final, init, result, segment, started, user
from tests.builders.on_disk import cursor_transcript as cursor
from tests.conftest import RECORDINGS, Saver, case
from tests.output.export.markdown.parsed import assert_balanced, folds, html_of, tokens

DEMO = RECORDINGS / "demo.ndjson"
LEAST = 1000
"""More bytes than the head of that recording takes."""
NUMBER = re.compile(r"<b>#&#8203;(\d+)</b>")
LEFT_OUT = re.compile(r"limited to ([\d,]+) bytes: (\d+) calls? and (\d+) texts? are left out\.\*\n\n$")


def document(path: Path, wanted: Wanted = RAW, most: int | None = None) -> str:
    return written(EXPORTER, path, wanted, Choices(max_bytes=most)).decode()


def numbers(text: str) -> list[int]:
    """Return the numbers of the calls whose bodies are in a document."""
    return [int(found[1]) for summary in assert_balanced(text) if (found := NUMBER.search(summary))]


@pytest.mark.system
@pytest.mark.slow
def test_every_recording_is_a_document(captures: Captures) -> None:
    """Each call of each agent has one fold, in order, and no text of the agent is HTML of the page."""
    for path in every_recording(captures):
        with case(path), opened(path, RAW) as session:
            transcript = session.session.transcript
            expected = [entry.call.number for entry in transcript if entry.call is not None]
            thoughts = sum(entry.kind is Kind.REASONING for entry in transcript)
            text = b"".join(EXPORTER.write(session, Choices())).decode()
            assert numbers(text) == expected
            assert len(folds(text)) == 2 * (len(expected) + thoughts)
            assert set(html_of(text)) - set(folds(text)) <= {"<code>", "</code>"}


def test_an_exit_code_is_stronger_than_the_last_result(recording: Saver) -> None:
    """The line of the last turn says what the heading says: the exit code contradicts its result."""
    path = recording(init(), segment("One."), result("One."), user(), segment("Two."), result("Two."))
    assert document(path).count("\n**succeeded**") == 2
    path.with_suffix(".json").write_text('{"command": ["a"], "pid": 1, "started_ms": 1, "exit_code": 3}')
    text = document(path)
    assert "\n**exit 3 · result says ✓**" in text
    assert text.count("\n**succeeded**") == 1


def test_a_document_has_the_outcome_the_facts_the_calls_and_the_answer(recording: Saver) -> None:
    """The heading says how the session ended; a table has the agent, the model, the time and the calls. With
    `--raw`, the table says that nothing was redacted. A failed call is open, with what the command printed;
    an edit has its diff. The prompt and the final answer stand first, and only there.
    """
    text = document(DEMO, Wanted())
    assert text.startswith("## succeeded in 1:10 · 14 calls, 1 failed, 1 rejected\n\n| | |\n|---|---|\n")
    assert "| agent | cursor · Sonnet 5 200K High |\n" in text
    assert "| duration | 1:10 |\n" in text
    assert "| secrets | masked 27 personal values (27 home folder) |\n" in text
    headings = [token.content for token in tokens(text) if token.type == "inline" and token.level == 1]
    order = ["Prompt", "Final answer", "Calls that did not succeed"]
    assert [words for words in headings if words in order] == order
    assert "| secrets | not redacted |\n" in document(DEMO)
    text = document(DEMO)
    calls = re.split("(?=<details)", text)
    failed = next(call for call in calls if "<b>#&#8203;6</b>" in call)
    assert failed.startswith(
        "<details open>\n<summary>✗ <b>#&#8203;6</b> Ran terminal command pytest -q (failed: exit 1)"
        " · failed · 8.6 s</summary>\n"
    )
    assert "\nresult: stdout\n\n```text\n...F....." in failed
    edited = next(call for call in calls if "<b>#&#8203;8</b>" in call)
    assert edited.startswith("<details>\n")
    assert "\nresult: diff\n\n```diff\n--- a/" in edited
    text = document(DEMO)
    assert text.count("and I can't see why. Find the cause") == 1
    assert text.count("## Mended: 17 tests pass") == 1
    # The result of a run that failed is part of its end, as it is not text of the agent. Calls that were open
    # in a part keep their numbers, and the table names its limits and its words.
    reason = "The request was refused: the monthly allowance of this account is used up."
    text = document(RECORDINGS / "failed-run.ndjson")
    assert text.startswith(f"## failed: {reason} · 1 call\n")
    assert f"\n**failed** in 7.5 s\n\n{reason}\n" in text
    text = document(DEMO, Wanted(Asked(CallEnd(5), CallEnd(8)), is_raw=True))
    assert numbers(text) == [3, 6, 7, 8]  # 3 ended after 5
    assert re.search(r"\| part \| from 2026-11-0\d [\d:]+, until 2026-11-0\d [\d:]+, 4 calls \|\n", text)
    text = document(DEMO, Wanted(words="pytest", is_raw=True))
    assert numbers(text) == [6, 13]
    assert "| part | only pytest, 2 calls |\n" in text
    assert "### Prompt" not in text
    # Cursor's own file has no results: the next message ends a call, and may have the same arguments.
    twice = cursor.called(cursor.call("Write", path="a", contents="only once"))
    text = document(recording(lines_written(cursor.user("Go"), twice, twice)))
    assert text.count("only once") == 2
    # The writer reports how much of the recording it has exported.
    seen: list[tuple[int, int]] = []
    written(EXPORTER, DEMO, RAW, Choices(progress=lambda done, total: seen.append((done, total))))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {DEMO.stat().st_size}
    # With the number of bytes that the error names, the document can be written. With a limit, a long prompt
    # and a long answer are cut, so that calls follow them. A text that no encoding can write is shown with a
    # sign in its place, in every field.
    with pytest.raises(Fault, match="--max-bytes") as raised:
        document(DEMO, most=100)
    most = int(re.findall(r"\d+", str(raised.value))[0])
    assert len(document(DEMO, most=most).encode()) <= most
    with pytest.raises(Fault):
        document(DEMO, most=most - 1)
    long = "\n".join(f"line {number} of it" for number in range(2000))
    path = recording(
        *(init(), user(long), started("shell", command="make"), completed("shell", result={"success": {}})),
        *(final(long), result(long)),
    )
    text = document(path, most=8000)
    assert numbers(text) == [1]
    assert text.count("lines left out") == 2
    assert not LEFT_OUT.search(text)
    # A command of several lines is in the call, not only its first line.
    text = document(recording(init(), user("x"), started("shell", command="ls\nrm a"), result("y")))
    assert ("ls ⏎ +1 line" in text, text.count("\nls\nrm a\n")) == (True, 1)
    bad = "x\ud800y"
    lines = (
        init(cwd=f"/{bad}", model=bad),
        user(bad),
        started("shell", command=bad),
        completed("shell", result={"failure": {"exitCode": 1, "stdout": bad, "stderr": bad}}, command=bad),
        final(bad),
        result(bad),
    )
    text = document(
        recording(*(line.replace("\ud800".encode(errors="surrogatepass"), b"\\ud800") for line in lines))
    )
    assert text.count("x\ufffdy") == 8
    assert text.count("\ufffd") == 8


@pytest.mark.system
@pytest.mark.slow
@given(st.integers(1, 60_000))
@settings(max_examples=60)
def test_a_size_is_never_exceeded(most: int) -> None:
    """A document of at most N bytes ends after a call, and says how many calls and texts are left out."""
    data = b""
    with suppress(Fault):
        data = written(EXPORTER, DEMO, RAW, Choices(max_bytes=most))
    if most >= LEAST:
        assert data
    if not data:
        return
    assert len(data) <= most
    text = data.decode()
    kept = numbers(text)
    found = LEFT_OUT.search(text)
    assert kept == list(range(1, len(kept) + 1))
    if len(kept) < 14:
        assert found
        assert found[1] == f"{most:,}"
        assert int(found[2]) == 14 - len(kept)


LINES = st.lists(
    st.sampled_from(
        ("```", "````diff", "~~~", "    ```", "a", "", "> ```", "`" * 12, "<b>", "\tx", "- ```", "é")
    ),
    max_size=12,
)
FEW = Bounds(3, 2, 10)


def body_of(text: str, bounds: Bounds | None = None) -> str:
    """Return a text between fences."""
    return "\n".join(fenced(text) if bounds is None else fenced(text, "text", bounds))


@given(LINES)
def test_a_fence_is_not_ended_by_its_body(lines: list[str]) -> None:
    """A page reads exactly the body from a block of code, whatever fences the body has."""
    body = "\n".join(lines).strip("\n")
    found = tokens(body_of(body))
    assert [token.type for token in found] == ["fence"]
    assert found[0].content == f"{body}\n"
    assert found[0].info == "text"


@given(st.text("`~ \n", max_size=40))
def test_a_fence_holds_any_run_of_its_character(body: str) -> None:
    """The fence is longer than each run of backticks."""
    body = body.strip("\n")
    assert [token.content for token in tokens(body_of(body))] == [f"{body}\n"]


def test_a_body_is_cut_and_has_no_control_characters() -> None:
    """The number of lines left out stands between two blocks. A line is left out only if the note takes less
    room. A line says how much of it is left out, and a tab stays a tab. Controls and halves of surrogate
    pairs are shown as signs, in code also a carriage return at an end.
    """
    found = tokens(body_of("\n".join(map(str, range(20))), FEW))
    assert [token.content for token in found if token.type == "fence"] == ["0\n1\n2\n", "18\n19\n"]
    assert [token.content for token in found if token.type == "inline"] == ["*… 15 lines left out …*"]
    assert pieces("\n".join("abcdef"), FEW).left_out == 0
    assert pieces("\n".join("abcdefg"), FEW).left_out == 2
    assert body_of("\t" + "x" * 20, FEW).split("\n")[1] == "\t" + "x" * 9 + "… 11 more characters"
    assert body_of("a\x1b[2J\r\nb\ud800").split("\n")[1:3] == ["a␛[2J␍", "b\ufffd"]
    assert [*markdown("a\r\nb")] == ["a\nb"]
    # An unfinished answer does not swallow the rest of the document. A fence that is open in a prompt ends
    # with the quotation.
    for text in ("```py\nx = 1", "~~~~\n~~~\n", "````\n    ````", "a\n```"):
        found = tokens("\n".join(markdown(text)) + "\n\n<b>\n")
        assert found[-1].type == "html_block", text
    lines = [line for part in markdown("```\n<i>") for line in part.split("\n")]
    assert html_of("\n".join(quoted(iter(lines))) + "\n\n<b>\n") == ["<b>"]


@given(LINES)
def test_code_of_the_agent_stays_as_it_is(lines: list[str]) -> None:
    """Code between the agent's own fences is not escaped."""
    body = "\n".join(line for line in lines if "`" not in line).strip("\n")
    found = tokens("\n".join(markdown(f"```\n{body}\n```")))
    assert [token.type for token in found] == ["fence"]
    assert found[0].content == (f"{body}\n" if body else "\n")
