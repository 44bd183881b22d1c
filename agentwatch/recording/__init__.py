"""The recording: the bytes that the agent wrote, their arrival times, and readers that follow it.

The recording is the queue between the agent and everything that watches it. The source appends to it without
waiting for anybody, and every reader reads at its own pace.
"""

from agentwatch.recording.disk_sync import DiskSync
from agentwatch.recording.head_tail import HeadTailReader
from agentwatch.recording.lines import MOST_LINE_BYTES, Growth, Line, LineReader, Lines
from agentwatch.recording.saved import SavedGrowth, open_saved
from agentwatch.recording.store import (
    SessionFiles,
    create_file,
    is_at,
    nameless_file,
    new_session_files,
    saved_recordings,
    sessions_folder,
)
from agentwatch.recording.times import ArrivalTimes, now_ms
from agentwatch.recording.wakeup import Wakeup

__all__ = [
    "MOST_LINE_BYTES",
    "ArrivalTimes",
    "DiskSync",
    "Growth",
    "HeadTailReader",
    "Line",
    "LineReader",
    "Lines",
    "SavedGrowth",
    "SessionFiles",
    "Wakeup",
    "create_file",
    "is_at",
    "nameless_file",
    "new_session_files",
    "now_ms",
    "open_saved",
    "saved_recordings",
    "sessions_folder",
]
