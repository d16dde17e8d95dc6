/** Yields RGBA pixels of a decoder row by row for a TIFF; drops alpha unless it is requested. */
export function* rowsOfRgba(
  pixels: Uint8ClampedArray,
  width: number,
  height: number,
  alpha: boolean,
): Generator<Uint8Array> {
  for (let row = 0; row < height; row += 1) {
    const from = pixels.subarray(row * width * 4, (row + 1) * width * 4);
    if (alpha) {
      yield new Uint8Array(from.buffer, from.byteOffset, from.length);
      continue;
    }
    const to = new Uint8Array(width * 3);
    for (let x = 0; x < width; x += 1) {
      to[x * 3] = from[x * 4] ?? 0;
      to[x * 3 + 1] = from[x * 4 + 1] ?? 0;
      to[x * 3 + 2] = from[x * 4 + 2] ?? 0;
    }
    yield to;
  }
}

/** Returns whether any RGBA pixel is not opaque. */
export function hasTransparency(pixels: Uint8ClampedArray): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return true;
  return false;
}
