"""The command `completion`: the script that completes the words of agentwatch in a shell."""
