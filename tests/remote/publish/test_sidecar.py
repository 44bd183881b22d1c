"""The file STEM.ship: advice that another may have written, and a lock."""

import os
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.recording.saved_sessions import delete_session, session_size
from agentwatch.recording.store import create_file, new_session_files
from agentwatch.remote.engine import new_session
from agentwatch.remote.publish.sidecar import Shipped, ShipState, Sidecar, read_shipped
from tests.conftest import case

SHIPPED = Shipped("nats://host", new_session("ci"), 5, 9, ShipState.WAITING, "away", "old", 1234)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """A sidecar is a private file of one JSON object, replaced by each state."""
    path = tmp_path / "one.ship"
    sidecar = Sidecar(path)
    sidecar.write(SHIPPED._replace(problem="x" * 1000))
    sidecar.write(SHIPPED)
    assert read_shipped(path) == SHIPPED
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert orjson.loads(path.read_bytes())["session"] == str(SHIPPED.session)
    sidecar.close()
    assert Sidecar(path).before == SHIPPED
    # Long texts are cut, so that a reader always finds a whole object.
    path = tmp_path / "two.ship"
    sidecar = Sidecar(path)
    for text in ("\udcff" * 5000, "\U0001f600" * 5000, '"\\\x01' * 5000):
        sidecar.write(SHIPPED._replace(problem=text, warning=text, to=text))
        found = read_shipped(path)
        assert found is not None
        assert found.shipped == 5
    sidecar.close()
    # While a process ships a recording, another one changes nothing.
    path = tmp_path / "three.ship"
    first = Sidecar(path)
    first.write(SHIPPED)
    second = Sidecar(path)
    assert (first.is_held, second.is_held) == (False, True)
    second.write(SHIPPED._replace(shipped=8))
    assert read_shipped(path) == SHIPPED
    first.close()
    assert not Sidecar(path).is_held
    # An agent that puts a link in the way changes no other file; nothing waits for a FIFO.
    for kind in ("link", "hard link", "fifo", "folder"):
        with case(kind):
            path, other = tmp_path / f"{kind}.ship", tmp_path / f"other than {kind}"
            other.write_bytes(b"precious")
            if kind == "link":
                path.symlink_to(other)
            elif kind == "hard link":
                path.hardlink_to(other)
            elif kind == "fifo":
                os.mkfifo(path)
            else:
                path.mkdir()
            sidecar = Sidecar(path)
            assert sidecar.before is None
            sidecar.write(SHIPPED)
            sidecar.close()
            assert other.read_bytes() == b"precious"
            assert read_shipped(path) is None


ANY = st.sampled_from([None, True, -1, 1 << 63, 5.5, "", "x" * 500, "shipping", [], {}, [["x"]], {"a": 1}])


@given(
    values=st.dictionaries(st.sampled_from(Shipped._fields), ANY),
    has_names=st.booleans(),
)
def test_foreign_content_is_data(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, object], has_names: bool
) -> None:
    """Whatever stands in the file, nothing raises, and numbers and texts have their range."""
    path = tmp_path_factory.mktemp("any") / "one.ship"
    names = {"to": "nats://host", "session": str(SHIPPED.session)} if has_names else {}
    path.write_bytes(orjson.dumps(values | names))
    found = read_shipped(path)
    if has_names:
        assert found is not None
        assert 0 <= found.shipped < 1 << 53
        assert isinstance(found.state, ShipState)
        assert len(found.problem) <= 200


def test_it_is_deleted_with_the_session() -> None:
    """Deleting a session deletes its sidecar too; its size counts as the session's."""
    files = new_session_files()
    for path in (files.recording, files.times):
        os.close(create_file(path))
    sidecar = Sidecar(files.shipped)
    sidecar.write(SHIPPED)
    sidecar.close()
    assert session_size(files.recording) == files.shipped.stat().st_size > 0
    delete_session(files.recording)
    assert not files.shipped.exists()
