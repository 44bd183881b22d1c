"""Tests of what is printed without a screen: the formats, and the reasons for runs that did not succeed."""
