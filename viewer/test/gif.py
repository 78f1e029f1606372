"""Frames as a moving picture: python gif.py FRAMES FILE."""

import sys
from pathlib import Path

from PIL import Image

WIDTH = 340
COLOURS = 64
MILLISECONDS = 100


def picture(path: Path) -> Image.Image:
    """The middle of a frame, small, in few colours."""
    whole = Image.open(path).convert("RGB")
    width, height = whole.size
    middle = whole.crop((width // 10, int(0.18 * height), width - width // 10, int(0.9 * height)))
    small = middle.resize((WIDTH, WIDTH * middle.height // middle.width), Image.Resampling.LANCZOS)
    return small.quantize(COLOURS, dither=Image.Dither.NONE)


frames, file = Path(sys.argv[1]), sys.argv[2]
first, *rest = [picture(path) for path in sorted(frames.glob("*.png"))]
first.save(file, save_all=True, append_images=rest, duration=MILLISECONDS, loop=0, optimize=True)
