"""Signatures of model files: Ed25519, by the package cryptography (``pip install 'gnomon[sign]'``).

A model file names the SHA-256 of each of its arrays in ``model.json``, and the SHA-256 of
``model.json`` in the comment of the archive; a signature of the latter covers the whole file.
"""

from __future__ import annotations

import base64
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

from gnomon.engine.errors import ModelFileError

ALGORITHM = "ed25519"
KeyLike = str | os.PathLike[str] | bytes


def new_key(path: str | Path) -> tuple[Path, Path]:
    """Make a pair of keys: the private one at the path, the public one at ``PATH.pub``.

    Parameters
    ----------
    path : str or Path
        It must not exist yet. Only its owner can read the private key.

    Returns
    -------
    private, public : Path
    """
    library = _Library()
    private, public = Path(path), Path(f"{path}.pub")
    key = library.ed25519.Ed25519PrivateKey.generate()
    text = library.serialization
    secret = key.private_bytes(text.Encoding.PEM, text.PrivateFormat.PKCS8, text.NoEncryption())
    shown = key.public_key().public_bytes(text.Encoding.PEM, text.PublicFormat.SubjectPublicKeyInfo)
    try:
        descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secret)
        with open(public, "xb") as file:
            file.write(shown)
    except OSError as error:
        raise ModelFileError(f"cannot write the key {path}: {error.strerror}") from error
    return private, public


def sign(path: str | Path, key: KeyLike) -> Path:
    """Put a signature on a model file, in place of an earlier one.

    Parameters
    ----------
    path : str or Path
        A model file.
    key : path or bytes
        The private key, in PEM.

    Returns
    -------
    path : Path
    """
    from gnomon.engine import modelfile

    path = Path(path)
    private = _private_key(key)
    digest = modelfile.describe(path)["sha256"]
    if digest is None:
        raise ModelFileError(f"{path} has no digest: load it, save it again and sign that file")
    signature = base64.b64encode(private.sign(_message(digest))).decode()
    try:
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = comment(digest, {ALGORITHM: signature})
    except OSError as error:
        raise ModelFileError(f"cannot sign {path}: {error.strerror}") from error
    return path


def verify(path: Path, written: dict[str, Any], key: KeyLike) -> None:
    """Raise where a file was not signed with the private key that belongs to this public one."""
    library = _Library()
    signature = written.get(ALGORITHM)
    if not isinstance(signature, str):
        raise ModelFileError(f"{path} is not signed; sign it with: gnomon sign {path} --key FILE")
    try:
        public = library.serialization.load_pem_public_key(_content(key))
        public.verify(base64.b64decode(signature), _message(str(written.get("sha256"))))
    except library.InvalidSignature:
        raise ModelFileError(
            f"{path} was changed after it was signed, or signed with another key"
        ) from None
    except (ValueError, TypeError, AttributeError, library.UnsupportedAlgorithm) as error:
        raise ModelFileError(f"the public key cannot be used: {error}") from error


def comment(digest: str, more: dict[str, str] | None = None) -> bytes:
    """The comment of the archive: the digest of model.json, and signatures of it."""
    return json.dumps({"sha256": digest} | (more or {})).encode()


def read_comment(content: bytes) -> dict[str, Any]:
    """What a comment says; {} of files that have none."""
    try:
        found = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        return {}
    is_digest = isinstance(found, dict) and re.fullmatch("[0-9a-f]{64}", str(found.get("sha256")))
    return found if is_digest else {}


def _message(digest: str) -> bytes:
    return f"gnomon model file {digest}".encode()


def _private_key(key: KeyLike) -> Any:
    library = _Library()
    try:
        private = library.serialization.load_pem_private_key(_content(key), password=None)
    except (ValueError, TypeError, library.UnsupportedAlgorithm) as error:
        raise ModelFileError(f"the private key cannot be used: {error}") from error
    if not isinstance(private, library.ed25519.Ed25519PrivateKey):
        raise ModelFileError("the private key is not an Ed25519 key; make one with --new-key")
    return private


def _content(key: KeyLike) -> bytes:
    if isinstance(key, bytes):
        return key
    try:
        return Path(key).read_bytes()
    except OSError as error:
        raise ModelFileError(f"the key {key} cannot be read: {error.strerror}") from error


class _Library:
    """The parts of the package cryptography that are used; a clear error where it is missing."""

    def __init__(self) -> None:
        try:
            from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric import ed25519
        except ImportError:
            raise ModelFileError(
                "signatures need the package cryptography; install it: pip install 'gnomon[sign]'"
            ) from None
        self.InvalidSignature = InvalidSignature
        self.UnsupportedAlgorithm = UnsupportedAlgorithm
        self.serialization = serialization
        self.ed25519 = ed25519
