"""Tests of the format of Qwen Code."""
