"""Jobs that workers of any backend can import."""

__all__ = ["square"]


def square(number):
    return number**2
