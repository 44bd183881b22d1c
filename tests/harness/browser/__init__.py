"""A headless Chromium, driven over its debugging pipe, for tests of pages."""
