"""The formats of Pi: the stream of `pi --mode json`, and its session files. Sources: captures of Pi 0.73 and
0.74, and the types of Pi up to 1.0 (`AgentSessionEvent`, `SessionEntry`). The forks omp and oh-my-pi write
dialects of both formats."""
