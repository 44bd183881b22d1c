"""Tests of the counts that a list passes to tmux and shell prompts."""
