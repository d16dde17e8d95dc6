/** Bytes that a form accepts. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Joins the parts of a file; texts are in Latin-1. */
export function fileOf(...parts: readonly (Uint8Array | string)[]): Bytes {
  const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part));
  return Uint8Array.from(Buffer.concat(buffers));
}

/** Writes numbers of one byte (B), little-endian ones of 2 and 4 (h, i), and big-endian ones of 2, 4 and 8 (H, I, Q). */
export function numbers(format: string, ...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  let end = 0;
  for (const [index, kind] of [...format].entries()) {
    const value = values[index] ?? 0;
    if (kind === 'B') end = bytes.writeUInt8(value & 255, end);
    else if (kind === 'h') end = bytes.writeUInt16LE(value & 0xffff, end);
    else if (kind === 'i') end = bytes.writeInt32LE(value | 0, end);
    else if (kind === 'H') end = bytes.writeUInt16BE(value & 0xffff, end);
    else if (kind === 'I') end = bytes.writeUInt32BE(value >>> 0, end);
    else end = bytes.writeBigUInt64BE(BigInt(value), end);
  }
  return bytes.subarray(0, end);
}

export const uint32 = (...values: number[]) => numbers('I'.repeat(values.length), ...values);

/** A box of an ISO container, or a chunk of the same structure. */
export function box(type: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([uint32(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

/** A TIFF with one directory of these tags, whose values are of type LONG. */
export function tiffOf(tags: Readonly<Record<number, number>>, bigEndian = false): Buffer {
  const entries = Object.entries(tags).map(([tag, value]) =>
    numbers(bigEndian ? 'HHII' : 'hhii', Number(tag), 4, 1, value),
  );
  const head = numbers(bigEndian ? 'HIH' : 'hih', 42, 8, entries.length);
  return Buffer.concat([Buffer.from(bigEndian ? 'MM' : 'II'), head, ...entries, uint32(0)]);
}
