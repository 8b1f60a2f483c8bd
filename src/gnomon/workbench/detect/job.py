"""The job `detect`: draw boxes around the objects in pictures, or learn a detector from boxes.

With a model, each picture is read, searched and let go, so that a folder may be larger than memory.
Without one, a detector is learned from pictures with known boxes: a share of the pictures is put
aside, and mean average precision is measured on them once. Texts: 000c 18.2.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.special import expit, logit

from gnomon.contract.estimate import Estimate
from gnomon.engine.errors import DataError
from gnomon.engine.modelfile import load
from gnomon.table import Table
from gnomon.vision import (
    Detections,
    FasterRCNNDetector,
    FastRCNNDetector,
    RCNNDetector,
    YoloDetector,
    clip_boxes,
    detection_precision,
    read_boxes,
    resize,
)
from gnomon.vision.boxes import as_boxes
from gnomon.vision.detector import Detector, gray_image
from gnomon.vision.picture_folder import PictureFolder, picture_files
from gnomon.vision.scenes import Scene
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.detect.options import JOB, DetectOptions
from gnomon.workbench.detect.result import DetectResult, Found

METHODS = {
    "faster-rcnn": FasterRCNNDetector,
    "fast-rcnn": FastRCNNDetector,
    "rcnn": RCNNDetector,
    "yolo": YoloDetector,
}
BOXES = "boxes.csv"
MODEL = "model.gnomon"
FEWEST = 8  # pictures with boxes that a detector is learned from
MOST_PARTS = 50  # judgement: t with 49 degrees of freedom is nearly normal; boxes match slowly
OFTEN = 16  # pixels that the side of training pictures is a multiple of


@JOB.public
def detect(pictures: Any, options: DetectOptions, request: Request) -> DetectResult:
    """Find objects in pictures by a saved detector, or learn a detector from boxes.

    Use it with ``model`` to draw boxes in new pictures, and without one on a folder whose boxes are
    known. The networks that are learned here are small: use it for objects that a person knows at
    64 x 64 pixels, not for fine detail.

    Returns
    -------
    result : DetectResult

    Examples
    --------
    >>> import tempfile
    >>> import gnomon
    >>> from gnomon.table.picture_files import write_picture
    >>> from gnomon.vision import SlidingWindowDetector, make_scenes
    >>> scenes = make_scenes(9, n_objects=1, random_state=0)
    >>> model = SlidingWindowDetector(n_hard=0, random_state=0).fit(scenes)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = model.save(Path(folder) / "model.gnomon")
    ...     picture = write_picture(scenes[0].image, Path(folder) / "a.png")
    ...     found = gnomon.detect(picture, model=str(saved))
    >>> len(found.found)
    1
    """
    begin = time.perf_counter()
    folder = _opened(pictures)
    truth = _truth(folder, options)
    names = Table.from_dict(
        {"file": [str(each.relative_to(folder.folder)) for each in folder.files]}
    )
    source = str(Path(os.fspath(pictures)).resolve())
    with Run.begin(request.folder, names, source, options, JOB.name) as run:
        if options.model is not None:
            model, tested = _loaded(options.model), None
            run.decide(f"{type(model).__name__} of {options.model}", "the model that was given")
        else:
            model, tested = _learned(folder, truth, options, run, request)
        if options.threshold is not None:
            if not hasattr(model, "threshold"):
                raise DataError(f"{type(model).__name__} has no threshold to change")
            model.set_params(threshold=options.threshold)
        found = _searched(folder, model, truth, tested, request)
        result = DetectResult(model, found, names, run, options)
        result.notes = [*folder.notes(), *_notes(found, truth)]
        result.precision = _precision(found, options.random_state)
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def _opened(pictures: Any) -> PictureFolder:
    """The pictures of a folder, or the one of a file."""
    if not isinstance(pictures, (str, os.PathLike)):
        raise DataError(f"detect takes the path of a folder or picture, not {type(pictures)}")
    place = Path(os.fspath(pictures))
    if place.is_file():
        return PictureFolder(place.parent, [place])
    return PictureFolder(place, picture_files(place))


def _truth(folder: PictureFolder, options: DetectOptions) -> dict[str, Any]:
    """True boxes by the name of the file; empty where none are known."""
    given = options.boxes
    if given is None and (folder.folder / BOXES).is_file():
        given = str(folder.folder / BOXES)
    if given is None:
        if options.model is None:
            raise DataError(
                "there is neither a model to detect with nor a table of boxes to learn from: give "
                "--model RUN, or --boxes boxes.csv with file, left, top, right, bottom, label"
            )
        return {}
    truth = read_boxes(given)
    names = {str(each.relative_to(folder.folder)) for each in folder.files}
    lost = sorted(set(truth) - names)
    if lost and len(folder.files) > 1:
        raise DataError(
            f"{given} names {len(lost):,} files that are not in {folder.folder}, such as "
            f"{lost[0]}. Write names relative to the folder"
        )
    return truth


def _loaded(path: str) -> Any:
    place = Path(path)
    model = load(place / MODEL if place.is_dir() else place)
    if not isinstance(model, Detector):
        raise DataError(
            f"{path} holds a {type(model).__name__}, which gives no boxes. Learn a detector with: "
            "gnomon detect FOLDER --boxes boxes.csv"
        )
    return model


def _learned(
    folder: PictureFolder,
    truth: dict[str, Any],
    options: DetectOptions,
    run: Run,
    request: Request,
) -> tuple[Any, set[str]]:
    """A detector learned from a part of the pictures, and the names of the others."""
    if options.size % OFTEN:
        raise DataError(f"size={options.size} must be a multiple of {OFTEN}")
    request.progress("reading", 0, 1)
    side = (options.size, options.size)
    places, small = folder.reduced(lambda image: (_level(image, side), image.shape[:2]))
    names = [str(folder.files[place].relative_to(folder.folder)) for place in places]
    scenes = []
    for name, (image, shape) in zip(names, small):
        boxes, labels = truth.get(name, (np.zeros((0, 4)), np.zeros(0, dtype=str)))
        known = as_boxes(boxes, f"the boxes of {name}", shape)
        scale = np.tile([side[1] / shape[1], side[0] / shape[0]], 2)
        scenes.append(Scene(image, clip_boxes(known * scale, side)[0], labels))
    with_boxes = sum(len(scene.boxes) > 0 for scene in scenes)
    if with_boxes < FEWEST:
        raise DataError(
            f"{with_boxes} pictures have boxes; a detector needs at least {FEWEST}. Give boxes for "
            "more pictures"
        )
    order = np.random.default_rng(options.random_state).permutation(len(scenes))
    n_test = min(max(round(options.test_share * len(scenes)), 1), len(scenes) - 1)
    tested = {names[place] for place in order[:n_test]}
    run.decide(
        f"{len(scenes) - n_test:,} pictures to learn from, {n_test:,} put aside",
        f"test_share={options.test_share:g}, drawn at random",
    )
    model = METHODS[options.method](max_iter=options.max_iter, random_state=options.random_state)
    request.progress(f"learning {options.method}", 0, 1)
    model.fit([scenes[place] for place in order[n_test:]])
    run.decide(
        f"{options.method}, {options.max_iter} epochs at {side[0]} x {side[1]} pixels",
        f"training loss {model.losses_[0]:.3g} to {model.losses_[-1]:.3g}",
    )
    return model, tested


def _level(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    return resize(gray_image(image), size)


def _searched(
    folder: PictureFolder,
    model: Any,
    truth: dict[str, Any],
    tested: set[str] | None,
    request: Request,
) -> list[Found]:
    """Detections of every picture that can be read."""
    done = iter(range(len(folder.files)))

    def one(image: np.ndarray) -> tuple[Detections, Any]:
        request.progress("detecting", next(done), len(folder.files))
        return model.predict([image])[0], image.shape[:2]

    places, values = folder.reduced(one, n_jobs=1)
    found = []
    for place, (detections, shape) in zip(places, values):
        name = str(folder.files[place].relative_to(folder.folder))
        known = truth.get(name)
        if known is not None:
            as_boxes(known[0], f"the boxes of {name}", shape)
        elif truth:
            known = (np.zeros((0, 4)), np.zeros(0, dtype=str))
        is_test = bool(truth) if tested is None else name in tested
        found.append(Found(folder.files[place], name, detections, known, is_test))
    return found


def _precision(found: list[Found], random_state: int) -> Estimate | None:
    """Mean average precision of the test pictures, with an interval by leaving out pictures.

    The delete-a-group jackknife, Student's t, and the logit scale, as precision lies between 0 and
    1. On 20 pictures of six kinds it covers 90 to 99%, percentiles of a bootstrap 65 to 92%: a
    picture that is drawn twice has its boxes right twice. Where all pictures are right or none is,
    the other end is that of the binomial distribution.
    """
    test = [each for each in found if each.is_test and each.truth is not None]
    if not sum(len(each.truth[0]) for each in test if each.truth is not None):
        return None

    def value(chosen: list[Found]) -> float:
        truth = [each.truth for each in chosen]
        return detection_precision([each.detections for each in chosen], truth).value

    whole = value(test)
    order = np.random.default_rng(random_state).permutation(len(test))
    parts = np.array_split(order, min(MOST_PARTS, len(test)))
    left = [[test[k] for k in np.sort(np.setdiff1d(order, part))] for part in parts]
    known = [each for each in left if any(len(one.truth[0]) for one in each if one.truth)]
    how = f"leaving out pictures, {len(parts)} parts of {len(test)} test pictures"
    if len(known) < 2:
        return Estimate(whole, 0.0, 1.0, error=np.nan, how="one picture: nothing is known")
    values = np.array([value(each) for each in known])
    g = len(values)
    error = float(np.sqrt((g - 1) / g * ((values - values.mean()) ** 2).sum()))
    if whole in (0.0, 1.0) or error == 0:
        rest = 0.025 ** (1 / len(test))
        low, high = (0.0, 1 - rest) if whole == 0 else (whole * rest, min(whole / rest, 1.0))
        return Estimate(whole, low, high, error=error, how=how)
    reach = scipy.stats.t.ppf(0.975, g - 1) * error / (whole * (1 - whole))
    low, high = expit(logit(whole) + np.array([-reach, reach]))
    return Estimate(whole, float(low), float(high), error=error, how=how)


def _notes(found: list[Found], truth: dict[str, Any]) -> list[str]:
    empty = sum(each.truth is not None and not len(each.truth[0]) for each in found)
    notes = []
    if truth and empty:
        notes.append(f"{empty:,} pictures have no box in the table: they count as without objects.")
    if found and not any(len(each.detections) for each in found):
        notes.append(
            "No object was found: lower the threshold, or learn with more epochs (max_iter) or "
            "from more pictures with boxes."
        )
    return notes
