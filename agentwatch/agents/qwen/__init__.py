"""The decoder of Qwen Code's `stream-json` format, whose grammar is Claude Code's."""
