"""The limits of the protocol, in bytes and numbers. A stream refuses what is larger."""

from __future__ import annotations

CHUNK_BYTES = 1 << 16
FAR_CHUNK_BYTES = 1 << 18
"""The largest chunk where a round trip takes over 50 ms: throughput is chunk / round trip."""
FAR_SECONDS = 0.05
HEADER_BYTES = 1 << 14
MESSAGE_BYTES = 300_000
"""`max_msg_size` of the stream of bytes."""
CARD_BYTES = 1 << 11
STORED_CARD_BYTES = 1 << 12
"""`max_msg_size` of the bucket of cards."""
SESSION_MESSAGES = 200_000
"""14 h at 4 messages/s."""
SESSION_BYTES = 1 << 28
"""The publisher stops there. The rest stays in its file, and the card says so."""
SEEN_PER_CHUNK = 512
"""Arrival times in the headers of one chunk; 31 bytes each at most."""
CHUNK_DAYS = 7
CARD_DAYS = 30
CARDS = 20_000
"""Cards that a watcher keeps; of the others it keeps the number."""
LARGEST_NUMBER = 1 << 53
"""Offsets and numbers in cards are below this: every JSON reader can represent them."""
SIGN_OF_LIFE_SECONDS = 30
"""A card is written this often, although nothing has changed."""
LOST_TOUCH_SECONDS = 90
"""A card of a running session that is older counts as `lost touch`."""
