"""Files in object stores (s3://, gs:// or abfs://), which pyarrow lists and opens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from glob import escape, glob, has_magic
from pathlib import PurePath
from typing import BinaryIO, Protocol, cast

from outperform.errors import (
    DataError,
    MissingExtraError,
    OutperformError,
    UsageError,
    param,
    require,
    unknown_name,
)
from outperform.io.addresses import OPTIONS_BEHIND, STORES, URL, Option, Storage, masked

_AT_ONCE = 8  # requests; each is mostly waiting for the network
_KINDS = {
    "s3": "S3FileSystem",
    "gs": "GcsFileSystem",
    "abfs": "AzureFileSystem",
    "abfss": "AzureFileSystem",
}
LAKES = {"delta": "a Delta table", "iceberg": "an Iceberg table"}
DELTA_LOG, METADATA = "_delta_log", ".metadata.json"  # marks of Delta and Iceberg tables
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
# Environment variables with a private store's endpoint, in the order in which S3 tools check them.
# The last two are used by other table readers.
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_S3_ENDPOINT")
_S3_NAMES = {
    "access_key": ("aws_access_key_id", "key", "access_key_id", "s3.access-key-id"),
    "secret_key": ("aws_secret_access_key", "secret", "secret_access_key", "s3.secret-access-key"),
    "session_token": ("aws_session_token", "token", "s3.session-token"),
    "region": ("aws_region", "aws_default_region", "region_name", "default_region", "s3.region"),
    "endpoint_override": (
        "endpoint_url", "endpoint", "aws_endpoint_url", "aws_endpoint_url_s3", "aws_endpoint",
        "s3.endpoint",
    ),
    "anonymous": ("anon", "aws_skip_signature", "skip_signature"),
}  # fmt: skip
_OTHER_NAMES = {other: name for name, others in _S3_NAMES.items() for other in others}
_KNOWN = {
    "S3FileSystem": (
        *_S3_NAMES, "scheme", "request_timeout", "connect_timeout", "role_arn", "session_name",
        "external_id", "load_frequency", "proxy_options", "force_virtual_addressing",
        "tls_ca_file_path",
    ),
    "GcsFileSystem": (
        "access_token", "anonymous", "target_service_account", "credential_token_expiration",
        "scheme", "endpoint_override", "retry_time_limit", "project_id",
    ),
    "AzureFileSystem": (
        "account_name", "account_key", "sas_token", "blob_storage_authority",
        "dfs_storage_authority", "blob_storage_scheme", "dfs_storage_scheme", "tenant_id",
        "client_id", "client_secret",
    ),
}  # fmt: skip


# The parts of pyarrow that are used here; it has no type annotations.


class _Type(Protocol):
    name: str


class _Info(Protocol):
    path: str
    size: int | None
    mtime_ns: int | None
    type: _Type


class _Stream(Protocol):
    metadata: Callable[[], Mapping[str, bytes]]
    close: Callable[[], None]


class FileSystem(Protocol):
    """pyarrow file system, with the methods that are used here."""

    get_file_info: Callable[[object], object]
    open_input_file: Callable[[str], BinaryIO]
    open_input_stream: Callable[..., _Stream]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Location of an address: a file system and a path in it."""

    address: str
    path: str
    system: FileSystem = field(repr=False)
    storage: Storage = field(repr=False)

    def at(self, path: str) -> Place:
        """Return another path in the same file system."""
        return Place(
            address=f"{_head(self)}{path.partition('/')[2]}",
            path=path,
            system=self.system,
            storage=self.storage,
        )


def _head(location: Place) -> str:
    """Return the part of an address up to the bucket or container name."""
    scheme, _, rest = location.address.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """File in an object store.

    Attributes
    ----------
    address
        Address, such as ``"s3://bucket/preds/day=2026-01-01/a.parquet"``.
    below
        Path below the requested folder, ``"day=2026-01-01/a.parquet"``; empty if the file itself
        was requested.
    size
        Size in bytes.
    modified
        Time of writing, in nanoseconds since 1970.
    place
        Location.
    """

    address: str
    below: str
    size: int
    modified: int
    location: Place = field(repr=False)

    def marker(self) -> str:
        """Return a value that changes with the content: the store's ETag if there is one.

        This sends one request to the store, so it also checks that the file still exists.
        """
        with store_errors(self.address, self.location.storage):
            stream = self.location.system.open_input_stream(self.location.path, compression=None)
            try:
                known = {key.lower(): value for key, value in (stream.metadata() or {}).items()}
            finally:
                stream.close()
        tag = known.get("etag", b"").decode("utf-8", "replace").strip('"')
        return f"etag:{tag}" if tag else f"size:{self.size},modified:{self.modified}"

    def open(self) -> BinaryIO:
        """Open the bytes, as stored, for reading and seeking."""
        with store_errors(self.address, self.location.storage):
            return self.location.system.open_input_file(self.location.path)


def files_of(address: str, storage_options: Mapping[str, Option] | None = None) -> list[RemoteFile]:
    """Return the files of an address, sorted by path.

    Parameters
    ----------
    address
        File, folder or pattern: ``"s3://bucket/preds/"``, ``"gs://bucket/preds-*.parquet"``,
        ``"abfs://container@account.dfs.core.windows.net/preds/"``. A folder means all files in it
        and its subfolders, except names that begin with a dot or an underscore.
    storage_options
        Options of pyarrow's file system, e.g. ``access_key``, ``secret_key``, ``region`` and
        ``endpoint_override`` for S3. Default: the machine's settings.
    """
    return _found_at(reached(address, Storage.of(storage_options)))


def is_remote(source: object) -> bool:
    """Return whether a source is an address in an object store.

    Examples
    --------
    >>> is_remote("s3://bucket/preds.parquet"), is_remote("postgresql://host/db")
    (True, False)
    """
    if not isinstance(source, (str, os.PathLike)):
        return False
    match = URL.match(str(os.fspath(source)))
    return match is not None and match[1].lower() in STORES


def storage_of(address: str, storage: Storage | None) -> Storage:
    """Return the options for an address, by pyarrow's names; for S3, with the machine's endpoint.

    pyarrow ignores that endpoint, and would look for a private store's bucket at Amazon.
    """
    storage = storage or Storage()
    if not address.lower().startswith("s3://"):
        return storage
    options: dict[str, Option] = {}
    for option, value in storage.options.items():
        name = _OTHER_NAMES.get(option.lower(), option)
        if name in options and options[name] != value:
            raise UsageError(
                f"{param('storage_options')} has several values for {name!r}, one of them as "
                f"{option!r}; pass only one"
            )
        options[name] = value
    if not options.get("endpoint_override"):
        options.pop("endpoint_override", None)
        if configured := _endpoint():
            options["endpoint_override"] = configured
    endpoint = options.get("endpoint_override")
    if isinstance(endpoint, str):
        options["endpoint_override"] = endpoint.strip().rstrip("/")
    return Storage(options)


def _endpoint() -> str | None:
    """Return the S3 endpoint from environment variables or the active profile; None for Amazon's.

    ``AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`` turns this off, as in other tools.
    """
    if os.environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() == "true":
        return None
    named = next(filter(None, map(os.environ.get, _ENDPOINTS)), None)
    return named or _profile_endpoint()


def _profile_endpoint() -> str | None:
    from configparser import ConfigParser, Error

    path = os.environ.get("AWS_CONFIG_FILE") or os.path.join("~", ".aws", "config")
    config, name = ConfigParser(interpolation=None), os.environ.get("AWS_PROFILE") or "default"
    try:
        config.read(os.path.expanduser(path), encoding="utf-8")
    except (Error, UnicodeDecodeError, OSError):
        return None  # pyarrow reports the error if it needs the file
    profile = next(
        (config[section] for section in (f"profile {name}", name) if section in config), None
    )
    if profile is None:
        return None
    services = f"services {profile.get('services', '')}"
    lines = config[services].get("s3", "").splitlines() if services in config else []
    pairs = dict(line.replace(" ", "").partition("=")[::2] for line in lines)
    return pairs.get("endpoint_url") or profile.get("endpoint_url") or None


def reached(address: str, storage: Storage | None) -> Place:
    """Return the location of an address, without a request to the store."""
    storage = storage_of(address, storage)
    scheme, _, rest = address.partition("://")
    if OPTIONS_BEHIND.search(rest) or ":" in rest.partition("@")[0].partition("/")[0]:
        raise UsageError(
            f"{masked(address)} must not contain credentials or options, which others could "
            f"read; pass them as {param('storage_options=')}"
        )
    bucket, _, path = rest.partition("/")
    options = dict(storage.options)
    if scheme.lower().startswith("abfs"):
        bucket, at, host = bucket.partition("@")
        account, dot, authority = host.partition(".")
        if at:
            options.setdefault("account_name", account)
        if "account_name" not in options:
            raise UsageError(
                f"{masked(address)} has no account; write "
                "abfs://container@account.dfs.core.windows.net/path, or pass account_name in "
                f"{param('storage_options=')}"
            )
        if dot and authority not in ("dfs.core.windows.net", "blob.core.windows.net"):
            options.setdefault("dfs_storage_authority", f".{authority}")
    if not bucket:
        raise UsageError(f"{masked(address)} has no bucket; write {scheme}://bucket/path")
    while "//" in path:
        path = path.replace("//", "/")
    path = f"{bucket}/{path}".rstrip("/")
    clean = f"{scheme}://{rest.partition('/')[0]}/{path.partition('/')[2]}"
    system = _system(scheme.lower(), bucket, options, clean, storage)
    return Place(address=clean, path=path, system=system, storage=storage)


def _system(
    scheme: str, bucket: str, options: dict[str, Option], address: str, storage: Storage
) -> FileSystem:
    kind = _KINDS[scheme]
    purpose = f"reading {scheme}:// addresses"
    fs = require("pyarrow.fs", extra="arrow", purpose=purpose)
    make = getattr(fs, kind, None)
    if make is None:
        raise MissingExtraError(f"{purpose} needs a pyarrow built with {kind}")
    fault = ""
    with store_errors(address, storage):
        known = "region" in options or "endpoint_override" in options
        if scheme == "s3" and not known and not any(map(os.environ.get, _REGIONS)):
            options["region"] = str(fs.resolve_s3_region(bucket))
        try:
            return cast("FileSystem", make(**options))
        except (TypeError, ValueError) as error:
            unknown = next((name for name in options if name not in _KNOWN[kind]), None)
            if isinstance(error, TypeError) and unknown is not None:
                raise UsageError(
                    unknown_name(f"name in {param('storage_options')}", unknown, _KNOWN[kind])
                ) from None
            fault = storage.hide(str(error).partition("\n")[0])
    raise UsageError(f"{param('storage_options')} must be options of pyarrow's {kind}: {fault}")


@contextmanager
def store_errors(address: str, storage: Storage) -> Iterator[None]:
    """Convert a store exception to a message without credentials."""
    fault: OutperformError
    name = masked(address)
    try:
        yield
        return
    except OutperformError as error:
        fault = type(error)(storage.hide(str(error)))
    except FileNotFoundError:
        fault = UsageError(f"no file {name!r}")
    except Exception as error:  # mostly OSError, but pyarrow has others
        line = storage.hide(str(error).strip().partition("\n")[0] or type(error).__name__)
        hint = (
            f"; check the credentials in {param('storage_options=')}"
            if isinstance(error, PermissionError) or "ACCESS_DENIED" in line
            else ""
        )
        fault = DataError(f"{name} cannot be read: {line}{hint}")
    raise fault  # outside the handler, so the traceback does not show the store's message


def found_at(location: Place) -> list[RemoteFile]:
    """Return the files of a path or pattern; files of Delta or Iceberg tables raise an error."""
    _refuse_inside_lake_there(location)
    return _found_at(location)


def _found_at(location: Place) -> list[RemoteFile]:
    if has_magic(location.path):
        return _matching(location)
    with store_errors(location.address, location.storage):
        info = cast("_Info", location.system.get_file_info(location.path))
    if info.type.name == "File":
        return [_file(location, info, "")]
    infos = [] if info.type.name == "NotFound" else _listed(location, location.path)
    files = [
        _file(location, entry, below)
        for entry in infos
        if not _is_hidden(below := entry.path[len(location.path) + 1 :])
    ]
    if not files:
        _refuse_no_bucket(location)
        raise UsageError(f"no file {masked(location.address)!r}, and no such folder with files")
    return files


def _refuse_no_bucket(location: Place) -> None:
    """Raise an error if the bucket itself is missing."""
    bucket = location.path.partition("/")[0]
    with store_errors(location.address, location.storage):
        info = cast("_Info", location.system.get_file_info(bucket))
    if info.type.name == "NotFound":
        raise UsageError(f"no bucket {bucket!r}, the bucket of {masked(location.address)}")


def lake_here(path: str) -> str | None:
    """Return the kind of table if a path is a Delta or Iceberg table, otherwise None."""
    if "\0" in path:
        return None  # opening the file raises an error
    if path.endswith(METADATA):
        return "iceberg" if os.path.isfile(path) else None
    if os.path.isdir(os.path.join(path, DELTA_LOG)):
        return "delta"
    is_iceberg = bool(glob(f"{escape(os.path.join(path, 'metadata'))}/*{METADATA}"))
    return "iceberg" if is_iceberg else None


def lake_at(location: Place) -> str | None:
    """Return the kind of table if a store folder is a Delta or Iceberg table, otherwise None."""
    if location.path.endswith(METADATA):
        return "iceberg"
    if has_magic(location.path):
        return None
    if _listed(location, f"{location.path}/{DELTA_LOG}"):
        return "delta"
    infos = _listed(location, f"{location.path}/metadata")
    return "iceberg" if any(info.path.endswith(METADATA) for info in infos) else None


def inside_lake(folder: str, kind: str = "delta") -> str:
    """Return the message for files of a Delta or Iceberg table."""
    return f"{folder} is {LAKES[kind]}, whose files may contain deleted rows; pass the table itself"


def refuse_inside_lake(paths: Sequence[str]) -> None:
    """Raise an error for files and folders inside a Delta or Iceberg table."""
    parents = {parent for path in paths for parent in PurePath(os.path.abspath(path)).parents}
    for parent in sorted(parents, key=lambda path: len(path.parts)):
        if (kind := lake_here(str(parent))) is not None:
            raise UsageError(inside_lake(str(parent), kind))


def _refuse_inside_lake_there(location: Place) -> None:
    """Raise an error for a path inside a Delta or Iceberg table in a store."""
    parts = location.path.split("/")
    first = next((number for number, part in enumerate(parts) if has_magic(part)), len(parts))
    parents = ["/".join(parts[:end]) for end in range(2, min(first + 1, len(parts)))]
    marks = [f"{parent}/{name}" for parent in parents for name in (DELTA_LOG, "metadata")]
    if not marks:
        return
    with store_errors(location.address, location.storage):
        infos = cast("list[_Info]", location.system.get_file_info(marks))
    for info in infos:
        if info.type.name == "Directory":
            table = location.at(info.path.rpartition("/")[0])
            if (kind := lake_at(table)) is not None:
                raise UsageError(inside_lake(table.address, kind))


def _matching(location: Place) -> list[RemoteFile]:
    parts = location.path.split("/")
    first = next(number for number, part in enumerate(parts) if has_magic(part))
    if not first:
        raise UsageError(f"a bucket name must not be a pattern; got {masked(location.address)}")
    base = "/".join(parts[:first])
    files = []
    for info in _listed(location, base):
        names = info.path[len(base) + 1 :].split("/")
        n_matched = _matched(names, parts[first:])
        if n_matched and not _is_hidden(below := "/".join(names[n_matched:])):
            files.append(_file(location, info, below))
    if not files:
        _refuse_no_bucket(location)
        raise UsageError(f"no file matches {masked(location.address)!r}")
    return files


def _matched(names: Sequence[str], pattern: Sequence[str]) -> int:
    """Return how many leading names of a path match the entire pattern; 0 if it does not match.

    Examples
    --------
    >>> _matched(["day=1", "a.csv"], ["day=*"]), _matched(["day=1", "a.csv"], ["**", "*.csv"])
    (1, 2)
    """
    ends = (len(names), *range(1, len(names)))
    return next((end for end in ends if _fits(names[:end], pattern)), 0)


def _fits(names: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == "**":
        return any(_fits(names[start:], pattern[1:]) for start in range(len(names) + 1))
    if not names or (names[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatchcase(names[0], pattern[0]) and _fits(names[1:], pattern[1:])


def _is_hidden(below: str) -> bool:
    return any(part.startswith((".", "_")) for part in below.split("/"))


def _listed(location: Place, folder: str) -> list[_Info]:
    fs = require("pyarrow.fs", extra="arrow", purpose="reading files in a store")
    with store_errors(location.address, location.storage):
        selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
        infos = cast("list[_Info]", location.system.get_file_info(selector))
    inside = next((info.path for info in infos if f"/{DELTA_LOG}/" in info.path), None)
    if inside is not None and not folder.endswith(DELTA_LOG):
        table = location.at(inside.partition(f"/{DELTA_LOG}/")[0])
        raise UsageError(inside_lake(table.address))
    return sorted((info for info in infos if info.type.name == "File"), key=lambda info: info.path)


def _file(location: Place, info: _Info, below: str) -> RemoteFile:
    file_place = location.at(info.path)
    return RemoteFile(
        address=file_place.address,
        below=below,
        size=info.size or 0,
        modified=info.mtime_ns or 0,
        location=file_place,
    )


def refuse_changed(files: Sequence[RemoteFile]) -> None:
    """Raise an error if files changed while they were read."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for file, now in zip(files, pool.map(_current_state, files), strict=True):
            if now != (file.size, file.modified):
                raise DataError(f"{file.address} changed while it was read; read it again")


def _current_state(file: RemoteFile) -> tuple[int, int]:
    with store_errors(file.address, file.location.storage):
        info = cast("_Info", file.location.system.get_file_info(file.location.path))
    return info.size or 0, info.mtime_ns or 0
