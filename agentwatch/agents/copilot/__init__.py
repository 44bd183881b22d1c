"""The format of the GitHub Copilot CLI: `events.jsonl` on disk, and the stream of `--output-format json`.
Both have the same lines. The stream has deltas and other passing events in addition, no `session.start`, and
a result line at its end. Sources: files of Copilot CLI 0.0.420 to 1.0.102, captures of its stream published
by others (1.0.63 to 1.0.76), and the types of `@github/copilot-sdk` (`session-events.ts`)."""
