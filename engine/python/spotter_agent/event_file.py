"""The event files that TensorBoard's writers make: records of TFRecord (length, masked CRC-32C of it, data, masked
CRC-32C of the data) that hold messages ``tensorflow.Event``. Of these only scalars are read.
"""

import re
import struct
from typing import Iterator, List, NamedTuple, Optional, Tuple, Union

from .metric_number import Number, Taken

HEAD_BYTES, TAIL_BYTES = 12, 4
# Scalars take a few dozen bytes; pictures and sounds, which nobody here looks at, are passed over.
MAX_RECORD_BYTES = 1024 * 1024
MAX_VARINT_BYTES = 10
# Places in a damaged file that could be the beginning of a record: looking at many more takes a while.
MAX_TRIES = 100_000
MAX_STEP = 2**53
DT_FLOAT, DT_DOUBLE = 1, 2
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

ZEROS = bytes(5)
NOT_ZERO = re.compile(b"[^\0]")

Field = Tuple[int, int, Union[int, bytes]]


def crc_table() -> List[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x82F63B78 if crc & 1 else crc >> 1
        table.append(crc)
    return table


CRC_TABLE = crc_table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and moved as TFRecord asks of data that may hold checksums itself."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


class Scalar(NamedTuple):
    tag: str
    step: int
    value: float
    is_single: bool


class EventFile:
    """Takes what a file has grown by."""

    def __init__(self) -> None:
        self._tries = MAX_TRIES

    def take(self, data: bytes, is_over: bool) -> Taken:
        """Reads the whole records of ``data``. A damaged one is passed over; half of one is left for the next time."""
        numbers: List[Number] = []
        fault: Optional[str] = None
        at = 0
        while len(data) - at >= HEAD_BYTES:
            if self._tries <= 0:
                return Taken(len(data), numbers, "too much of it is damaged, the rest is not read")
            length = length_at(data, at)
            if length is None:
                fault = "damaged records are passed over"
                at = self._next_head(data, at + 1)
                continue
            end = at + HEAD_BYTES + length + TAIL_BYTES
            if length > MAX_RECORD_BYTES:
                return Taken(end, numbers, fault)
            if end > len(data):
                break
            record = data[at + HEAD_BYTES : end - TAIL_BYTES]
            try:
                if masked_crc(record) != struct.unpack("<I", data[end - TAIL_BYTES : end])[0]:
                    raise ValueError("checksum")
                numbers.extend(Number(*scalar) for scalar in scalars(record))
            except (ValueError, struct.error):
                fault = "damaged records are passed over"
            at = end
        if is_over and at < len(data):
            fault = fault or "its last record is not whole"
        return Taken(at, numbers, fault)

    def _next_head(self, data: bytes, at: int) -> int:
        """Where the next record begins, or where it is to be looked for when there is more."""
        last = len(data) - HEAD_BYTES
        while at <= last and self._tries > 0:
            # No record that is read is longer than three bytes can say.
            at = data.find(ZEROS, at + 3) - 3
            if at < 0:
                return last + 1
            self._tries -= 1
            if at > last or length_at(data, at) is not None:
                return at
            if not any(data[at : at + HEAD_BYTES]):
                # Where a disk had no time to write there are pages of zeros.
                written = NOT_ZERO.search(data, at)
                at = (len(data) if written is None else written.start()) - HEAD_BYTES
            at += 1
        return at


def length_at(data: bytes, at: int) -> Optional[int]:
    """The length of the record that begins there; None where none does."""
    length, crc = struct.unpack_from("<QI", data, at)
    return length if masked_crc(data[at : at + 8]) == crc else None


def scalars(record: bytes) -> List[Scalar]:
    """Event { int64 step = 2; Summary summary = 5 }; ValueError for what is no message."""
    step = 0
    found: List[Tuple[str, float, bool]] = []
    for number, wire, value in fields(record):
        if number == 2 and wire == VARINT:
            step = int(value)
        if number == 5 and isinstance(value, bytes):
            for of_summary, _, each in fields(value):
                if of_summary == 1 and isinstance(each, bytes):
                    found.extend(scalar_of(each))
    return [Scalar(tag, step, value, is_single) for tag, value, is_single in found if step <= MAX_STEP]


def scalar_of(message: bytes) -> Iterator[Tuple[str, float, bool]]:
    """Summary.Value { string tag = 1; float simple_value = 2; TensorProto tensor = 8 }"""
    tag: Optional[str] = None
    told: Optional[Tuple[float, bool]] = None
    for number, wire, value in fields(message):
        if number == 1 and isinstance(value, bytes):
            tag = value.decode("utf-8", "replace")
        if number == 2 and wire == FIXED32 and isinstance(value, bytes):
            told = (struct.unpack("<f", value)[0], True)
        if number == 8 and isinstance(value, bytes):
            told = tensor_scalar(value)
    if tag and told is not None:
        yield (tag, *told)


def tensor_scalar(message: bytes) -> Optional[Tuple[float, bool]]:
    """TensorProto { dtype = 1; bytes tensor_content = 4; float float_val = 5; double double_val = 6 }, of one number."""
    dtype = 0
    content = b""
    for number, wire, value in fields(message):
        if number == 1 and wire == VARINT:
            dtype = int(value)
        if number in (4, 5, 6) and isinstance(value, bytes):
            content += value
    if dtype == DT_FLOAT and len(content) == 4:
        return struct.unpack("<f", content)[0], True
    if dtype == DT_DOUBLE and len(content) == 8:
        return struct.unpack("<d", content)[0], False
    return None


def fields(message: bytes) -> Iterator[Field]:
    """Number, wire type and value of each field."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        wire = key & 7
        if wire == VARINT:
            value, at = varint(message, at)
            yield key >> 3, wire, value
            continue
        if wire == BYTES:
            size, at = varint(message, at)
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire}")
        if at + size > len(message):
            raise ValueError("a field ends outside of its message")
        yield key >> 3, wire, message[at : at + size]
        at += size


def varint(message: bytes, at: int) -> Tuple[int, int]:
    value = 0
    for index, byte in enumerate(message[at : at + MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise ValueError("a number without an end")
