"""The integrity line shows what agentwatch can prove of a session, and where a check fails."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.analysis.integrity import integrity
from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from tests.builders.lines import (
    PROPERTY,
    completed,
    delta,
    event,
    final,
    init,
    result,
    segment,
    session,
    started,
    user,
)
from tests.conftest import RECORDINGS, case
from tests.harness.fake_agent import command
from tests.harness.program import watch

DONE = completed("read", result={"success": {}})
CALL = (started("read", path="a"), DONE)


def line(*lines: bytes) -> str:
    """Return the integrity line of a session."""
    return integrity(session(*lines)).line()


# --- its parts -------------------------------------------------------------------------------------------


def test_integrity_holds() -> None:
    """It holds if the text matches the result, all calls are paired, whatever their outcome, and all lines
    are known; a lone result has no text to compare with. An open call breaks nothing until its run ends.
    """
    read = session(init(), user(), segment("a"), *CALL, final("b"), result("ab"))
    assert integrity(read).passes
    assert integrity(read).words() == "recording whole"
    assert integrity(read).line() == "text = result · 1 of 1 call paired · 0 malformed · 0 unknown"
    assert line(result("a")).startswith("no result to compare")
    assert line(delta("b"), result("a")).startswith("text ≠ result")
    assert integrity(session(init(), *CALL, final("a"), result("a"))).problems() == ""
    odd = session(init(), started("read"), final("a"), b"{\n", event("odd"), event("odd"), result("b"))
    assert integrity(odd).problems() == "text ≠ result · 1 call not paired · 1 malformed"
    unknown = integrity(session(b'{"kind": 1}\n'))
    assert (unknown.problems(), unknown.passes) == ("1 unknown", False)
    # A call is paired once if it has both ends; calls of all runs count.
    ends = [{"failure": {"exitCode": 1}}, {"rejected": {"reason": "no"}}, None, {"success": {}}]
    lines = [
        piece
        for at, ending in enumerate(ends)
        for piece in (started("read", f"c-{at}"), completed("read", f"c-{at}", ending))
    ]
    assert line(init(), *lines, result("")).startswith("text = result · 4 of 4 calls paired")
    running = session(init(), started("read"), is_over=False)
    assert integrity(running).line() == "no result yet · 0 of 1 call paired · 0 malformed · 0 unknown"
    assert integrity(running).passes
    assert integrity(session(init(), *CALL, is_over=False)).passes
    assert not integrity(session(init(), started("read"), result(), is_over=False)).passes
    first = (init(), final("one"), started("read"), result("another"))
    assert line(*first, init(), *CALL, final("two"), result("two")) == (
        "text = result · 1 of 2 calls paired · 0 malformed · 0 unknown"
    )
    assert line(init(), *CALL, DONE, result("")).startswith("text = result · 1 of 1 call paired")


# --- text and result -------------------------------------------------------------------------------------


@PROPERTY
@given(st.text("ab🌊", max_size=6), st.text("ab🌊", max_size=6))
def test_a_difference_is_where_the_common_beginning_ends(text: str, ended_as: str) -> None:
    """Both texts are equal up to the difference and differ there; equal texts have no difference."""
    read = session(init(), final(text), result(ended_as))
    at = integrity(read).difference_at
    assert (at is None) == (text == ended_as) == integrity(read).passes
    if at is not None:
        assert text[:at] == ended_as[:at]
        assert text[at : at + 1] != ended_as[at : at + 1]


def test_the_line_and_its_first_difference() -> None:
    """Each part of the line counts its own lines, and one failed check alone breaks the integrity. The
    first differing character is counted from 0 in the texts of the last run, which are kept unchanged. The
    integrity in the summary is the session's, in every bundled recording.
    """
    cases: list[tuple[tuple[bytes, ...], str, bool]] = [
        ((), "no result to compare · 0 of 0 calls paired · 0 malformed · 0 unknown", True),
        ((final("a"),), "no result to compare · 0 of 0 calls paired · 0 malformed · 0 unknown", True),
        ((result(None),), "no result to compare · 0 of 0 calls paired · 0 malformed · 0 unknown", True),
        (
            (final("a"), result("out of credit", is_error=True)),
            "the result is an error · 0 of 0 calls paired · 0 malformed · 0 unknown",
            True,
        ),
        (
            (final("a"), result("", is_error=True)),
            "no result to compare · 0 of 0 calls paired · 0 malformed · 0 unknown",
            True,
        ),
        ((result("b"),), "text ≠ result · 0 of 0 calls paired · 0 malformed · 0 unknown", False),
        ((*CALL, result("")), "text = result · 1 of 1 call paired · 0 malformed · 0 unknown", True),
        ((DONE, result("")), "text = result · 0 of 1 call paired · 0 malformed · 0 unknown", False),
        (
            (started("read"), *CALL, started("ls", "c-2"), result("")),
            "text = result · 1 of 2 calls paired · 0 malformed · 0 unknown",
            False,
        ),
        (
            (b"oops\n", b"[]\n", result("")),
            "text = result · 0 of 0 calls paired · 2 malformed · 0 unknown",
            False,
        ),
        (
            (event("weather"), completed("read", result={"later": {}}), result("")),
            "text = result · 0 of 1 call paired · 0 malformed · 2 unknown",
            False,
        ),
        (
            (event("weather"), *CALL, result("")),
            "text = result · 1 of 1 call paired · 0 malformed · 1 unknown",
            True,
        ),
        (
            (user("#").replace(b"#", b"\xff"), result("")),
            "text = result · 0 of 0 calls paired · 0 malformed · 0 unknown · 1 repaired",
            True,
        ),
    ]
    for lines, words, holds in cases:
        with case((lines, words)):
            found = integrity(session(init(), *lines))
            assert (found.line(), found.passes) == (words, holds)
    # The first difference of text and result.
    further_cases: list[tuple[str, str, int]] = [
        ("abc", "abd", 2),
        ("abc", "ab", 2),
        ("ab", "abc", 2),
        ("", "x", 0),
        ("x", "", 0),
        ("🌊a", "🌊b", 1),
        ("干潮\n", "干潮", 2),
    ]
    for text, ended_as, at in further_cases:
        with case((text, ended_as)):
            read = session(init(), final(text), result(ended_as))
            assert integrity(read).difference_at == at
            printed = json.loads(b"".join(summary(read)))
            assert (printed["text"], printed["result"], printed["text_matches_result"]) == (
                text,
                ended_as,
                False,
            )
            assert printed["integrity"] == {
                "holds": False,
                "line": "text ≠ result · 0 of 0 calls paired · 0 malformed · 0 unknown",
                "difference_at": at,
            }
    read = session(init(), final("one"), result("one"), init(), final("two!"), result("two?"))
    assert integrity(read).difference_at == 3
    # A summary contains the integrity of its session.
    paths = sorted(RECORDINGS.glob("*.ndjson"))
    assert paths
    for path in paths:
        other_read: Session = session(path.read_bytes())
        other_found = integrity(other_read)
        assert json.loads(b"".join(summary(other_read)))["integrity"] == {
            "holds": other_found.passes,
            "line": other_found.line(),
            "difference_at": other_found.difference_at,
        }
        matched = re.fullmatch(
            r"(text = result|text ≠ result|no result to compare|the result is an error)"
            r" · (\d+) of (\d+) calls? paired · (\d+) malformed · (\d+) unknown(?: · (\d+) repaired)?",
            other_found.line(),
        )
        assert matched is not None
        odd = (other_read.lines.malformed, other_read.lines.unknown, other_read.lines.repaired)
        assert tuple(int(number or 0) for number in matched.groups()[3:]) == odd


# --- --strict --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("disagreement", "text ≠ result · 1 of 1 call paired · 0 malformed · 0 unknown"),
        ("rejected", "text = result · 2 of 3 calls paired · 0 malformed · 0 unknown"),
        ("malformed", "text = result · 1 of 1 call paired · 3 malformed · 0 unknown · 1 repaired"),
    ],
)
@pytest.mark.system
def test_strict_fails_if_integrity_does_not_hold(name: str, words: str) -> None:
    """With --strict, a session whose integrity fails is still printed; one error line, exit code 1."""
    path = RECORDINGS / f"{name}.ndjson"
    plain, strict = watch(path, "-p"), watch(path, "-p", "--strict")
    assert (plain.returncode, plain.stderr) == (0, b"")
    assert (strict.returncode, strict.stdout) == (1, plain.stdout)
    assert strict.stderr.decode() == f"agentwatch: recording not whole: {words}\n"


@pytest.mark.slow
def test_strict_checks_what_is_printed() -> None:
    """With --strict, a session whose integrity holds is printed as without it. Lines that a known agent may
    write newly are named; a stream on stdin is checked when it has ended; a failed run gives only its
    reason.
    """
    path = RECORDINGS / "plain.ndjson"
    for form in ("text", "summary", "stream-json"):
        with case(form):
            plain, strict = (watch(path, "-p", "--output-format", form, *more) for more in ([], ["--strict"]))
            assert (strict.returncode, strict.stdout, strict.stderr) == (0, plain.stdout, b"")
    # Unknown lines are a notice.
    done = watch(RECORDINGS / "unknown.ndjson", "-p", "--strict")
    assert done.returncode == 0
    assert re.fullmatch(rb"agentwatch: [^\n]*6[^\n]*\n", done.stderr)
    # A pipe is checked too.
    data = (RECORDINGS / "disagreement.ndjson").read_bytes()
    done = watch("--strict", "-p", stdin=data)
    assert done.returncode == 1
    assert re.fullmatch(rb"agentwatch: recording not whole: [^\n]+\n", done.stderr)
    # A failed run whose integrity holds keeps its exit code.
    failed = init() + final("a") + result("a", is_error=True, subtype="error")
    done = watch("-p", "--strict", stdin=failed)
    assert (done.returncode, done.stderr) == (1, b"agentwatch: the run failed: a\n")


@pytest.mark.system
def test_strict_and_the_code_of_an_agent() -> None:
    """With --strict, the exit code of an agent that failed is passed on, whether integrity holds or not;
    one that exits with 0 but whose text differs from its result exits with 1.
    """
    runs: list[tuple[str, list[str], int]] = [
        *(("plain", [], 0), ("plain", ["--exit", "3"], 3), ("disagreement", ["--exit", "7"], 7))
    ]
    for name, switches, code in runs:
        with case((name, switches)):
            path: Path = RECORDINGS / f"{name}.ndjson"
            done = watch("run", "-p", "--strict", "--", *command(path, *switches))
            assert done.returncode == code
            assert (b"not whole" in done.stderr) == (name == "disagreement")
    # The agent calls its run good.
    path = RECORDINGS / "disagreement.ndjson"
    assert watch("run", "-p", "--", *command(path)).returncode == 0
    assert watch("run", "-p", "--strict", "--", *command(path)).returncode == 1
