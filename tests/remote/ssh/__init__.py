"""Tests of hosts that ssh reaches, against a real sshd on this machine."""
