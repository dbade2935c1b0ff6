"""Metrics of classifiers, regressors, rankings and translations, ready for make_scorer."""

__all__: list[str] = []
