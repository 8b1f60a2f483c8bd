"""The errors and warnings that gnomon raises; each says what, where and what to do about it."""


class GnomonError(Exception):
    """Base of all errors that gnomon raises itself."""


class DataError(GnomonError, ValueError):
    """The data cannot be used as they are; the message says where and what to change."""


class MemoryLimitError(GnomonError, MemoryError):
    """The work would need more memory than is allowed; raised before anything is allocated."""


class ModelFileError(GnomonError, ValueError):
    """A model file cannot be written or read."""


class GnomonWarning(UserWarning):
    """Something was repaired, left out or looks wrong; the result is still valid as stated."""
