"""The file of alarms is appended to line by line, and read as foreign data."""

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.recording.alarms import Alarm, AlarmsFile, alarms_of, read_alarms
from tests.builders.lines import ANY_JSON, PROPERTY, line

ALARM = Alarm(
    120, 1_790_000_000_000, 12, 11, 0, 1, "bell", "rm outside", "Ran terminal command rm -rf /tmp/x"
)
FIELDS = {name: value for name, value in ALARM._asdict().items() if name != "is_last"}


def test_what_was_appended_is_read(tmp_path: Path) -> None:
    """A rule about the run has no call, and lone surrogates are replaced."""
    file = AlarmsFile(tmp_path / "r.alarms")
    alarms = [ALARM, ALARM._replace(call=None, words="", is_last=True), ALARM._replace(words="a\ud800b")]
    for alarm in alarms:
        file.append(alarm)
    file.close()
    assert alarms_of(tmp_path / "r.ndjson") == [*alarms[:2], ALARM._replace(words="a?b")]
    # An alarm that a full disk has cut does not swallow the next one.
    file, limits = AlarmsFile(tmp_path / "full.alarms"), resource.getrlimit(resource.RLIMIT_FSIZE)
    file.append(ALARM)
    size = (tmp_path / "full.alarms").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, limits[1]))
    try:
        file.append(ALARM)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.fault is not None
    file.append(ALARM)
    file.close()
    assert read_alarms(tmp_path / "full.alarms") == [ALARM, ALARM]
    # Neither a missing file nor a link, a folder or a FIFO has alarms; a recording may have no name.
    (tmp_path / "link.alarms").symlink_to(tmp_path / "other")
    (tmp_path / "folder.alarms").mkdir()
    os.mkfifo(tmp_path / "fifo.alarms")
    found = [read_alarms(tmp_path / f"{name}.alarms") for name in ("none", "link", "folder", "fifo")]
    assert found == [[], [], [], []]
    assert alarms_of(None) == []


@pytest.mark.system
@given(st.lists(st.dictionaries(st.sampled_from([*FIELDS, "last"]), ANY_JSON)))
@PROPERTY
def test_foreign_lines_are_read_or_ignored(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, object]]
) -> None:
    """Any value of any type is accepted, what is returned has the right types, and a whole line is read."""
    path = tmp_path_factory.getbasetemp() / "foreign.alarms"
    foreign = [entry for given in entries for entry in (given, FIELDS | given)]
    path.write_bytes(b"".join(map(line, foreign)) + b"\xff{[[[\n" + line(FIELDS))
    *others, last = read_alarms(path)
    assert last == ALARM
    for alarm in others:
        assert [*map(type, alarm._replace(call=0))] == [*map(type, ALARM)]
        assert alarm.call is None or type(alarm.call) is int
