"""Makes texts with and without secrets for the tests of redaction. Every secret is made at run time."""
