"""Claude Code: its stream, its transcripts, and its reported state. Qwen Code and Amp share its grammar."""
