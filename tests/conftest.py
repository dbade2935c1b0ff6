"""What holds for all tests."""

from hypothesis import settings

# Tests that run side by side share the cores, so the time of one example says nothing.
settings.register_profile("shared cores", deadline=None)
settings.load_profile("shared cores")
