"""The alarms beside a recording: the hits of rules, with their times."""

from agentwatch.recording.alarms.file import Alarm, AlarmsFile, alarms_of, read_alarms

__all__ = ["Alarm", "AlarmsFile", "alarms_of", "read_alarms"]
