"""What a session means: integrity, silence, status, loops, files, time, search."""
