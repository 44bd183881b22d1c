"""Remote sessions: their rows, copies of those that are opened, as ordinary recordings, and publishing."""
