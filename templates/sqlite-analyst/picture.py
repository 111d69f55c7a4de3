"""A pixel image with lines, boxes and text, and its PNG file (W3C Portable Network Graphics, third edition)."""

import struct
import unicodedata
import zlib

import font

Colour = tuple[int, int, int]

TEXT_HEIGHT = 2 * font.HEIGHT
_SCALE = 2
_ADVANCE = _SCALE * (font.WIDTH + 1)


class Picture:
    """Pixels in rows, three bytes each."""

    def __init__(self, width: int, height: int, ground: Colour) -> None:
        """Create an image of one colour."""
        self.width, self.height = width, height
        self._dots = bytearray(bytes(ground) * (width * height))

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        """Fill a box, as far as it is inside the image."""
        x0, x1 = max(0, round(left)), min(self.width, round(right))
        y0, y1 = max(0, round(top)), min(self.height, round(bottom))
        if x0 >= x1:
            return
        run = bytes(colour) * (x1 - x0)
        for y in range(y0, y1):
            start = 3 * (y * self.width + x0)
            self._dots[start : start + len(run)] = run

    def line(self, start: tuple[float, float], end: tuple[float, float], colour: Colour, thickness: float = 3) -> None:
        """Draw a line."""
        (x0, y0), (x1, y1) = start, end
        steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0))))
        half = thickness / 2
        for step in range(steps + 1):
            x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            self.box(x - half, y - half, x + half, y + half, colour)

    def text(self, x: float, y: float, text: str, colour: Colour) -> None:
        """Write text whose upper left corner is at a point."""
        for number, character in enumerate(_plain(text)):
            for column, bits in enumerate(font.columns(character)):
                left = x + number * _ADVANCE + column * _SCALE
                for row in range(font.HEIGHT):
                    if bits >> row & 1:
                        top = y + row * _SCALE
                        self.box(left, top, left + _SCALE, top + _SCALE, colour)

    def png(self) -> bytes:
        """Return the image as a PNG file."""
        stride = 3 * self.width
        rows = b"".join(b"\0" + self._dots[at : at + stride] for at in range(0, len(self._dots), stride))
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def text_width(text: str) -> int:
    """Return the width of a text, in pixels."""
    return max(0, len(_plain(text)) * _ADVANCE - _SCALE)


def fitting(text: str, width: float) -> str:
    """Return a text cut to a width."""
    room = int((width + _SCALE) // _ADVANCE)
    plain = _plain(text)
    return plain if len(plain) <= room else plain[: max(0, room - 2)] + ".."


def _plain(text: str) -> str:
    # The font has no accents: ö is written as o.
    parts = unicodedata.normalize("NFKD", text.replace("\n", " "))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
