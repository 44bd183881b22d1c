"""Finds texts that Codex repeats after a lost connection."""

from __future__ import annotations

from collections import deque
from hashlib import blake2b

_MOST_TEXTS = 64


class Repeats:
    """The texts of the present answer of the model, by digest.

    If the connection is lost inside an answer, Codex asks the model again. The items that had been complete
    then appear a second time with new ids. They are the same part of the same answer, so a text that is
    repeated after a retry, in the same order, is not new.
    """

    def __init__(self) -> None:
        self._texts: deque[bytes] = deque(maxlen=_MOST_TEXTS)
        self._expected: deque[bytes] = deque()

    def is_repeated(self, kind: str, text: str) -> bool:
        """Return whether a text repeats one from before the last retry. Otherwise keep it."""
        digest = blake2b(f"{kind}\n{text}".encode("utf-8", "surrogatepass")).digest()
        if digest in self._expected:
            while self._expected.popleft() != digest:
                pass
            return True
        self._texts.append(digest)
        return False

    def retry(self) -> None:
        """Expect the texts so far to be repeated."""
        self._expected = deque(self._texts)

    def clear(self) -> None:
        """Forget all texts: the answer is complete, because a tool was called or the turn ended."""
        self._texts.clear()
        self._expected.clear()
