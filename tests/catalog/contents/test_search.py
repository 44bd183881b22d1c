"""The contents of all sessions are searched for words, in short steps and in bounded memory."""

import json
import os
import sqlite3
import subprocess
import sys
import tracemalloc
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentwatch.catalog.contents import ContentsSearch, find
from agentwatch.catalog.find_query import Query
from agentwatch.catalog.hits import Hit, searched_row
from agentwatch.catalog.row import Row
from agentwatch.rules.language.errors import RuleError
from tests.builders.machine.fake import fake_machine
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import case

LONG_LINE = 5 << 20


def said(text: str, at_ms: int = NOW_MS, **more: Any) -> bytes:
    """Return a line of a transcript of Claude Code in which the user says something."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat().replace("+00:00", "Z")
    message = {"role": "user", "content": text}
    line = {"type": "user", "sessionId": "s", "uuid": f"u{text[:20]}", "timestamp": at, "cwd": "/w/shop"}
    return orjson.dumps({**line, "message": message, **more}) + b"\n"


def called(tool: str, arguments: object, result: str, number: int = 1, at_ms: int = NOW_MS) -> bytes:
    """Return the lines of a call in a transcript of Claude Code."""
    call = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
    answer: dict[str, Any] = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
    answer["is_error"] = result.startswith("Exit code")
    return b"".join(
        said("", at_ms, type=role, uuid=f"{role}{number}", message={"role": role, "content": [content]})
        for role, content in (("assistant", call), ("user", answer))
    )


def session(folder: Path, *lines: bytes, number: int = 0, **more: Any) -> Row:
    path = folder / f"{number}.jsonl"
    path.write_bytes(b"".join(lines))
    return row(path=path, number=number, **more)


def found_in(words: str, *rows: Row) -> list[Hit]:
    return find(words, [searched_row(each) for each in rows]).hits


def found(words: str, *rows: Row) -> list[Hit]:
    search = ContentsSearch(words, rows)
    hits: list[Hit] = []
    while not search.is_over:
        hits += search.advance(1)
    assert search.searched == search.total
    return hits


TEXTS: list[str] = [
    "Fix the Limiter",
    "geändert",
    "ÄRGER",
    "ошибка здесь",
    "日本語",
    'say "hi" now',
    "a\\b\\c",
    "</p> & more",
    "one\ntwo",
    "path/to/file.py",
    "🙂",
    '"',
    "x",
    "İ",
]
MIXED = {"ошибка": "оШИбка", "maß": "MAẞ", "å": "\u212b", "ω": "\u2126", "i\u0307x": "İX"}
"""Words, and how else they may be written."""


def test_words_are_found_however_json_escapes_them(tmp_path: Path) -> None:
    """Raw and escaped, in small letters and in capitals, alone and among others."""
    for is_ascii in (False, True):
        for text in TEXTS:
            with case(f"{is_ascii}, {text}"):
                for cased in (text, text.lower(), text.upper()):
                    line = json.dumps(json.loads(said(f"before {cased} after")), ensure_ascii=is_ascii)
                    (hit,) = found(text, session(tmp_path, line.encode() + b"\n"))
                    assert hit.text == f"before {' '.join(cased.split())} after"
        for word, written in MIXED.items():
            with case(f"{is_ascii}, {written}"):
                line = json.dumps(json.loads(said(f"before {written}")), ensure_ascii=is_ascii)
                assert len(found(word, session(tmp_path, line.encode() + b"\n"))) == 1
    # Arguments are shown with their names.
    assert len(found('"command: ls"', session(tmp_path, called("Bash", {"command": "ls"}, "a.py")))) == 1


def test_a_hit_is_a_call_or_a_text(tmp_path: Path) -> None:
    """However often it has the words, and wherever a call has them: in its arguments, its result, or both."""
    lines = [
        said("fix the Needle, the needle", NOW_MS - 9000),
        called("Bash", {"command": "make needle"}, "a needle and a haystack", 1, NOW_MS - 8000),
        called("Read", {"file_path": "/w/shop/src/needle.py"}, "1\tx = 1", 2, NOW_MS - 7000),
        called("Grep", {"pattern": "x"}, "Exit code 2\nno haystack", 3, NOW_MS - 6000),
    ]
    saved = session(tmp_path, *lines, key=("claude", "abc-def"), id="abc-def")
    every = found_in("needle", saved)
    assert [(hit.address, hit.kind, hit.tool, hit.outcome) for hit in every] == [
        ("abc-def#2", "read", "Read", "succeeded"),
        ("abc-def#1", "execute", "Bash", "succeeded"),
        ("abc-def@+0ms", "prompt", "", ""),
    ]
    assert [hit.at_ms for hit in every] == [NOW_MS - 7000, NOW_MS - 8000, NOW_MS - 9000]
    assert {(hit.session_id, hit.agent, hit.repo, hit.path) for hit in every} == {
        ("s", "claude", "shop", saved.path)
    }
    # All words are in one hit; those of a call may be in its arguments and in its result.
    assert [hit.call for hit in found_in("make haystack", saved)] == [1]
    assert found_in("fix haystack", saved) == []
    # The terms are those of the filter.
    cases = {
        "haystack -needle": [3],
        "needle tool:bash": [1],
        "program:make": [1],
        "path:needle.py": [2],
        "path:src/*": [2],
        "failed": [3],
        '"failed"': [],
        '"a  haystack"': [1],
        '"haystack a"': [],
        "needle OR failed": [3, 2, 1, None],
        "needle kind:prompt": [None],
        "kind:prompt": [None],
        "-tool:read": [3, 1],
        "needle agent:claude repo:shop": [2, 1, None],
        "needle agent:codex": [],
        "needle repo:api": [],
        "needle since:1970-01-01": [2, 1, None],
        "needle since:2100-01-01": [],
        "outcome:failed": [3],
        "needle -kind:read -model:opus": [1, None],
    }
    for words, calls in cases.items():
        with case(words):
            assert [hit.call for hit in found_in(words, saved)] == calls
    for words in ("", "needle since:yesterday", "colour:red", '"needle', "needle -"):
        with case(words), pytest.raises(RuleError):
            Query(words)
    # In the list, what is not a rule is words.
    assert [hit.kind for hit in found('"needle', session(tmp_path, said('"needle')))] == ["prompt"]


def test_hits_are_the_newest_first(tmp_path: Path) -> None:
    """Over all sessions, by their own times; the next ones are found after those that were found."""
    old = session(
        tmp_path, *(said(f"needle {at}", NOW_MS + at) for at in (1, 3, 9)), number=1, seen_ms=NOW_MS + 9
    )
    new = session(
        tmp_path, *(said(f"needle {at}", NOW_MS + at) for at in (2, 4, 8)), number=2, seen_ms=NOW_MS + 8
    )
    assert [hit.text[-1] for hit in found_in("needle", new, old)] == [*"984321"]
    entries = [searched_row(old), searched_row(new)]
    for most, skip, texts, is_more in (
        (2, 0, "98", True),
        (2, 2, "43", True),
        (3, 4, "21", False),
        (9, 9, "", False),
    ):
        with case(f"{most} after {skip}"):
            result = find("needle", entries, most, skip)
            assert [hit.text[-1] for hit in result.hits] == [*texts]
            assert result.is_more is is_more
    # What is older than those that are wanted is not read.
    there = session(tmp_path, said("needle 0", NOW_MS - 9), number=3, seen_ms=NOW_MS - 9)
    there.path.unlink()
    assert find("needle", [*entries, searched_row(there)], 6).not_searched == {}
    assert find("needle", [*entries, searched_row(there)], 7).not_searched == {"deleted": 1}


def test_what_a_fork_repeats_is_found_once(tmp_path: Path) -> None:
    """Its calls and texts have the same ids and times, and another id of the session."""
    lines = [said("needle"), called("Bash", {"command": "needle"}, "ok")]
    more = called("Bash", {"command": "needle"}, "ok", 2)
    fork = [line.replace(b'"sessionId":"s"', b'"sessionId":"fork"') for line in (*lines, more)]
    rows = [session(tmp_path, *lines, number=1), session(tmp_path, *fork, number=2, seen_ms=NOW_MS)]
    assert [(hit.session_id, hit.call) for hit in found_in("needle", *rows)] == [
        ("fork", 2),
        ("fork", 1),
        ("fork", None),
    ]


def test_a_text_has_the_words_in_their_place(tmp_path: Path) -> None:
    """It is one line of at most 240 characters around them."""
    text = "x " * 500 + "\n\n  the   needle \n here " + "y " * 500
    (hit,) = found("NEEDLE", session(tmp_path, said("nothing"), said(text)))
    assert "x x the needle here y y" in hit.text
    assert len(hit.text) == 240
    # Some writers of JSON escape slashes and angle brackets.
    escaped = said("a </ b").replace(b"</", b"\\u003C\\/")
    assert [hit.text for hit in found("</", session(tmp_path, escaped))] == ["a </ b"]
    # The words together, if they are together anywhere.
    saved = session(tmp_path, said("rate " + "- " * 200 + "the rate limiter"))
    assert found("rate limiter", saved)[0].text.endswith("the rate limiter")
    # A terminal can send bytes that are not text.
    assert found("\udcff", session(tmp_path, said("needle"))) == []


def test_a_sign_marks_where_a_text_is_cut(tmp_path: Path) -> None:
    """The text of a hit has at most 240 characters. An end that is shown whole has no sign."""
    many = "word " * 200
    for text, shown in (
        ("a needle", "a needle"),
        (f"{many}needle", f"…{many[-41:-1]} needle"),
        (f"needle {many}", f"needle {many}"[:239] + "…"),
        (f"needle{' ' * 600}end", "needle…"),
        (f"{' ' * 600}needle", "needle"),
    ):
        with case(text):
            (hit,) = found("needle", session(tmp_path, said(text)))
            assert hit.text == shown


def test_what_nobody_said_is_no_hit(tmp_path: Path) -> None:
    """Keys, ids, encoded data, lines that are not JSON, and the vendor's instructions."""
    cases: list[bytes] = [
        said("x", needle=1),
        said("x", gitBranch="needle"),
        b"needle, not JSON\n",
        called("Read", {"file_path": "a.png"}, "z" * 2000 + "needle"),
        said("needle", type="api-request"),
        said("needle", type="attachment"),
    ]
    for line in cases:
        with case(line):
            hits = found("needle", session(tmp_path, said("begin"), line, said("a needle")))
            assert [hit.text for hit in hits] == ["a needle"]


def test_the_list_finds_the_newest_sessions_first(tmp_path: Path) -> None:
    """A session without a time is the last; a session has at most three hits, its newest."""
    times = [NOW_MS - 50, NOW_MS, None, NOW_MS - 20]
    rows = [session(tmp_path, said("needle", NOW_MS + n), number=n, seen_ms=at) for n, at in enumerate(times)]
    assert [hit.key for hit in found("needle", *rows)] == [rows[n].key for n in (1, 3, 0, 2)]
    # A search goes on in short steps, and is over when there is nothing left.
    search = ContentsSearch("needle", rows)
    steps = []
    while not search.is_over:
        steps.append(len(search.advance(0)))
    assert len(steps) > 2 * len(rows)
    assert sum(steps) == len(rows)
    assert search.searched == 4
    assert search.advance(1) == []
    # Without words the search is over at once.
    for words in ("", "  \n "):
        search = ContentsSearch(words, rows)
        assert (search.is_over, search.total, search.advance(1)) == (True, 0, [])
    lines = [said(f"needle {number}", NOW_MS + number) for number in range(9)]
    hits = found("needle", session(tmp_path, *lines))
    assert [hit.text for hit in hits] == ["needle 8", "needle 7", "needle 6"]


def test_a_search_that_is_closed_is_over_and_leaves_no_file_open(tmp_path: Path) -> None:
    """A large file may be open between two steps."""
    saved = session(tmp_path, *(said(f"{'word ' * 2000}{n}") for n in range(400)))
    opened = set(os.listdir("/dev/fd"))
    search = ContentsSearch("nothing", [saved])
    search.advance(0)
    assert not search.is_over
    assert len(os.listdir("/dev/fd")) == len(opened) + 1
    search.close()
    assert search.is_over
    assert len(os.listdir("/dev/fd")) == len(opened)


def test_words_between_two_pieces_are_found(tmp_path: Path) -> None:
    """A line may lie in two or more pieces of a file."""
    short, long = said("a needle", 1), said(f"{'word ' * 500_000} needle", 2)
    for shift in (-2, -1, 0, 1, 2):
        with case(shift):
            first = said("x")
            first = said("x" * ((1 << 20) - 60 + shift - len(first)), 3)
            hits = found("needle", session(tmp_path, first, short, long, said("needle, the last", 4)[:-1]))
            assert [hit.at_ms for hit in hits] == [4, 2, 1]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A file of 48 MiB takes at most 24 MiB, also if it is one line."""
    many = session(tmp_path, said("word " * 2000) * 5000)
    one = session(tmp_path, said("word " * 10_000_000), number=1)
    for saved in (many, one):
        tracemalloc.start()
        assert found("needle", saved) == []
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 24 << 20


def test_what_cannot_be_searched_is_counted(tmp_path: Path) -> None:
    """A file that is gone, a link, a FIFO, a folder, a file that is not a database, a long line, and mere
    metadata."""
    there = session(tmp_path, said("needle"))
    (tmp_path / "link.jsonl").symlink_to(there.path)
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "not.db").write_bytes(b"no database")
    paths = ["gone.jsonl", "link.jsonl", "fifo.jsonl", ".", "not.db/ses_1"]
    rows = [row(path=tmp_path / name, number=n + 1) for n, name in enumerate(paths)]
    rows.append(row(path=there.path, number=9, can_open=False))
    long = said(f"needle {'word ' * 1_500_000}")
    rows += [
        session(tmp_path, said("x"), long, long, number=10),
        session(tmp_path, said("needle", 1), long, number=11),
    ]
    search = ContentsSearch("needle", [*rows, there])
    assert len(search.advance(60)) == 2
    assert (search.is_over, search.searched, sum(search.not_searched.values())) == (True, 9, 8)
    assert search.not_searched == {
        "with a line longer than is searched": 2,
        "deleted": 1,
        "too many levels of symbolic links": 1,
        "not a regular file": 1,
        "it holds no session": 2,
        "with metadata only": 1,
    }


HELPED = """
import os, sys
from agentwatch.catalog import contents
from agentwatch.catalog.hits import Searched

def end(*_):
    os._exit(0)

def fail():
    raise BlockingIOError

folder, case = sys.argv[1:]
contents.cores = lambda: 1 if case == "alone" else 3
contents._help = end if case == "killed" else contents._help
os.fork = fail if case == "no process" else os.fork
if case == "no fork":
    del os.fork
sessions = [Searched(("claude", f"session-{n}"), contents.Path(folder, f"{n}.jsonl"), n) for n in range(210)]
sessions.append(sessions[7]._replace(reason="for a reason"))
open_files = len(os.listdir("/dev/fd"))
for words in ("needle", "needle since:2020-01-01", "nothing"):
    found = contents.find(words, sessions, 1000)
    print([(hit.id, hit.text) for hit in found.hits], sorted(found.not_searched.items()))
    print([hit.id for hit in contents.find(words, sessions, 2).hits])
assert case == "no process" or len(os.listdir("/dev/fd")) == open_files
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no process is left")
"""


def test_other_cores_help_to_search(tmp_path: Path) -> None:
    """They find the same, also if a process is killed or cannot be started, and report the same."""
    for number in range(210):
        has_needle = number % 50 in (0, 1, 2)
        session(tmp_path, said("begin"), said(f"needle {number}") if has_needle else b"", number=number)
    (tmp_path / "10.jsonl").unlink()
    (tmp_path / "11.jsonl").unlink()
    (tmp_path / "12.jsonl").write_bytes(said(f"begin {'word ' * 1_500_000}"))
    outputs = {}
    for how in ("alone", "helped", "killed", "no process", "no fork"):
        done = subprocess.run(
            [sys.executable, "-c", HELPED, str(tmp_path), how],
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.stderr == b""
        outputs[how] = done.stdout.decode()
    first, *others = outputs.values()
    assert all(other == first for other in others)
    assert "needle 200" in first
    assert "('deleted', 2), ('for a reason', 1), ('with a line longer than is searched', 1)" in first
    assert first.endswith("no process is left\n")


def test_what_is_in_a_store_is_searched(tmp_path: Path) -> None:
    """The older chats of Gemini are JSON documents; of a database, only the rows of a session count."""
    # A document is searched through its store.
    message = {"id": "1", "timestamp": "2026-11-21T22:50:56.616Z", "type": "user", "content": "A needle"}
    about = {"sessionId": "s", "projectHash": "h", "startTime": "2026-11-21T22:50:55.616Z"}
    path = tmp_path / "session-1.json"
    path.write_bytes(json.dumps({**about, "messages": [message]}, indent=2).encode())
    assert [hit.text for hit in found("needle", row(path=path))] == ["A needle"]
    os.truncate(path, 17 << 20)
    search = ContentsSearch("needle", [row(path=path)])
    assert (search.advance(60), sum(search.not_searched.values())) == ([], 1)
    machine = fake_machine(tmp_path / "machine", 26)
    stored = {key: path for key, path in machine.captured.items() if "opencode.db/" in str(path)}
    assert stored
    path = machine.home / ".local/share/opencode/opencode.db"
    with closing(sqlite3.connect(path)) as database:
        (text, session_id) = database.execute(
            "SELECT json_extract(data, '$.text'), session_id FROM part "
            "WHERE json_extract(data, '$.type') = 'text' AND length(json_extract(data, '$.text')) > 8 LIMIT 1"
        ).fetchone()
    rows = [row(key=key, agent=key[0], id=key[1], path=path) for key, path in stored.items()]
    assert ("opencode", session_id) in {hit.key for hit in found(text, *rows)}
    # A session may be a folder of files.
    folders = {key: path for key, path in machine.captured.items() if path.is_dir()}
    rows = [row(key=key, agent=key[0], id=key[1], path=path) for key, path in folders.items()]
    assert {hit.key for hit in found("please do", *rows)} == set(folders) != set()
    rows = [row(key=key, agent=key[0], id=key[1], path=path) for key, path in machine.made.items()]
    assert {hit.key for hit in found("run the TESTS, part", *rows)} == set(machine.made)
