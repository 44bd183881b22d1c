"""Check a recording that lost bytes to a full disk."""

import re
from pathlib import Path


def fits(stream: bytes, recording: Path) -> bool:
    """Return whether a recording equals the stream except for the gaps noted in its times file."""
    kept, at, place = recording.read_bytes(), 0, 0
    gaps = re.findall(r"(?m)^gap (\d+) (\d+)$", recording.with_suffix(".times").read_text())
    for offset, missing in [*((int(a), int(b)) for a, b in gaps), (len(kept), 0)]:
        if kept[at:offset] != stream[place : place + offset - at]:
            return False
        at, place = offset, place + offset - at + missing
    return place == len(stream)
