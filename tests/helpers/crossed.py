"""Which cases of a test run that is made for many."""


def choose_cases(items, kind):
    """Return cases of a test: the first and the last, or those which together hold every value."""
    if kind == "few":
        return {items[0], items[-1]}
    values = {each: set(enumerate(each.callspec._idlist)) for each in items if has_cases(each)}
    missing, chosen = set().union(*values.values()), {each for each in items if each not in values}
    while missing:
        best = max(values, key=lambda each: len(values[each] & missing))  # the first of the best
        chosen.add(best)
        missing -= values[best]
    return chosen


def has_cases(item):
    """Say whether a test is made for values of parameters."""
    return hasattr(item, "callspec")
