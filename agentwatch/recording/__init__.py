"""The recording: the bytes that an agent wrote, their arrival times, and readers that follow its growth. It
is the queue between an agent and its readers: writing never waits for a reader, and each reader proceeds at
its own pace.
"""
