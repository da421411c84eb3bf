"""What somebody might write where a name, a value or a query is asked for."""

from __future__ import annotations

_QUERIES = (
    "DROP TABLE preds",
    "DELETE FROM preds",
    "TRUNCATE preds",
    "UPDATE preds SET y = 'x'",
    "INSERT INTO preds SELECT * FROM preds",
    "CREATE TABLE x AS SELECT * FROM preds",
    "ALTER TABLE preds RENAME TO x",
    "SELECT y, m INTO x FROM preds",
    "SELECT y, m FROM preds; DROP TABLE preds",
    "SELECT y, m FROM preds; COMMIT; DROP TABLE preds; --",
    "SELECT y, m FROM preds) AS a; DROP TABLE preds; --",
    "SELECT y, m FROM preds) AS asked LIMIT 0; COMMIT; DELETE FROM preds; SELECT (1",
    "WITH gone AS (DELETE FROM preds RETURNING *) SELECT y, m FROM gone",
    "WITH new AS (INSERT INTO preds (y) VALUES ('x') RETURNING *) SELECT y, m FROM new",
    "WITH RECURSIVE a AS (UPDATE preds SET y = m RETURNING y, m) SELECT * FROM a",
    "SELECT y, m FROM preds FOR UPDATE",
    "EXPLAIN ANALYZE DELETE FROM preds",
    "COPY preds TO PROGRAM 'touch /tmp/outperform-was-here'",
    "COPY preds TO '/tmp/outperform-was-here'",
    "DO $$ BEGIN DELETE FROM preds; END $$",
    "SELECT $$a$$ AS y, $x$'; DROP TABLE preds; --$x$ AS m",
    "SELECT E'\\'; DROP TABLE preds; --' AS y, 'a' AS m",
    "SELECT '\\'; DROP TABLE preds; --' AS y, 'a' AS m",
    "SELECT 'a' AS y, 'a' AS m /* /* */ ; DROP TABLE preds */",
    "SET default_transaction_read_only = off",
    "ATTACH '/tmp/outperform-was-here' AS x",
    "PRAGMA user_version = 7",
    "VACUUM",
)
_NAMES = (
    "preds; DROP TABLE preds; --",
    'preds"; DROP TABLE preds; --',
    "preds'; DROP TABLE preds; --",
    "preds`; DROP TABLE preds; --",
    "preds]; DROP TABLE preds; --",
    'x".preds; DELETE FROM preds; --',
    "' OR '1'='1",
    "\\'; DELETE FROM preds; --",
    "'; UPDATE preds SET y = 'x' WHERE 'a' = 'a",
    "a') OR 1=1; DROP TABLE preds; --",
    "{y}; DROP TABLE preds",
    "%s; DROP TABLE preds; %(x)s",
    ":y; DROP TABLE preds; ?; $1",
    "y\n; DROP TABLE preds\n--",
    "/*!50000 DROP TABLE preds */",
)
PAYLOADS = (*_QUERIES, *_NAMES)


def attempts(payload):
    """Return the payload in every place where the reader takes text."""
    read = {"table": "preds", "truth": "y", "models": ["m"]}
    return (
        {**read, "table": payload},
        {**read, "table": f"main.{payload}"},
        {**read, "truth": payload},
        {**read, "models": [payload]},
        {**read, "models": {payload: "m"}},
        {**read, "id": payload},
        {**read, "weight": payload},
        {**read, "where": {payload: "a"}},
        {**read, "where": {"y": payload}},
        {**read, "where": {"y": ["a", payload, "b", None]}},
        {**read, "where": {"w": payload}},
        {"query": payload, "truth": "y", "models": ["m"]},
        {"query": f"SELECT y, m FROM preds WHERE y = '{payload}'", "truth": "y", "models": ["m"]},
    )
