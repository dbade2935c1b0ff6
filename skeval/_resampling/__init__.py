"""How it is repeated: plans, the one loop over fits, jobs and what is kept of them."""

from __future__ import annotations
