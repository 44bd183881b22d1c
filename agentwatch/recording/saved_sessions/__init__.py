"""The saved sessions of our own: their names, their sizes on disk, and their deletion.

Nothing here is done unless the user asks for it. Only regular files of this user are changed or deleted, in
the folder of saved sessions, with the names that `new_session_files` gives.
"""
