"""Tests of the grammar that Claude Code, Qwen Code and Amp share."""
