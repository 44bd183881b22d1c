"""Exports of sessions."""
