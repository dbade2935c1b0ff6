"""What a reader should know before quoting a number: a sentence, and a code to look it up by."""

from __future__ import annotations

from typing import Any

__all__ = ["Caution"]


class Caution(str):
    """A sentence with the code of the check that found it.

    It is a string. The page "What can make an error estimate a lie" of the documentation has a
    section for each code.

    Attributes
    ----------
    code : str
        Name of the check, such as "copies".
    headline : str
        Where the fault is so grave that the error must not be quoted: what it is, as a short
        clause for the first sentence of a report. Else empty.
    """

    code: str
    headline: str

    def __new__(cls, code: str, text: str, headline: str = "") -> Caution:
        """Return the sentence."""
        self = super().__new__(cls, text)
        self.code, self.headline = code, headline
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return what makes a copy of it."""
        return self.code, str(self), self.headline
