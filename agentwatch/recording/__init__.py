"""The recording: the bytes that an agent wrote, their arrival times, and readers that follow its growth.

Of the package, this folder may import only `capture`, which writes recordings. The recording is the queue
between an agent and its readers: writing never waits for a reader, and each reader proceeds at its own pace.
"""
