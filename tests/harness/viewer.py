"""A simulated user of a real terminal, who presses keys and waits for what is drawn afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.builders.packed import marks_in
from tests.harness.on_a_pty import in_terminal
from tests.harness.terminal import Terminal
from tests.harness.terminal_oracle import foreign, taken_apart


class Viewer:
    """Presses keys and waits for what is drawn afterwards."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.status: int | None = None

    def see(self, keys: str, wanted: set[tuple[str, int]], folded: int = 0) -> None:
        """Press keys and wait until all wanted marks are drawn.

        At most `folded` marks may be missing, because lines may be folded.
        """
        terminal, begun, looked = self.terminal, len(self.terminal.raw), 0
        missing = set(wanted)

        def is_drawn() -> bool:
            nonlocal looked
            if len(raw := terminal.raw) > looked:
                looked = len(raw)
                missing.difference_update(marks_in(taken_apart(raw[begun:]).text))
            return len(missing) <= folded

        terminal.send(keys)
        try:
            terminal.wait_until(is_drawn, 20)
        except AssertionError:
            assert not sorted(missing), keys

    def press(self, *keys: str) -> None:
        """Press keys, each after the previous key was answered with output."""
        for key in keys:
            begun = len(self.terminal.raw)
            self.terminal.send(key)
            self.terminal.wait_until(lambda begun=begun: len(self.terminal.raw) > begun, 20, key)  # type: ignore[misc]

    def wait_for(self, words: str, keys: str = "") -> None:
        """Press keys, and wait until the words appear in what is drawn afterwards."""
        terminal, begun, looked = self.terminal, len(self.terminal.raw), -1

        def is_drawn() -> bool:
            nonlocal looked
            if len(raw := terminal.raw) == looked:
                return False
            looked = len(raw)
            return words.encode() in taken_apart(raw[begun:]).text

        terminal.send(keys)
        terminal.wait_until(is_drawn, 20, words)


@contextmanager
def watched(
    *arguments: str, size: tuple[int, int] = (160, 600), screens: int = 1, bells: int = 1
) -> Iterator[Viewer]:
    """Yield a viewer of agentwatch's screen; then quit, and check everything written to the terminal."""
    with in_terminal(*arguments, size=size) as terminal:
        viewer = Viewer(terminal)
        yield viewer
        terminal.send("q")
        viewer.status = terminal.wait_exit()
        assert foreign(terminal.raw, screens=screens, bells=bells) == []
        assert terminal.restored(), terminal.leftovers()
