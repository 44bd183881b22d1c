"""The beginnings of the files of a host that has no agentwatch."""

from typing import cast

from agentwatch.remote.ssh.host_list import Heads, row_of_file
from agentwatch.remote.ssh.shared_connection import Channel, ChannelLines, SshAddress
from tests.remote.ssh.sessions import ID, LINE


class MadeChannel:
    """A host whose answers a test sets."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = [*answers]
        self.asked: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Note a question."""
        self.asked.append(data)

    def read(self, seconds: float) -> bytes:
        """Return the next answer."""
        assert seconds > 0
        return self._answers.pop(0)


def test_a_file_that_was_removed_is_asked_for_once() -> None:
    """A file without bytes where the list shows some is not asked for until the list shows another size."""
    row = row_of_file(f"claude 1795446445 {len(LINE)} ./-srv-app/{ID}.jsonl".encode(), SshAddress("build1"))
    assert row is not None
    channel = MadeChannel(b"head 0\n", b"head %d\n%s" % (len(LINE), LINE.encode()))
    heads, lines = Heads(), ChannelLines(cast("Channel", channel))
    assert heads.read(lines, [row])
    assert not heads.read(lines, [row])
    assert heads.filled([row])[row.key] == row
    grown = row._replace(size=len(LINE) + 1)
    assert heads.read(lines, [grown])
    assert heads.filled([grown])[row.key].title == "Fix it"
    assert channel.asked == [f"head claude {ID}\n".encode()] * 2
