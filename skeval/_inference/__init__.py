"""What follows from the numbers: intervals, standard errors and tests. Numbers in, numbers out."""

__all__: list[str] = []
