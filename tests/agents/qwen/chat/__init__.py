"""Tests of the chats of Qwen Code."""
