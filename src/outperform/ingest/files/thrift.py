"""Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages."""

from __future__ import annotations

from typing import Any

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)


def read_struct(data: bytes, place: int = 0) -> tuple[dict[int, Any], int]:
    """Return the fields of a structure by number, and where it ends.

    Examples
    --------
    >>> read_struct(bytes([0x15, 0x04, 0x25, 0x05, 0x00]))
    ({1: 2, 3: -3}, 5)
    """
    found: dict[int, Any] = {}
    field = 0
    while True:
        head = data[place]
        place += 1
        if head == 0:
            return found, place
        kind, step = head & 0x0F, head >> 4
        if step:
            field += step
        else:
            field, place = _signed(data, place)
        if kind in (_TRUE, _FALSE):
            found[field] = kind == _TRUE
        else:
            found[field], place = _value(data, place, kind)


def _value(data: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in _INTEGERS:
        return _signed(data, place)
    if kind == _STRUCT:
        return read_struct(data, place)
    if kind == _BINARY:
        length, place = _varint(data, place)
        return data[place : place + length], place + length
    if kind in (_LIST, _SET):
        return _list(data, place)
    if kind in (_TRUE, _FALSE, _BYTE):  # in a list, a boolean is a byte
        return data[place], place + 1
    if kind == _DOUBLE:
        return data[place : place + 8], place + 8
    raise ValueError(f"a field is of no known type: {kind}")


def _list(data: bytes, place: int) -> tuple[list[Any], int]:
    head = data[place]
    place += 1
    kind, size = head & 0x0F, head >> 4
    if size == 15:
        size, place = _varint(data, place)
    found = []
    for _ in range(size):
        value, place = _value(data, place, kind)
        found.append(value)
    return found, place


def _signed(data: bytes, place: int) -> tuple[int, int]:
    number, place = _varint(data, place)
    return (number >> 1) ^ -(number & 1), place


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7
