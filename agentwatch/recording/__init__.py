"""The recording: the bytes that an agent wrote, their arrival times, and readers that follow its growth.

Of the package, this folder may import only `capture`, which writes recordings. The recording is the queue
between an agent and its readers: writing never waits for a reader, and each reader proceeds at its own pace.
"""

from agentwatch.recording.appender import line_start, now_ms
from agentwatch.recording.ends import (
    bytes_before,
    ends_of_line,
    first_bytes,
    first_lines,
    is_one_document,
    last_lines,
    line_end_after,
    lines_between,
    lines_from_end,
)
from agentwatch.recording.head_tail import HeadTailReader
from agentwatch.recording.lines import MOST_LINE_BYTES, Growth, Line, LineReader, Lines, Until
from agentwatch.recording.saved import SavedGrowth, open_saved
from agentwatch.recording.store import (
    SessionFiles,
    create_file,
    is_at,
    nameless_file,
    new_session_files,
    open_own,
    open_regular,
    private_folder,
    read_object,
    saved_recordings,
    sessions_folder,
)
from agentwatch.recording.times import ArrivalTimes, WrittenTimes
from agentwatch.recording.write_lock import (
    SavedProcess,
    hold,
    is_being_written,
    is_locked,
    read_process,
    release,
)

__all__ = [
    "MOST_LINE_BYTES",
    "ArrivalTimes",
    "Growth",
    "HeadTailReader",
    "Line",
    "LineReader",
    "Lines",
    "SavedGrowth",
    "SavedProcess",
    "SessionFiles",
    "Until",
    "WrittenTimes",
    "bytes_before",
    "create_file",
    "ends_of_line",
    "first_bytes",
    "first_lines",
    "hold",
    "is_at",
    "is_being_written",
    "is_locked",
    "is_one_document",
    "last_lines",
    "line_end_after",
    "line_start",
    "lines_between",
    "lines_from_end",
    "nameless_file",
    "new_session_files",
    "now_ms",
    "open_own",
    "open_regular",
    "open_saved",
    "private_folder",
    "read_object",
    "read_process",
    "release",
    "saved_recordings",
    "sessions_folder",
]
