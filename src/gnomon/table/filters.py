"""The former place of the filters, which are now in `gnomon.prepare`."""

from gnomon.engine.renamed import former_names

FORMER = (
    "DateParts",
    "Discretize",
    "FeatureSets",
    "Filter",
    "Impute",
    "KeptRows",
    "MissingAsCategory",
    "OneHot",
    "OrdinalScores",
    "Quantize",
    "RegressionImpute",
    "RoundToInteger",
    "ScaleRange",
    "Standardize",
    "Whiten",
    "WordCounts",
    "add_noise",
    "concatenate",
    "drop_incomplete_rows",
    "drop_rare_classes",
    "levels_as_seen",
    "mask_cells",
)

RENAMED = {"ScaleRange": "MinMaxScaler", "Standardize": "StandardScaler"}

__getattr__ = former_names(
    __name__, {name: f"gnomon.prepare:{RENAMED.get(name, name)}" for name in FORMER}
)
