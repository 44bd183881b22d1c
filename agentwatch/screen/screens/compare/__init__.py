"""The app that shows two runs side by side: their calls, their files and their final texts."""
