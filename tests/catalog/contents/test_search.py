"""The contents of all sessions are searched for words, in short steps and in bounded memory."""

import json
import os
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from agentwatch.catalog.contents import ContentsSearch, Hit
from agentwatch.catalog.row import Row
from tests.builders.machine.fake import fake_machine
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import case

LONG_LINE = 5 << 20


def said(text: str, **more: Any) -> bytes:
    """Return a line in which the user says something."""
    return orjson.dumps({"type": "user", "message": {"role": "user", "content": text}, **more}) + b"\n"


def session(folder: Path, *lines: bytes, number: int = 0, **more: Any) -> Row:
    path = folder / f"{number}.jsonl"
    path.write_bytes(b"".join(lines))
    return row(path=path, number=number, **more)


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
]


def test_words_are_found_however_json_escapes_them(tmp_path: Path) -> None:
    """Raw and escaped, in small letters and in capitals, alone and among others."""
    for is_ascii in (False, True):
        for text in TEXTS:
            with case(f"{is_ascii}, {text}"):
                for cased in (text, text.lower(), text.upper()):
                    line = json.dumps(
                        {"message": {"content": [{"text": f"before {cased} after"}]}}, ensure_ascii=is_ascii
                    )
                    (hit,) = found(text, session(tmp_path, line.encode() + b"\n"))
                    assert hit.snippet == f"before {' '.join(cased.split())} after"


def test_a_hit_names_the_session_the_line_and_the_words_in_their_place(tmp_path: Path) -> None:
    """The snippet is one line of at most 120 characters; all words occur in one string, in any order."""
    first = said("nothing")
    text = "x " * 500 + "\n\n  the   needle \n here " + "y " * 500
    saved = session(tmp_path, first, said(text), number=7)
    (hit,) = found("NEEDLE", saved)
    assert (hit.key, hit.offset) == (saved.key, len(first))
    assert "x x the needle here y y" in hit.snippet
    assert len(hit.snippet) == 120
    # Some writers of JSON escape slashes and angle brackets.
    saved = session(tmp_path, b'{"text":"a \\u003c\\/ b"}\n', b'{"text":"a \\u003C/ b"}\n')
    assert [hit.offset for hit in found("</", saved)] == [0]
    assert found("</", saved)[0].snippet == "a </ b"
    # Their order does not matter; words in two strings are not a hit.
    apart = said("retry", note="limiter")
    together = said("the limiter needs a retry")
    assert [hit.offset for hit in found("retry limiter", session(tmp_path, apart, together))] == [len(apart)]
    # The snippet shows the words together if they are together anywhere.
    saved = session(tmp_path, said("rate " + "- " * 200 + "the rate limiter"))
    assert found("rate limiter", saved)[0].snippet.endswith("the rate limiter")
    # A terminal can send bytes that are not text.
    assert found("\udcff", session(tmp_path, said("needle"))) == []
    # The lines around it are found, at their place.
    long, short = said(f"needle {'word ' * (LONG_LINE // 5)}"), said("the needle")
    saved = session(tmp_path, short, long, said("another needle"), long[:-1])
    assert [hit.offset for hit in found("needle", saved)] == [0, len(short) + len(long)]


def test_what_nobody_said_is_no_hit(tmp_path: Path) -> None:
    """Keys, encoded data, lines that are not JSON, and the vendor's instructions."""
    cases: list[bytes] = [
        b'{"type":"user","needle":1}\n',
        b"needle, not JSON\n",
        said("z" * 2000 + "needle"),
        said("needle", type="api-request"),
        orjson.dumps({"uuid": "u" * 400, "type": "attachment", "attachment": {"content": "needle"}}) + b"\n",
        orjson.dumps({"type": "session_meta", "payload": {"instructions": "needle"}}) + b"\n",
    ]
    for line in cases:
        with case(line):
            saved = session(tmp_path, line, said("a needle"))
            assert [hit.offset for hit in found("needle", saved)] == [len(line)]


def test_the_newest_sessions_are_searched_first(tmp_path: Path) -> None:
    """A session without a time is the last; a session has at most three different hits."""
    times = [NOW_MS - 50, NOW_MS, None, NOW_MS - 20]
    rows = [session(tmp_path, said("needle"), number=n, seen_ms=at) for n, at in enumerate(times)]
    assert [hit.key for hit in found("needle", *rows)] == [rows[n].key for n in (1, 3, 0, 2)]
    # Each step of no duration searches one piece.
    rows = [session(tmp_path, said("needle"), number=n, seen_ms=NOW_MS - n) for n in range(3)]
    search = ContentsSearch("needle", rows)
    assert [len(search.advance(0)) for _ in rows] == [1, 1, 1]
    assert not search.is_over
    assert (search.advance(0), search.is_over, search.searched) == ([], True, 3)
    assert search.advance(1) == []
    # Without words the search is over at once.
    for words in ("", "  \n "):
        search = ContentsSearch(words, rows)
        assert (search.is_over, search.total) == (True, 0)
    # A text that an agent writes twice is one hit.
    lines = [said("needle 1"), said("needle 1"), *(said(f"needle {number}") for number in range(2, 9))]
    hits = found("needle", session(tmp_path, *lines))
    assert [hit.snippet for hit in hits] == ["needle 1", "needle 2", "needle 3"]


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
    short, long = said("a needle"), said(f"{'word ' * 500_000} needle")
    for shift in (-2, -1, 0, 1, 2):
        with case(shift):
            first = said("x" * ((1 << 20) - 60 + shift))
            hits = found("needle", session(tmp_path, first, short, long, said("needle, the last")[:-1]))
            offsets = [len(first), len(first + short), len(first + short + long)]
            assert [hit.offset for hit in hits] == offsets


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
    """A file that is gone, a link, a FIFO, a folder, a file that is not a database, and mere metadata."""
    there = session(tmp_path, said("needle"))
    (tmp_path / "link.jsonl").symlink_to(there.path)
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "not.db").write_bytes(b"no database")
    paths = ["gone.jsonl", "link.jsonl", "fifo.jsonl", ".", "not.db/ses_1"]
    rows = [row(path=tmp_path / name, number=n + 1) for n, name in enumerate(paths)]
    rows.append(row(path=there.path, number=9, can_open=False))
    search = ContentsSearch("needle", [*rows, there])
    assert len(search.advance(60)) == 1
    assert (search.is_over, search.searched, search.skipped) == (True, 7, 6)


def test_what_is_in_a_store_is_searched(tmp_path: Path) -> None:
    """The older chats of Gemini are JSON documents; of a database, only the rows of a session count."""
    # A document is searched through its store.
    message = {"id": "1", "timestamp": "2026-11-21T22:50:56.616Z", "type": "user", "content": "A needle"}
    about = {"sessionId": "s", "projectHash": "h", "startTime": "2026-11-21T22:50:55.616Z"}
    path = tmp_path / "session-1.json"
    path.write_bytes(json.dumps({**about, "messages": [message]}, indent=2).encode())
    assert [hit.snippet for hit in found("needle", row(path=path))] == ["A needle"]
    os.truncate(path, 17 << 20)
    search = ContentsSearch("needle", [row(path=path)])
    assert (search.advance(60), search.skipped) == ([], 1)
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
    rows = [row(key=key, agent=key[0], id=key[1], path=path) for key, path in machine.made.items()]
    assert {hit.key for hit in found("run the TESTS, part", *rows)} == set(machine.made)
