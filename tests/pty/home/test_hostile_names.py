"""Every payload, wherever a session of this machine can have a name: it is shown, and does not act."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.builders.machine.hostile import NAMED, SAID, hostile_files, hostile_records
from tests.builders.packed import marks_in, marks_of
from tests.builders.payloads import PAYLOADS
from tests.harness.on_a_pty import in_terminal
from tests.harness.processes import until
from tests.harness.program import watch
from tests.harness.terminal_oracle import acting, driving, foreign
from tests.harness.viewer import Viewer

SHARES = 4
WIDTH = 160
pytestmark = pytest.mark.system


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


@pytest.fixture(params=range(SHARES))
def texts(request: pytest.FixtureRequest, user: Path, home: Path) -> Iterator[list[str]]:
    """Return a part of the payloads, which the sessions of a machine have in all places."""
    texts = [text[:40] for text in PAYLOADS.values()][request.param :: SHARES]
    hostile_files(user, home / "sessions", texts)
    with hostile_records(user, texts[::4]):
        yield texts


def wanted(texts: list[str]) -> set[tuple[str, int]]:
    """Return the marks that a list of everything shows."""
    return marks_of(NAMED, texts) | marks_of(SAID[0], texts[::4])


def test_in_the_list(texts: list[str], user: Path) -> None:
    """Nothing acts on the terminal, and the right border is straight: no text moves what stands beside it."""
    rows = len(NAMED) * len(texts) + len(texts) + 40
    with in_terminal(size=(WIDTH, rows), env={"HOME": str(user)}) as terminal:
        terminal.send("a")
        missing = wanted(texts)

        def is_drawn() -> bool:
            missing.difference_update(marks_in(terminal.raw))
            return not missing

        try:
            terminal.wait_until(is_drawn, 20)
        except AssertionError:
            assert not sorted(missing)
        screen = terminal.screen
        border = "".join(screen.buffer[y][WIDTH - 1].data for y in range(rows)).strip()
        assert set(border.removeprefix("╮").removesuffix("╯")) == {"│"}
        for keys, words in ((" ", "Preview"), ("r", "no ring"), ("y", "copied"), ("t", "no terminal")):
            Viewer(terminal).wait_for(words, keys)  # a message may vanish before this large screen is read
        terminal.leave()
        assert foreign(terminal.raw) == []
        assert terminal.restored(), terminal.leftovers()


def test_in_print(texts: list[str], user: Path) -> None:
    """The table, the objects and the counts contain nothing that acts on a terminal."""
    env: dict[str, Any] = {"HOME": str(user)}
    table = watch("sessions", "--all", **env)
    assert table.returncode == 0
    assert marks_in(table.stdout) >= wanted(texts)
    assert acting(table.stdout.decode()) == []
    assert acting(table.stderr.decode()) == []
    objects = watch("sessions", "--all", "--json", **env)
    assert marks_in(objects.stdout) >= wanted(texts)
    assert all(orjson.loads(line)["id"] for line in objects.stdout.splitlines())
    with in_terminal("sessions", "--all", "--json", size=(WIDTH, 40), env=env) as terminal:
        terminal.wait_exit()
        assert marks_in(terminal.raw) >= wanted(texts)
        assert driving(terminal.raw.decode().replace("\r\n", "\n")) == []

    def counted() -> bool:  # on a loaded machine `status` may not know the counts in time, and prints a dash
        status = watch("status", **env).stdout
        assert acting(status.decode()) == []
        return status.startswith(b"%d need" % len(texts[::4]))

    until(counted, 60)
