"""Sessions that are sent as OTLP traces."""
