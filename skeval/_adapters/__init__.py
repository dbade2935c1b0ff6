"""Adapters. Each recognizes an estimator of scikit-learn and passes its fits to a solver."""
