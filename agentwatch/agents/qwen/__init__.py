"""Qwen Code: its stream, whose grammar is Claude Code's, and its chats on disk."""
