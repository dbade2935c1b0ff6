"""Plots are drawn without a screen."""

import matplotlib

matplotlib.use("agg")
