"""A digest that follows a growing file is that of the whole file, wherever the writer was interrupted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agentwatch.catalog.digest import Tail
from agentwatch.session.rules import span_ms
from tests.builders.captures import Captures
from tests.builders.on_disk.digested import digest_of, facts_of_digest, found
from tests.catalog.digest.test_captures import WITHOUT_TIMES, sessions
from tests.conftest import case

pytestmark = pytest.mark.slow
_CUTS = 8


@pytest.mark.system
def test_a_file_that_grows_ends_in_the_digest_of_the_whole(captures: Captures, tmp_path: Path) -> None:
    """The file is cut at any byte, and continued by one or more pieces."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            data, chance = path.read_bytes(), random.Random(path.stem)
            copy = tmp_path / path.name
            copy.write_bytes(data)
            expected = digest_of(copy, agent)
            for _ in range(_CUTS):
                copy.unlink()
                copy.write_bytes(b"")
                tail = Tail(found(copy, agent))
                cuts = sorted(chance.choices(range(len(data) + 1), k=chance.choice((1, 2, 20))))
                for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
                    with copy.open("ab") as file:
                        file.write(data[start:end])
                    tail.update()
                tail.settle()
                assert tail.digest is not None
                if agent == WITHOUT_TIMES:  # each piece has the time of its arrival
                    now, whole = facts_of_digest(tail.digest), facts_of_digest(expected)
                    began_ms, seen_ms = tail.digest.began_ms, tail.digest.seen_ms
                    assert began_ms is None or b"\n" not in data[: cuts[0]], cuts  # else nobody saw it begin
                    took = span_ms(began_ms, seen_ms) if whole["took"] is None else whole["took"]
                    assert {**now, "seen": 0} == {**whole, "seen": 0, "took": took}, cuts
                else:
                    assert tail.digest == expected, cuts


def test_no_damage_to_a_file_raises(captures: Captures, tmp_path: Path) -> None:
    """Bytes are lost, doubled or changed anywhere; the digest is of what is left."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            data, chance = path.read_bytes(), random.Random(path.stem)
            copy = tmp_path / path.name
            for _ in range(5):
                damaged = bytearray(data)
                for _ in range(chance.choice((1, 5, 50))):
                    at = chance.randrange(len(damaged) or 1)
                    damaged[at : at + chance.choice((0, 1, 40))] = chance.randbytes(chance.choice((0, 1, 9)))
                copy.write_bytes(damaged)
                assert len(repr(digest_of(copy, agent))) < 30_000
