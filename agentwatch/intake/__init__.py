"""Bytes in: the pipe on stdin, or the agent that we start. Nothing here knows what the bytes say."""

from agentwatch.intake.activity import Activity
from agentwatch.intake.agent import AgentProcess
from agentwatch.intake.pipe import PipeIntake
from agentwatch.intake.stderr import StderrFile
from agentwatch.intake.survivors import Survivor

__all__ = ["Activity", "AgentProcess", "PipeIntake", "StderrFile", "Survivor"]
