"""The command `status`, which prints one line for tmux and shell prompts."""
