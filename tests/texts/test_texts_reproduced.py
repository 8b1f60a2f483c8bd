"""The experiments and errata of the five texts: what is kept is whole, and the proofs hold."""

from __future__ import annotations

import pytest

from examples.texts import all_texts  # noqa: F401  (enters them)
from examples.texts.contents import CHAPTERS, TEXTS
from examples.texts.frame import ERRATA, EXPERIMENTS, OMISSIONS, close, kept, results_of


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda each: each.name)
def test_the_corrected_statement_holds_and_the_printed_one_does_not(erratum):
    proof = erratum.prove()
    assert close(proof.corrected, proof.truth), proof
    assert not close(proof.printed, proof.truth), proof


@pytest.mark.parametrize("text", TEXTS)
def test_a_result_with_date_and_seed_is_kept_of_every_experiment_and_erratum(text):
    results = results_of(text)
    names = {each.name for each in EXPERIMENTS + ERRATA if each.text == text}
    assert set(results) == names
    for result in results.values():
        assert result["values"]
        assert {"date", "seed", "gnomon", "seconds"} <= set(result)


def test_everything_belongs_to_a_chapter_and_has_a_name_of_its_own():
    entered = [*EXPERIMENTS, *ERRATA, *OMISSIONS]
    assert all(each.chapter in CHAPTERS[each.text] for each in entered)
    names = [each.name for each in EXPERIMENTS + ERRATA]
    assert len(names) == len(set(names))


@pytest.mark.slow
@pytest.mark.parametrize(
    "experiment", [each for each in EXPERIMENTS if not each.data], ids=lambda each: each.name
)
def test_an_experiment_without_data_gives_its_kept_result_again(experiment):
    found = results_of(experiment.text)[experiment.name]
    again = kept(experiment.compute(None, found["seed"]))
    for name, value in found["values"].items():
        assert close(again[name], value, 1e-3), name
