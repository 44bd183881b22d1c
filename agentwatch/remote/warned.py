"""Which warning about an engine the user has read: each is given once, and again when it changes.

`AGENTWATCH_HOME/warned` has a file with the last warning for each engine.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256

from agentwatch.engine.address import EngineAddress
from agentwatch.recording import create_file, open_regular, private_folder
from agentwatch.state_folder import state_folder

_MOST_BYTES = 1000


def is_news(engine: EngineAddress, warning: str) -> bool:
    """Return whether a warning about an engine is new, and record that it was given.

    Without a home that can be written, it is given each time.

    Args:
        engine: The engine; it is the same one for each of its users.
        warning: The warning. An empty one is never new.
    """
    if not warning:
        return False
    data = warning.encode("utf-8", "replace")[:_MOST_BYTES]
    path = state_folder() / "warned" / sha256(f"{engine.host}:{engine.port}".encode()).hexdigest()[:32]
    with suppress(OSError):
        fd = open_regular(path)
        before = os.pread(fd, _MOST_BYTES, 0)
        os.close(fd)
        if before == data:
            return False
    with suppress(OSError):
        private_folder(path.parent)
        new = path.with_suffix(f".{os.getpid()}")
        fd = create_file(new)
        os.write(fd, data)
        os.close(fd)
        os.replace(new, path)
    return True
