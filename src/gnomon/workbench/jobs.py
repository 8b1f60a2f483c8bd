"""The jobs of the workbench, by name; the command line, repetitions and forms are made from it."""

from __future__ import annotations

from gnomon.workbench.advise.options import JOB as ADVISE
from gnomon.workbench.decide.options import JOB as DECIDE
from gnomon.workbench.detect.options import JOB as DETECT
from gnomon.workbench.forecast.options import JOB as FORECAST
from gnomon.workbench.group.options import JOB as GROUP
from gnomon.workbench.image.options import JOB as IMAGE
from gnomon.workbench.label.options import JOB as LABEL
from gnomon.workbench.learn.options import JOB as LEARN
from gnomon.workbench.look.options import JOB as LOOK
from gnomon.workbench.map.options import JOB as MAP
from gnomon.workbench.minimize.options import JOB as MINIMIZE
from gnomon.workbench.prepare.options import JOB as PREPARE
from gnomon.workbench.rules.options import JOB as RULES
from gnomon.workbench.search.options import JOB as SEARCH
from gnomon.workbench.topics.options import JOB as TOPICS
from gnomon.workbench.train.options import JOB as TRAIN

ALL = (
    LEARN,
    FORECAST,
    GROUP,
    MAP,
    RULES,
    TOPICS,
    SEARCH,
    PREPARE,
    IMAGE,
    DETECT,
    ADVISE,
    LOOK,
    DECIDE,
    MINIMIZE,
    LABEL,
    TRAIN,
)
JOBS = {job.name: job for job in ALL}
