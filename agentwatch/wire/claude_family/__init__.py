"""The neutral format of a stream whose head is missing, and whose lines several agents write alike.

Claude Code, Qwen Code and Amp share a grammar. Without an init, many of their lines do not show which of them
wrote them. The first line that does decides.
"""
