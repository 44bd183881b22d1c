"""The figures of publishing and of watching other machines; `engine.py` runs them.

Servers, recordings and publishers are those of the tests, which are importable from this checkout.
"""

import sys

from measure import HERE

sys.path.insert(0, str(HERE.parent))
