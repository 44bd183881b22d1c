"""No test of publishing leaves a process behind."""

from tests.harness.engine.shippers import ended_shippers, no_shipper_is_left

__all__ = ["ended_shippers", "no_shipper_is_left"]
