"""Newton systems of many linear SVMs at once, in feature space or on Gram matrices.

With ``beta = y * alpha``, an SVM's decision values are ``f = K beta + b`` and ``sum(beta) = 0``.
Both solvers of this package (interior point and active set) take steps of one kind: given
diagonals ``D`` and targets ``e``, find the step with

    d_beta = D (e - df),    df = K (beta + d_beta) - K v + db,    sum(beta + d_beta) = 0,

where ``v`` stands for the present coefficients. The two classes here solve that for B problems in
one go; they differ in what the coefficients are.
"""

import copy

import numpy as np

__all__ = ["FeatureSystem", "GramSystem", "OwnFeatures"]

# Above this many numbers the products of columns are not stored but formed problem by problem.
_MAX_PRODUCTS = 2**23


def solve_each(matrices, right):
    """Return the solutions of a stack of linear systems, nan for those that are singular."""
    try:
        return np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:  # raised for the whole stack where one of them is
        if len(matrices) == 1:
            return np.full(right.shape, np.nan)
    half = len(matrices) // 2
    return np.concatenate(
        [solve_each(matrices[:half], right[:half]), solve_each(matrices[half:], right[half:])]
    )


class FeatureSystem:
    """Few features: the coefficients are the weights ``w`` of the columns.

    Minimises ``1/2 sum_j ridge_j w_j^2 + sum_i C_i max(0, 1 - y_i f(x_i))``. The ridge carries
    every scaling of the columns, per problem if need be: standardising a column by ``s`` is the
    same as the ridge ``s^2`` on the raw column (the means only shift the intercept). Samples held
    at their upper bound outside of `X` enter through `pull` ``= sum_i y_i C_i (x_i, 1)``.
    """

    # For samples held on their margin: D in units of 1 / K_ii, and how often to step at least.
    stiffness, repeats = 1e8, 2

    def __init__(self, X, ridge, pull=None):
        self.Z = np.column_stack([X, np.ones(len(X))])
        self.ridge = ridge
        self.pull = pull
        q = self.Z.shape[1]
        upper = np.triu_indices(q)
        self._unpack = np.empty((q, q), dtype=np.intp)
        self._unpack[upper] = self._unpack[upper[::-1]] = np.arange(len(upper[0]))
        self._products = None
        if len(X) * len(upper[0]) <= _MAX_PRODUCTS:
            self._products = self.Z[:, upper[0]] * self.Z[:, upper[1]]

    def take(self, problems):
        part = copy.copy(self)
        if self.ridge.ndim == 2:
            part.ridge = self.ridge[problems]
        if self.pull is not None:
            part.pull = self.pull[problems]
        return part

    def take_samples(self, samples):
        part = copy.copy(self)
        part.Z = np.ascontiguousarray(self.Z[samples])
        if self._products is not None:
            part._products = np.ascontiguousarray(self._products[samples])
        return part

    def with_ridge(self, ridge):
        part = copy.copy(self)
        part.ridge = ridge
        return part

    def with_pull(self, ridge, pull):
        part = self.with_ridge(ridge)
        part.pull = pull
        return part

    def zeros(self, n_problems):
        return np.zeros((n_problems, self.Z.shape[-1] - 1))

    def moments(self, beta):
        total = beta @ self.Z
        return total if self.pull is None else total + self.pull

    def coef(self, beta):
        return self.moments(beta)[:, :-1] / self.ridge

    def scores(self, w):
        return w @ self.Z[:, :-1].T

    @property
    def rank(self):
        return self.Z.shape[-1]

    def squared_norm(self, w):
        return np.einsum("bj,bj->b", w * self.ridge, w)

    def kernel_scale(self):
        """Return the mean of ``K_ii``, per problem where the ridge is."""
        return np.sum(np.mean(self.Z[:, :-1] ** 2, axis=0) / self.ridge, axis=-1)

    def factor(self, D):
        M = self._weighted_products(D)
        diagonal = np.arange(M.shape[1] - 1)
        # Besides the ridge a hair of the diagonal, or exact copies of a column could be singular.
        M[:, diagonal, diagonal] += self.ridge + 1e-14 * M[:, diagonal, diagonal]
        corner = M[:, -1, -1]
        corner[corner == 0] = 1.0  # no free sample: the intercept is not determined here
        self._matrix = M

    def _weighted_products(self, D):
        if self._products is not None:
            return np.take(D @ self._products, self._unpack, axis=1)
        M = np.empty((len(D), *self._unpack.shape))
        for out, root in zip(M, np.sqrt(D), strict=True):
            scaled = root[:, None] * self.Z
            np.matmul(scaled.T, scaled, out=out)
        return M

    def _changes(self, d):
        return d @ self.Z.T

    def step(self, D, e, beta, w):
        right = self.moments(beta + D * e)
        right[:, :-1] -= self.ridge * w
        d = solve_each(self._matrix, right[:, :, None])[:, :, 0]
        df = self._changes(d)
        return d[:, :-1], d[:, -1], df, D * (e - df)


class OwnFeatures(FeatureSystem):
    """Few features, other ones in every problem: X (B, n, p) and a ridge (B, p)."""

    def __init__(self, X, ridge):
        ones = np.ones((*X.shape[:2], 1))
        self.Z, self.ridge, self.pull = np.concatenate([X, ones], axis=2), ridge, None

    def take(self, problems):
        part = copy.copy(self)
        part.Z, part.ridge = self.Z[problems], self.ridge[problems]
        return part

    def moments(self, beta):
        return np.matmul(beta[:, None, :], self.Z)[:, 0]

    def scores(self, w):
        return np.matmul(self.Z[:, :, :-1], w[:, :, None])[:, :, 0]

    def kernel_scale(self):
        return np.sum(np.mean(self.Z[:, :, :-1] ** 2, axis=1) / self.ridge, axis=-1)

    def _weighted_products(self, D):
        return np.matmul(self.Z.transpose(0, 2, 1) * D[:, None, :], self.Z)

    def _changes(self, d):
        return np.matmul(self.Z, d[:, :, None])[:, :, 0]


class GramSystem:
    """Many features: the coefficients weigh the samples, ``f = K v + b``, and ``v -> beta``."""

    stiffness, repeats = 1e11, 1

    def __init__(self, K):
        self.K = K

    def take(self, problems):
        return self if self.K.ndim == 2 else GramSystem(self.K[problems])

    def zeros(self, n_problems):
        return np.zeros((n_problems, self.K.shape[-1]))

    def moments(self, beta):
        return beta.sum(axis=1, keepdims=True)

    def coef(self, beta):
        return beta

    def scores(self, v):
        if self.K.ndim == 2:
            return v @ self.K
        return np.matmul(v[:, None, :], self.K)[:, 0]

    @property
    def rank(self):
        return self.K.shape[-1]

    def squared_norm(self, v):
        return np.einsum("bi,bi->b", v, self.scores(v))

    def kernel_scale(self):
        return np.mean(np.diagonal(self.K, axis1=-2, axis2=-1), axis=-1)

    def factor(self, D):
        """Prepare ``I + S K S`` with ``S = D^(1/2)`` on the samples of non-zero D."""
        count = int(np.count_nonzero(D, axis=1).max())
        self._inside = None
        K, S = self.K, np.sqrt(D)
        if count < 0.8 * D.shape[1]:
            self._inside = np.argsort(D == 0, axis=1, kind="stable")[:, : max(count, 1)]
            S = np.take_along_axis(S, self._inside, axis=1)
            K = self._gather(self._inside)
        M = S[:, :, None] * K
        M *= S[:, None, :]
        diagonal = np.arange(M.shape[1])
        M[:, diagonal, diagonal] += 1.0
        self._matrix, self._root = M, S

    def _gather(self, inside):
        rows, columns = inside[:, :, None], inside[:, None, :]
        if self.K.ndim == 2:
            return self.K[rows, columns]
        return self.K[np.arange(len(inside))[:, None, None], rows, columns]

    def step(self, D, e, beta, v):
        S, lag = self._root, beta - v
        right = e - self.scores(lag) if lag.any() else e
        if self._inside is not None:
            right = np.take_along_axis(right, self._inside, axis=1)
        u = solve_each(self._matrix, np.stack([S * right, S], axis=2))
        weight = np.einsum("bi,bi->b", S, u[:, :, 1])
        excess = beta.sum(axis=1) + np.einsum("bi,bi->b", S, u[:, :, 0])
        db = excess / np.where(weight == 0, 1.0, weight)
        change = S * (u[:, :, 0] - db[:, None] * u[:, :, 1])
        if self._inside is not None:
            inside, change = change, np.zeros_like(beta)
            np.put_along_axis(change, self._inside, inside, axis=1)
        dv = lag + change
        return dv, db, self.scores(dv) + db[:, None], change
