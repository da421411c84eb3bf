"""Files in object stores, addressed as s3://, gs:// or abfs://; pyarrow lists and opens them."""

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
    MissingExtra,
    OutperformError,
    UsageError,
    param,
    require,
    unknown_name,
)
from outperform.io.addresses import OPTIONS_BEHIND, STORES, URL, Option, Storage, masked

_AT_ONCE = 8  # requests; most of the time of one is the way there and back
_KINDS = {
    "s3": "S3FileSystem",
    "gs": "GcsFileSystem",
    "abfs": "AzureFileSystem",
    "abfss": "AzureFileSystem",
}
LAKES = {"delta": "a Delta table", "iceberg": "an Iceberg table"}
DELTA_LOG, METADATA = "_delta_log", ".metadata.json"  # what tells a table of Delta, of Iceberg
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
# Where a private store is, in the order in which the tools of S3 look; the last two are those of
# other readers of tables.
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


# What is used of pyarrow, which has no types of its own.


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
    """What is used of the file systems of pyarrow."""

    get_file_info: Callable[[object], object]
    open_input_file: Callable[[str], BinaryIO]
    open_input_stream: Callable[..., _Stream]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an address leads: a file system and a path in it."""

    address: str
    path: str
    system: FileSystem = field(repr=False)
    storage: Storage = field(repr=False)

    def at(self, path: str) -> Place:
        """Return another path of the same file system."""
        return Place(
            address=f"{_head(self)}{path.partition('/')[2]}",
            path=path,
            system=self.system,
            storage=self.storage,
        )


def _head(place: Place) -> str:
    """Return an address as far as the name of its bucket or container."""
    scheme, _, rest = place.address.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """One file of a store.

    Attributes
    ----------
    address
        Its own address, such as ``"s3://bucket/preds/day=2026-01-01/a.parquet"``.
    below
        Its path below the folder that was named, ``"day=2026-01-01/a.parquet"``; empty if the file
        itself was named.
    size
        Its bytes.
    modified
        When it was written, in nanoseconds since 1970.
    place
        Where it is.
    """

    address: str
    below: str
    size: int
    modified: int
    place: Place = field(repr=False)

    def marker(self) -> str:
        """Return what is another one as soon as the content is: the store's ETag if it has one.

        It asks the store once, so that it also tells whether the file is still there.
        """
        with told(self.address, self.place.storage):
            stream = self.place.system.open_input_stream(self.place.path, compression=None)
            try:
                known = {key.lower(): value for key, value in (stream.metadata() or {}).items()}
            finally:
                stream.close()
        tag = known.get("etag", b"").decode("utf-8", "replace").strip('"')
        return f"etag:{tag}" if tag else f"size:{self.size},modified:{self.modified}"

    def open(self) -> BinaryIO:
        """Open the bytes, as they are in the store, for reading and seeking."""
        with told(self.address, self.place.storage):
            return self.place.system.open_input_file(self.place.path)


def files_of(address: str, storage_options: Mapping[str, Option] | None = None) -> list[RemoteFile]:
    """Return the files of an address, in the order of their paths.

    Parameters
    ----------
    address
        A file, a folder or a pattern: ``"s3://bucket/preds/"``, ``"gs://bucket/preds-*.parquet"``,
        ``"abfs://container@account.dfs.core.windows.net/preds/"``. Of a folder, all files in it
        and in its folders; what begins with a dot or an underscore is left out.
    storage_options
        What pyarrow's file system takes, e.g. ``access_key``, ``secret_key``, ``region`` and
        ``endpoint_override`` of S3; what the machine is set up with by default.
    """
    return _found_at(reached(address, Storage.of(storage_options)))


def is_remote(source: object) -> bool:
    """Return whether a source is an address in a store.

    Examples
    --------
    >>> is_remote("s3://bucket/preds.parquet"), is_remote("postgresql://host/db")
    (True, False)
    """
    if not isinstance(source, (str, os.PathLike)):
        return False
    found = URL.match(str(os.fspath(source)))
    return found is not None and found[1].lower() in STORES


def storage_of(address: str, storage: Storage | None) -> Storage:
    """Return how to reach an address, by pyarrow's names; S3 with the endpoint of the machine.

    pyarrow does not look for that by itself, and would ask Amazon for a private store's bucket.
    """
    storage = storage or Storage()
    if not address.lower().startswith("s3://"):
        return storage
    options: dict[str, Option] = {}
    for given, value in storage.options.items():
        name = _OTHER_NAMES.get(given.lower(), given)
        if name in options and options[name] != value:
            raise UsageError(
                f"{param('storage_options')} has several values for {name!r}, one of them as "
                f"{given!r}; give one"
            )
        options[name] = value
    if not options.get("endpoint_override"):
        options.pop("endpoint_override", None)
        if found := _endpoint():
            options["endpoint_override"] = found
    endpoint = options.get("endpoint_override")
    if isinstance(endpoint, str):
        options["endpoint_override"] = endpoint.strip().rstrip("/")
    return Storage(options)


def _endpoint() -> str | None:
    """Return where S3 is by the variables of the machine, or by the profile in use; None: Amazon's.

    ``AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`` turns this off, as elsewhere.
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
        return None  # whoever needs it will say what is wrong with it
    profile = next((config[one] for one in (f"profile {name}", name) if one in config), None)
    if profile is None:
        return None
    services = f"services {profile.get('services', '')}"
    lines = config[services].get("s3", "").splitlines() if services in config else []
    pairs = dict(line.replace(" ", "").partition("=")[::2] for line in lines)
    return pairs.get("endpoint_url") or profile.get("endpoint_url") or None


def reached(address: str, storage: Storage | None) -> Place:
    """Return where an address leads; nothing is asked of the store yet."""
    storage = storage_of(address, storage)
    scheme, _, rest = address.partition("://")
    if OPTIONS_BEHIND.search(rest) or ":" in rest.partition("@")[0].partition("/")[0]:
        raise UsageError(
            f"{masked(address)} must have neither credentials nor options in it, which others "
            f"could read; give them with {param('storage_options=')}"
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
                f"{masked(address)} does not say which account it is; write "
                "abfs://container@account.dfs.core.windows.net/path, or give account_name with "
                f"{param('storage_options=')}"
            )
        if dot and authority not in ("dfs.core.windows.net", "blob.core.windows.net"):
            options.setdefault("dfs_storage_authority", f".{authority}")
    if not bucket:
        raise UsageError(f"{masked(address)} names no bucket; write {scheme}://bucket/path")
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
        raise MissingExtra(f"{purpose} needs a pyarrow that was built with {kind}")
    fault = ""
    with told(address, storage):
        known = "region" in options or "endpoint_override" in options
        if scheme == "s3" and not known and not any(map(os.environ.get, _REGIONS)):
            options["region"] = str(fs.resolve_s3_region(bucket))
        try:
            return cast("FileSystem", make(**options))
        except (TypeError, ValueError) as error:
            odd = next((name for name in options if name not in _KNOWN[kind]), None)
            if isinstance(error, TypeError) and odd is not None:
                raise UsageError(
                    unknown_name(f"name in {param('storage_options')}", odd, _KNOWN[kind])
                ) from None
            fault = storage.hide(str(error).partition("\n")[0])
    raise UsageError(f"{param('storage_options')} must be what {kind} of pyarrow takes: {fault}")


@contextmanager
def told(address: str, storage: Storage) -> Iterator[None]:
    """Turn what a store answers into a sentence without credentials."""
    fault: OutperformError
    name = masked(address)
    try:
        yield
        return
    except OutperformError as error:
        fault = type(error)(storage.hide(str(error)))
    except FileNotFoundError:
        fault = UsageError(f"no file {name!r}")
    except Exception as error:  # OSError, mostly; pyarrow has others
        line = storage.hide(str(error).strip().partition("\n")[0] or type(error).__name__)
        hint = (
            f"; does {param('storage_options=')} hold the right credentials?"
            if isinstance(error, PermissionError) or "ACCESS_DENIED" in line
            else ""
        )
        fault = DataError(f"{name} cannot be read: {line}{hint}")
    raise fault  # here, so that it does not lead back to what the store said


def found_at(place: Place) -> list[RemoteFile]:
    """Return the files of a path or pattern, but none inside a table of Delta or Iceberg."""
    _refuse_inside_lake_there(place)
    return _found_at(place)


def _found_at(place: Place) -> list[RemoteFile]:
    if has_magic(place.path):
        return _matching(place)
    with told(place.address, place.storage):
        info = cast("_Info", place.system.get_file_info(place.path))
    if info.type.name == "File":
        return [_file(place, info, "")]
    found = [] if info.type.name == "NotFound" else _listed(place, place.path)
    files = [
        _file(place, one, below)
        for one in found
        if not _is_hidden(below := one.path[len(place.path) + 1 :])
    ]
    if not files:
        _refuse_no_bucket(place)
        raise UsageError(f"no file {masked(place.address)!r}, and no folder with files")
    return files


def _refuse_no_bucket(place: Place) -> None:
    """Say that the bucket itself is missing, if it is."""
    bucket = place.path.partition("/")[0]
    with told(place.address, place.storage):
        info = cast("_Info", place.system.get_file_info(bucket))
    if info.type.name == "NotFound":
        raise UsageError(f"there is no bucket {bucket!r}, which {masked(place.address)} names")


def lake_here(path: str) -> str | None:
    """Return whether a path is a table of Delta or Iceberg, which says itself what is in it."""
    if "\0" in path:
        return None  # refused where the file is opened
    if path.endswith(METADATA):
        return "iceberg" if os.path.isfile(path) else None
    if os.path.isdir(os.path.join(path, DELTA_LOG)):
        return "delta"
    is_iceberg = bool(glob(f"{escape(os.path.join(path, 'metadata'))}/*{METADATA}"))
    return "iceberg" if is_iceberg else None


def lake_at(place: Place) -> str | None:
    """Return whether a folder of a store is a table of Delta or Iceberg."""
    if place.path.endswith(METADATA):
        return "iceberg"
    if has_magic(place.path):
        return None
    if _listed(place, f"{place.path}/{DELTA_LOG}"):
        return "delta"
    found = _listed(place, f"{place.path}/metadata")
    return "iceberg" if any(one.path.endswith(METADATA) for one in found) else None


def inside_lake(folder: str, kind: str = "delta") -> str:
    """Return the sentence for files of a table of Delta or Iceberg, which may hold deleted rows."""
    return f"{folder} is {LAKES[kind]} whose files may hold deleted rows; name the table itself"


def refuse_inside_lake(paths: Sequence[str]) -> None:
    """Refuse files and folders inside a table of Delta or Iceberg."""
    above = {up for one in paths for up in PurePath(os.path.abspath(one)).parents}
    for up in sorted(above, key=lambda one: len(one.parts)):
        if (kind := lake_here(str(up))) is not None:
            raise UsageError(inside_lake(str(up), kind))


def _refuse_inside_lake_there(place: Place) -> None:
    """Refuse what is inside a table of Delta or Iceberg in a store: all folders above are asked."""
    parts = place.path.split("/")
    first = next((number for number, part in enumerate(parts) if has_magic(part)), len(parts))
    above = ["/".join(parts[:end]) for end in range(2, min(first + 1, len(parts)))]
    marks = [f"{up}/{name}" for up in above for name in (DELTA_LOG, "metadata")]
    if not marks:
        return
    with told(place.address, place.storage):
        found = cast("list[_Info]", place.system.get_file_info(marks))
    for one in found:
        if one.type.name == "Directory":
            table = place.at(one.path.rpartition("/")[0])
            if (kind := lake_at(table)) is not None:
                raise UsageError(inside_lake(table.address, kind))


def _matching(place: Place) -> list[RemoteFile]:
    parts = place.path.split("/")
    first = next(number for number, part in enumerate(parts) if has_magic(part))
    if not first:
        raise UsageError(f"the name of a bucket cannot be a pattern; got {masked(place.address)}")
    base = "/".join(parts[:first])
    files = []
    for info in _listed(place, base):
        names = info.path[len(base) + 1 :].split("/")
        taken = _matched(names, parts[first:])
        if taken and not _is_hidden(below := "/".join(names[taken:])):
            files.append(_file(place, info, below))
    if not files:
        _refuse_no_bucket(place)
        raise UsageError(f"no file matches {masked(place.address)!r}")
    return files


def _matched(names: Sequence[str], pattern: Sequence[str]) -> int:
    """Return how many names of a path a pattern takes, which may be those of a folder; 0 if none.

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


def _listed(place: Place, folder: str) -> list[_Info]:
    fs = require("pyarrow.fs", extra="arrow", purpose="reading files in a store")
    with told(place.address, place.storage):
        selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
        found = cast("list[_Info]", place.system.get_file_info(selector))
    inside = next((one.path for one in found if f"/{DELTA_LOG}/" in one.path), None)
    if inside is not None and not folder.endswith(DELTA_LOG):
        table = place.at(inside.partition(f"/{DELTA_LOG}/")[0])
        raise UsageError(inside_lake(table.address))
    return sorted((one for one in found if one.type.name == "File"), key=lambda one: one.path)


def _file(place: Place, info: _Info, below: str) -> RemoteFile:
    here = place.at(info.path)
    return RemoteFile(
        address=here.address,
        below=below,
        size=info.size or 0,
        modified=info.mtime_ns or 0,
        place=here,
    )


def refuse_changed(files: Sequence[RemoteFile]) -> None:
    """See that nobody wrote to files while they were read."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for file, now in zip(files, pool.map(_looked_at, files), strict=True):
            if now != (file.size, file.modified):
                raise DataError(f"{file.address} changed while it was read; read it again")


def _looked_at(file: RemoteFile) -> tuple[int, int]:
    with told(file.address, file.place.storage):
        info = cast("_Info", file.place.system.get_file_info(file.place.path))
    return info.size or 0, info.mtime_ns or 0
