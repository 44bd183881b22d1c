"""Gemini: its stream, its chats on disk, and its hooks. The chats have the tools of the stream."""
