"""The experiments, worked examples and errata of the five texts, computed with gnomon.

    python -m examples.texts --data FOLDER [--only 000] [--only 000/heart_disease]

Each experiment is a function; what the text prints stands beside it in the decorator. The results
are kept in `examples/texts/results`, one file per text, with date, seed and version; the pages *The
texts, reproduced* of the documentation are made from them. Data that gnomon does not carry are read
from FOLDER; experiments whose files are missing are left as they were, and the command says which.
"""
