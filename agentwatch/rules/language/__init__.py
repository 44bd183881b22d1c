"""The language of rules, which select calls, or sessions of a list.

A rule has no functions, no assignment and no recursion, so its length and the number of calls bound its cost.
A vocabulary defines the fields, and readers return their values. A term about an unknown value is neither
true nor false, and neither is its negation.
"""
