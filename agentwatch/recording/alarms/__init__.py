"""The alarms beside a recording: when which rule was hit."""

from agentwatch.recording.alarms.file import Alarm, AlarmsFile, alarms_of, read_alarms

__all__ = ["Alarm", "AlarmsFile", "alarms_of", "read_alarms"]
