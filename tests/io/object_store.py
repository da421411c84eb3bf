"""An S3 server on this machine, for tests: moto's, with made-up credentials."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

BUCKET = "runs-of-tests"
KEY, SECRET = "AKIAPLANTEDKEY", "planted/secret+of0the1store"


@dataclass(frozen=True)
class Store:
    """Where the server is, and what it holds."""

    url: str
    client: Any

    @property
    def options(self) -> dict[str, Any]:
        """What reads it."""
        return {
            "access_key": KEY,
            "secret_key": SECRET,
            "region": "us-east-1",
            "endpoint_override": self.url,
        }

    def put(self, key: str, body: bytes) -> str:
        """Write an object, and return its address."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=body)
        return f"s3://{BUCKET}/{key}"


@contextmanager
def running(bucket: str = BUCKET) -> Iterator[Store]:
    """Start a server with a bucket; servers of one process share what is in them."""
    pytest.importorskip("pyarrow")
    server_module = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        client = boto3.client(
            "s3",
            endpoint_url=f"http://{host}:{port}",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )
        client.create_bucket(Bucket=bucket)
        yield Store(f"http://{host}:{port}", client)
        client.close()
    finally:
        server.stop()
