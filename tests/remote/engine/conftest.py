"""No test of engines leaves a process that ships."""

from tests.harness.engine.shippers import ended_shippers, no_shipper_is_left

__all__ = ["ended_shippers", "no_shipper_is_left"]
