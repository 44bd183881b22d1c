"""The decoder of Amp's `--stream-json` format, whose grammar is Claude Code's."""
