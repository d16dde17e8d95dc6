/** Unpacks runs of bytes (PackBits), up to `due` bytes. */
export function unpackBits(packed: Buffer, due: number): Buffer {
  const to = Buffer.alloc(due);
  let end = 0;
  for (let at = 0; at < packed.length && end < due; ) {
    const count = packed.readInt8(at);
    at += 1;
    if (count >= 0) {
      end += packed.copy(to, end, at, Math.min(packed.length, at + count + 1));
      at += count + 1;
    } else if (count !== -128) {
      const next = Math.min(due, end + 1 - count);
      to.fill(packed[at] ?? 0, end, next);
      end = next;
      at += 1;
    }
  }
  return to.subarray(0, end);
}

const CLEAR = 256;
const END = 257;
const MOST_CODES = 4096;

/** Unpacks LZW as in TIFF 6.0 (codes start with their highest bit), up to `due` bytes. */
export function unpackLzw(packed: Buffer, due: number): Buffer {
  const to = Buffer.alloc(due);
  /** Each code stands for a stretch of the output: that of an earlier code and one byte more. */
  const starts = new Int32Array(MOST_CODES);
  const lengths = new Int32Array(MOST_CODES);
  let [next, bits, before, end] = [258, 9, -1, 0];
  for (let bit = 0; bit + bits <= packed.length * 8 && end < due; ) {
    let code = 0;
    for (let left = bits; left > 0; left -= 1, bit += 1) {
      code = code * 2 + (((packed[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
    }
    if (code === END) break;
    if (code === CLEAR) {
      [next, bits, before] = [258, 9, -1];
      continue;
    }
    if (code > next || (code === next && before < 0)) break;
    const from = end;
    const isKnown = code < next;
    const copied = code < 256 ? -1 : isKnown ? code : before;
    if (copied < 256) {
      // A literal, or the previous literal twice.
      if (end < due) to[end] = copied < 0 ? code : copied;
      end += 1;
    } else {
      for (let index = 0; index < (lengths[copied] ?? 0) && end < due; index += 1, end += 1) {
        to[end] = to[(starts[copied] ?? 0) + index] ?? 0;
      }
    }
    if (!isKnown && end < due) {
      to[end] = to[from] ?? 0;
      end += 1;
    }
    if (before >= 0 && next < MOST_CODES) {
      const length = before < 256 ? 1 : (lengths[before] ?? 0);
      starts[next] = from - length;
      lengths[next] = length + 1;
      next += 1;
      // Codes grow one earlier than necessary.
      if (next + 1 >= 2 ** bits && bits < 12) bits += 1;
    }
    before = code;
  }
  return to.subarray(0, Math.min(end, due));
}
