"""The options of the job ``topics``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class TopicsOptions(Options):
    """The options of `topics`, and what the run settled where none was given."""

    text: str | None = option(
        None,
        settled=True,
        column=True,
        help="The column of texts; the only one of text by default.",
    )
    n_topics: int | None = option(
        None,
        least=1,
        help="Topics; the number that predicts held-out words best by default.",
    )
    time: str | None = option(
        None, column=True, help="A column of dates: topics are shown over time."
    )
    stop_words: str = option(
        "english", choices=("english", "none"), help="Frequent words that are left out."
    )
    stemmer: str | None = option(
        None, help="Language whose word endings are cut, such as english or german."
    )
    min_df: int = option(3, least=1, help="Least number of texts that hold a word.")
    max_iter: int = option(150, least=10, help="Sweeps of the sampler for each model.")
    n_words: int = option(12, least=2, help="Words that are shown for each topic.")
    random_state: int = option(0, flag="seed", least=0, help="Seed of the splits and samplers.")


JOB = Job("topics", TopicsOptions)
