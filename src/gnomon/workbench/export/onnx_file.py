"""ONNX files of models: linear functions and tree ensembles in the operators of ai.onnx.ml."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError, GnomonError
from gnomon.table.codes import NumberCode
from gnomon.workbench.export.plain_model import PlainModel

OPSET, ML_OPSET = 17, 3  # judgement: operators of 2022 are in every runtime that is still used


class NeedsOnnx(GnomonError, ImportError):
    """The optional package is not installed."""


def onnx_model(plain: PlainModel) -> Any:
    """The ONNX model: input X of doubles; outputs label and probabilities, or value.

    Parameters
    ----------
    plain : PlainModel

    Returns
    -------
    model : onnx.ModelProto
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise NeedsOnnx("ONNX files need their package: pip install 'gnomon[onnx]'") from None
    graph = _Graph(helper)
    x = _filled(graph, plain)
    scores = _linear(graph, plain, x) if plain.coef is not None else _trees(graph, plain, x)
    if plain.classes is None:
        if plain.link == "exp":
            scores = graph.add("Exp", [scores])
        outputs = [_named(graph, scores, "value", TensorProto.FLOAT, [None, 1])]
    else:
        outputs = _classes(graph, plain, scores, TensorProto)
    given = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, len(plain.names)])
    made = helper.make_graph(graph.nodes, "gnomon", [given], outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(made, opset_imports=opsets, producer_name="gnomon", ir_version=8)
    about = {"columns": json.dumps(plain.names), "classes": json.dumps(plain.classes, default=str)}
    helper.set_model_props(model, about)
    checker.check_model(model)
    return model


class _Graph:
    """Nodes and constants as they are added, with names of their own."""

    def __init__(self, helper: Any):
        self.helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(
        self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any
    ) -> str:
        name = output or f"step_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, inputs, [name], **attributes))
        return name


def _filled(graph: _Graph, plain: PlainModel) -> str:
    """The input, its missing numbers replaced where the model was fitted with their means."""
    if plain.codes is None or not any(
        isinstance(code, NumberCode) and not code.keep_missing for code in plain.codes
    ):
        return "X"
    means = [
        code.mean if isinstance(code, NumberCode) and not code.keep_missing else np.nan
        for code in plain.codes
        for _ in code.names
    ]
    missing = graph.add("IsNaN", ["X"])
    return graph.add("Where", [missing, graph.constant(np.array([means])), "X"])


def _linear(graph: _Graph, plain: PlainModel, x: str) -> str:
    assert plain.coef is not None
    product = graph.add("MatMul", [x, graph.constant(plain.coef.T)])
    total = graph.add("Add", [product, graph.constant(plain.intercept[None, :])])
    return graph.add("Cast", [total], to=1)


def _trees(graph: _Graph, plain: PlainModel, x: str) -> str:
    """One ensemble that sums all trees; thresholds stay doubles."""
    from onnx import numpy_helper

    columns: dict[str, list[Any]] = {
        name: [] for name in ("trees", "ids", "modes", "features", "values", "true", "false", "nan")
    }
    leaves: dict[str, list[Any]] = {name: [] for name in ("trees", "nodes", "targets", "weights")}
    for number, (tree, place) in enumerate(plain.trees):
        if len(tree.category_left) and (tree.category >= 0).any():
            raise DataError(
                "the trees split sets of levels, which ONNX cannot say; use --to python, or learn "
                "from columns of numbers"
            )
        inner = tree.left >= 0
        columns["trees"] += [number] * tree.n_nodes
        columns["ids"] += range(tree.n_nodes)
        columns["modes"] += np.where(inner, "BRANCH_LEQ", "LEAF").tolist()
        columns["features"] += np.where(inner, tree.feature, 0).tolist()
        columns["values"] += np.where(inner, tree.threshold, 0.0).tolist()
        columns["true"] += np.where(inner, tree.left, 0).tolist()
        columns["false"] += np.where(inner, tree.left + 1, 0).tolist()
        columns["nan"] += np.where(inner, tree.missing_left, 0).astype(int).tolist()
        targets = range(plain.n_scores) if place is None else [place]
        for node in np.flatnonzero(~inner).tolist():
            for k, target in enumerate(targets):
                leaves["trees"].append(number)
                leaves["nodes"].append(node)
                leaves["targets"].append(target)
                leaves["weights"].append(plain.scale * float(tree.value[node, k]))

    def doubles(values: list[float], name: str) -> Any:
        return numpy_helper.from_array(np.array(values, dtype=np.float64), name)

    return graph.add(
        "TreeEnsembleRegressor",
        [x],
        domain="ai.onnx.ml",
        n_targets=plain.n_scores,
        aggregate_function="SUM",
        base_values_as_tensor=doubles(plain.intercept.tolist(), "base_values"),
        nodes_treeids=columns["trees"],
        nodes_nodeids=columns["ids"],
        nodes_modes=columns["modes"],
        nodes_featureids=columns["features"],
        nodes_values_as_tensor=doubles(columns["values"], "nodes_values"),
        nodes_truenodeids=columns["true"],
        nodes_falsenodeids=columns["false"],
        nodes_missing_value_tracks_true=columns["nan"],
        target_treeids=leaves["trees"],
        target_nodeids=leaves["nodes"],
        target_ids=leaves["targets"],
        target_weights_as_tensor=doubles(leaves["weights"], "target_weights"),
    )


def _named(graph: _Graph, name: str, output: str, kind: int, shape: list[int | None]) -> Any:
    graph.add("Identity", [name], output)
    return graph.helper.make_tensor_value_info(output, kind, shape)


def _classes(graph: _Graph, plain: PlainModel, scores: str, types: Any) -> list[Any]:
    """Probabilities of the classes, and the most probable one."""
    assert plain.classes is not None
    shares = scores
    if plain.link == "logistic":
        second = graph.add("Sigmoid", [scores])
        first = graph.add("Sub", [graph.constant(np.ones((1, 1), np.float32)), second])
        shares = graph.add("Concat", [first, second], axis=1)
    elif plain.link == "softmax":
        shares = graph.add("Softmax", [scores], axis=1)
    place = graph.add("ArgMax", [shares], axis=1, keepdims=0)
    keys = list(range(len(plain.classes)))
    if all(isinstance(each, int) and not isinstance(each, bool) for each in plain.classes):
        kind = types.INT64
        label = graph.add("Gather", [graph.constant(np.array(plain.classes)), place])
    else:
        kind = types.STRING
        names = [str(each) for each in plain.classes]
        label = graph.add(
            "LabelEncoder", [place], domain="ai.onnx.ml", keys_int64s=keys, values_strings=names
        )
    return [
        _named(graph, label, "label", kind, [None]),
        _named(graph, shares, "probabilities", types.FLOAT, [None, len(keys)]),
    ]
