"""The sessions of this machine as one line of counts, for tmux and shell prompts.

A prompt waits for the line, so importing this folder loads no decoder and no third-party package.
"""
