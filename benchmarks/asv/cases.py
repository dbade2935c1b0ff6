"""Our side of the scripts in the folder above, timed over the commits by airspeed velocity."""

import sys
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import bleu
import bootstrap
import external
import permute_cv2
import perturb
from _harness import colon
from sklearn.datasets import make_blobs

from skeval.metrics import bleu_score
from skeval.metrics.cluster import dunn_score, external_indices, internal_indices
from skeval.model_selection import bootstrap_error


class Perturbation:
    """perturb-colon, perturb-bc, perturb-5000."""

    params = ("colon", "bc", "5000")

    def setup(self, name):
        (self.X, self.y), n_resamples = perturb.case(name)
        self.weights = np.random.default_rng(0).exponential(size=(n_resamples, len(self.y)))

    def time_interval(self, name):
        perturb.ours(self.X, self.y, self.weights)

    def peakmem_interval(self, name):
        perturb.ours(self.X, self.y, self.weights)


class Bootstrap:
    """boot-632, boot-mlxtend."""

    params = ("632", "generic")

    def setup(self, name):
        self.model, self.X, self.y, self.n_resamples = bootstrap.case(name)

    def time_632_plus(self, name):
        bootstrap_error(self.model, self.X, self.y, n_resamples=self.n_resamples, random_state=0)


class Permutation:
    """permute-cv2."""

    def setup(self):
        self.X, self.y, _ = colon()

    def time_selection_inside(self):
        permute_cv2.ours(self.X, self.y, permute_cv2.orders(len(self.y), 100))


class Clustering:
    """internal-pass, internal-memory, dunn-scale, external."""

    def setup(self):
        blobs = partial(make_blobs, centers=8, random_state=0)
        self.X, self.y = blobs(20_000, 10, cluster_std=5.0)
        self.large = blobs(10**5, 3, cluster_std=3.0)
        self.pair = external.labels(10**6)

    def time_internal(self):
        internal_indices(self.X, self.y)

    def peakmem_internal(self):
        internal_indices(self.X, self.y)

    def time_dunn(self):
        dunn_score(*self.large)

    def time_external(self):
        external_indices(*self.pair)


class Bleu:
    """bleu."""

    def setup(self):
        self.texts = bleu.corpus(10_000)

    def time_corpus(self):
        bleu_score(*self.texts)
