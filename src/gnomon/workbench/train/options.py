"""The options of the job ``train``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class TrainOptions(Options):
    """The options of `train`."""

    target: str = option(
        column=True,
        help="The column to predict. Rows in which it is missing are not used.",
    )
    without: list[str] = option([], column=True, help="Columns that are not used.")
    task: str = option(
        "auto",
        choices=("auto", "classify", "regress"),
        help="Categories, booleans, two numbers, and few whole numbers under a name such as class, "
        "type or species are classified; other numbers are regressed.",
    )
    network: str | None = option(
        None,
        help="A file that describes the layers before the last, or their description itself, one "
        "layer a line, such as 'Dense units=64 activation=relu'. By default dense layers of the "
        "sizes of --hidden. A description of images begins with their shape: 'input 28 28 1'.",
    )
    hidden: list[int] = option([], help="Units of each hidden layer; one layer of 64 by default.")
    activation: str = option("relu", help="Activation of these layers.")
    dropout: float = option(
        0.0, least=0, help="Share of the units of each of these layers dropped in a step; below 1."
    )
    solver: str = option(
        "adam",
        choices=("adam", "adamw", "sgd", "momentum", "nesterov", "adagrad", "rmsprop"),
        help="How steps follow from gradients.",
    )
    learning_rate: float = option(
        0.001, flag="learning-rate", least=0, open=True, help="The step size."
    )
    alpha: float = option(1e-4, least=0, help="Penalty on the squared weights.")
    init_scale: float | None = option(
        None,
        flag="init-scale",
        least=0,
        open=True,
        help="Factor of the first weights. By default that of the rule of He.",
    )
    batch_size: int = option(64, flag="batch-size", least=1, help="Rows of a batch.")
    max_iter: int = option(100, flag="epochs", least=1, help="Most epochs.")
    n_iter_no_change: int = option(
        10, flag="patience", least=1, help="Epochs without a better validation loss before the end."
    )
    n_search: int = option(
        0,
        flag="search",
        least=0,
        help="Settings of step size, penalty and first scale that are tried together, in a fifth "
        "of the epochs each; the best of them is trained to the end.",
    )
    dtype: str = option(
        "float64",
        choices=("float64", "float32"),
        help="What training computes in; float32 takes about half the time.",
    )
    random_state: int = option(0, flag="seed", least=0, help="Seed of splits, weights and batches.")


JOB = Job("train", TrainOptions, positional=("target",))
