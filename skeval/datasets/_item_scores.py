"""Loader for per-item scores of language models from the logs of two harnesses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FIELDS = ["doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"]
FIELDS += ["doc_hash", "prompt_hash", "target_hash"]
"""Fields of a line of lm-evaluation-harness that are not metrics."""
WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Values that inspect assigns to the words of its scorers."""


class Row(NamedTuple):
    """Scores of an item by name, from one filter of answers or without a filter ("")."""

    place: str
    item: Any
    epoch: Any
    way: str
    scores: Mapping[str, Any]

    def name(self, score: str) -> str:
        """Return the name of a score with its filter, as in lm-evaluation-harness."""
        return f"{score},{self.way}" if self.way else score


def load_item_scores(paths: Any, *, score: str | None = None) -> dict[str, np.ndarray]:
    """Load the score of each item under each language model from the logs of a harness.

    Parameters
    ----------
    paths : str, path-like, list of them, or dict of str to any of these
        Logs of one task: files ``samples_*.jsonl``, written by lm-evaluation-harness with
        ``--log_samples``, or JSON logs of inspect (converted with ``inspect log convert --to
        json``). The keys of a dict name the systems; several files of one system are its runs.
        Without a dict, the name of a system is the model in an inspect log, or the folder of a file
        of lm-evaluation-harness.
    score : str, default=None
        Score to read: a metric ("acc"), with the filter of the answers if there are several
        ("exact_match,strict-match"), or a scorer of inspect ("match"), with the entry if it returns
        several ("grader/style"). None uses the only score.

    Returns
    -------
    rows : dict of str to ndarray of shape (n_rows,)
        A row for each item, system and run: "item" (integers if all items are, else text),
        "system", "score" and "seed", which numbers the runs of a system over files and epochs. The
        result can be passed to `compare_items` and to constructors of data frames.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError
        If `paths` has another type, or `score` is not a string.
    ValueError
        If a file is not such a log, has no score of this name, or has several scores and `score` is
        None; if an item has no score, a score that is not finite, or two scores in one run; if two
        files without a dict belong to one system, or two files have different scores. The message
        names the file and the line or position in the log.

    See Also
    --------
    skeval.model_selection.compare_items : Compares the systems.

    Notes
    -----
    As in inspect, "C", "yes" and "true" count as 1, "P" (partial) as 0.5, "I", "N" (no answer),
    "no" and "false" as 0, and numeric text as its number. Unlike in inspect, nothing else counts as
    0: an item that a scorer omitted or that failed raises an error, because the mean over the
    remaining items would be biased toward easier items. Items are matched by ``doc_id`` or ``id``
    alone, so logs of other versions of a task, or with another order of its items, cannot be
    detected. If a smaller score is better, as for perplexity, change its sign before comparing
    systems.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from skeval.datasets import load_item_scores
    >>> lines = [{"doc_id": item, "filter": "none", "acc": item % 2} for item in range(4)]
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "samples_task.jsonl"
    ...     _ = file.write_text("\\n".join(map(json.dumps, lines)))
    ...     rows = load_item_scores({"small": file}, score="acc")
    >>> rows["item"].tolist(), rows["score"].tolist(), set(rows["system"].tolist())
    ([0, 1, 2, 3], [0.0, 1.0, 0.0, 1.0], {'small'})
    """
    if score is not None and not isinstance(score, str):
        raise TypeError(f"score must be the name of a score, got {score!r}.")
    files = list(_list_files(paths))
    chosen: dict[str, str] = {}
    rows_read: list[tuple[Any, str, float, int]] = []
    for system, own in groupby(files, key=lambda pair: pair[0]):
        seen: dict[tuple[str, int], str] = {}
        n_runs = 0
        for _, rows in own:
            name, metric, way = _choose_score(rows, score)
            chosen[name] = rows[0].place
            kept = [row for row in rows if row.way == way]
            for row in kept:
                run = n_runs + row.epoch
                if (str(row.item), run) in seen:
                    before = seen[str(row.item), run]
                    raise ValueError(f"{row.place}: item {row.item!r} has its score in {before}.")
                seen[str(row.item), run] = row.place
                rows_read.append((row.item, system, _read_score(row, metric), run))
            n_runs += max(row.epoch for row in kept)
    if len(chosen) > 1:
        places = " and ".join(f"{name!r} ({place})" for name, place in chosen.items())
        raise ValueError(f"score must be the same in all files, got {places}.")
    items, systems, scores, runs = zip(*rows_read, strict=True)
    whole = all(isinstance(item, int) for item in items)
    return {
        "item": np.array(items if whole else list(map(str, items))),
        "system": np.array(systems),
        "score": np.array(scores),
        "seed": np.array(runs),
    }


def _list_files(paths: Any) -> Iterator[tuple[str, list[Row]]]:
    """Yield the system of each file and its rows."""
    names: list[str] = []
    named = isinstance(paths, Mapping)
    for system, entry in paths.items() if named else [(None, paths)]:
        listed = [entry] if isinstance(entry, str | PathLike) else entry
        if not isinstance(listed, list | tuple) or not listed:
            raise TypeError(f"paths must hold paths, or a list of them, got {entry!r}.")
        for item in listed:
            if not isinstance(item, str | PathLike):
                raise TypeError(f"paths must hold paths, got {item!r}.")
            path = Path(item)
            if not path.is_file():
                raise FileNotFoundError(f"no file {str(item)!r}.")
            name, rows = _read_log(path)
            name = str(system) if named else name
            if not named and name in names:
                raise ValueError(
                    f"paths must be a dict where two files are of one system, got two of {name!r}."
                )
            names.append(name)
            yield name, rows
    if not names:
        raise TypeError("paths must hold a path at least, got none.")


def _read_log(path: Path) -> tuple[str, list[Row]]:
    """Return the name of the system, and the rows of a file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        stored = "; inspect log convert --to json makes it" if path.suffix == ".eval" else ""
        raise ValueError(f"{path.name} must be JSON in UTF-8{stored}: {error}.") from error
    if path.suffix == ".jsonl":
        name = path.resolve().parent.name or path.stem
        lines = enumerate(text.split("\n"), start=1)
        rows = [_read_line(f"{path.name}: line {at}", line) for at, line in lines if line.strip()]
    else:
        log = _parse(path.name, text)
        samples = log.get("samples")
        if not isinstance(samples, list):
            raise ValueError(
                f"{path.name} must end in .jsonl, or hold a log of inspect with its samples; it "
                f"has the keys {list(log)[:8]}."
            )
        name = str((log.get("eval") or {}).get("model", path.stem))
        start = f"{path.name}: samples"
        rows = [_read_sample(f"{start}[{at}]", sample) for at, sample in enumerate(samples)]
    if not rows:
        raise ValueError(f"{path.name} holds no samples.")
    return name, rows


def _parse(place: str, text: str) -> dict[str, Any]:
    """Return the JSON object in a text."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is not JSON: {error}.") from error
    if not isinstance(read, dict):
        raise ValueError(f"{place} must hold an object of JSON, got {type(read).__name__}.")
    return read


def _make_row(place: str, item: Any, epoch: Any, way: str, scores: Any) -> Row:
    """Return the validated row of an item."""
    if not isinstance(item, int | str):
        raise ValueError(f"{place} must have doc_id or id, a number or a text, got {item!r}.")
    if not isinstance(epoch, int) or not 1 <= epoch <= 10**6:
        raise ValueError(f"{place}: epoch must be a number from 1, got {epoch!r}.")
    if not isinstance(scores, dict) or not scores:
        raise ValueError(f"{place} (item {item!r}) has no scores.")
    return Row(place, item, epoch, way, scores)


def _read_line(place: str, line: str) -> Row:
    """Return the scores in a line of lm-evaluation-harness; old logs do not list the metrics."""
    read = _parse(place, line)
    names = read.get("metrics", [name for name in read if name not in FIELDS])
    scores = {name: read[name] for name in names if name in read}
    return _make_row(place, read.get("doc_id"), 1, str(read.get("filter", "")), scores)


def _read_sample(place: str, sample: Any) -> Row:
    """Return the scores of a sample of inspect; old logs have a single unnamed score."""
    if not isinstance(sample, dict):
        raise ValueError(f"{place} must be an object of JSON, got {sample!r}.")
    entry = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    scores: dict[str, Any] = {}
    for scorer, result in entry.items() if isinstance(entry, dict) else ():
        value = result.get("value") if isinstance(result, dict) else result
        entries = value if isinstance(value, dict) else {None: value}
        scores |= {
            scorer if key is None else f"{scorer}/{key}": entry for key, entry in entries.items()
        }
    return _make_row(place, sample.get("id"), sample.get("epoch", 1), "", scores)


def _choose_score(rows: list[Row], score: str | None) -> tuple[str, str, str]:
    """Return the full name, the metric and the filter of the requested or the only score."""
    names = {row.name(metric): (metric, row.way) for row in rows for metric in row.scores}
    fitting = [name for name, parts in names.items() if score in (None, name, parts[0])]
    if len(fitting) != 1:
        file = rows[0].place.split(": ")[0]
        raise ValueError(f"score must name one of {list(names)} in {file}, got {score!r}.")
    return fitting[0], *names[fitting[0]]


def _read_score(row: Row, score: str) -> float:
    """Return a score as a number."""
    value = row.scores.get(score)
    number = np.nan
    if isinstance(value, bool | int | float | str):
        words = str(value)
        try:
            number = WORDS.get(words, WORDS.get(words.lower(), np.nan))
            number = float(value) if np.isnan(number) else number
        except (ValueError, OverflowError):
            number = np.nan
    if not np.isfinite(number):
        raise ValueError(
            f"{row.place} (item {row.item!r}): {score} must be a finite number or one of "
            f"{', '.join(WORDS)}, got {value!r}."
        )
    return number
