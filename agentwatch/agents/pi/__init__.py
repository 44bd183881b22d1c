"""The stream of `pi --mode json`, and Pi's session files: captures of Pi 0.73 and 0.74, and the types up
to 1.0 (`AgentSessionEvent`, `SessionEntry`). The forks omp and oh-my-pi write dialects."""
