"""The tiles of a picture: what a process computes. Nothing here knows of pages or of MCP."""

import struct
import zlib
from collections.abc import Mapping
from typing import NamedTuple

ACROSS = 4
"""How many tiles there are in a row."""
PALETTE = b"".join(bytes((level**3 // 65_281, level**2 // 256, min(255, 60 + level))) for level in range(256))
"""Three bytes for each colour, from dark blue to white."""


class Tile(NamedTuple):
    """A square part of a picture.

    Attributes:
        left, top: Its corner in the picture, in pixels.
        size: Its width and height, in pixels.
        real, imaginary: The number at that corner.
        step: The distance of two pixels.
    """

    left: int
    top: int
    size: int
    real: float
    imaginary: float
    step: float


def tiles_of(x: float, y: float, width: float, size: int) -> list[Tile]:
    """Return the tiles of a picture of this centre and width, those in the middle first."""
    part, step = size // ACROSS, width / size
    corners = [(left, top) for top in range(0, size, part) for left in range(0, size, part)]
    corners.sort(key=lambda corner: sum(abs(place + part / 2 - size / 2) for place in corner))
    return [
        Tile(left, top, part, x - width / 2 + left * step, y + width / 2 - top * step, step) for left, top in corners
    ]


def rendered(tile: Tile, detail: int) -> bytes:
    """Return a colour of the palette for each pixel of a tile, row by row."""
    found = bytearray()
    for row in range(tile.size):
        imaginary = tile.imaginary - row * tile.step
        for column in range(tile.size):
            steps = escape(complex(tile.real + column * tile.step, imaginary), detail)
            found.append(0 if steps == detail else 1 + steps * 37 % 255)
    return bytes(found)


def escape(number: complex, most: int) -> int:
    """Return after how many steps a point escapes, or the most."""
    value = 0j
    for step in range(most):
        if value.real * value.real + value.imag * value.imag > 4:
            return step
        value = value * value + number
    return most


def picture_of(tiles: Mapping[Tile, bytes], size: int) -> bytes:
    """Return a picture of the tiles that are there, as PNG (ISO/IEC 15948) with a palette."""
    pixels = [bytearray(size) for _ in range(size)]
    for tile, colours in tiles.items():
        for row in range(tile.size):
            pixels[tile.top + row][tile.left : tile.left + tile.size] = colours[row * tile.size : (row + 1) * tile.size]
    rows = b"".join(b"\0" + row for row in pixels)
    header = struct.pack(">IIBBBBB", size, size, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", PALETTE), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
