"""The process of a started agent is watched, and what it leaves behind is found."""
