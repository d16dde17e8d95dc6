import type { ByteRange } from '../storage/storage.ts';

/** What to send: everything, one range, or nothing because the range is not satisfiable. */
export type RangeOutcome = { kind: 'whole' } | { kind: 'part'; range: ByteRange } | { kind: 'outside' };

/**
 * Parses a Range header for a size (RFC 9110, 14.2). Ignores several ranges, other units and malformed ones, as the
 * standard allows: the whole is sent.
 */
export function readRange(header: string | undefined, sizeBytes: number): RangeOutcome {
  const found = header === undefined ? null : /^bytes=(\d*)-(\d*)$/i.exec(header.trim());
  if (found === null || (found[1] === '' && found[2] === '')) return { kind: 'whole' };
  if (found[1] === '') {
    const suffix = Number(found[2]);
    if (suffix === 0 || sizeBytes === 0) return { kind: 'outside' };
    return { kind: 'part', range: { start: Math.max(0, sizeBytes - suffix), end: sizeBytes - 1 } };
  }
  const start = Number(found[1]);
  const end = found[2] === '' ? sizeBytes - 1 : Math.min(Number(found[2]), sizeBytes - 1);
  if (found[2] !== '' && Number(found[2]) < start) return { kind: 'whole' };
  if (start >= sizeBytes) return { kind: 'outside' };
  return { kind: 'part', range: { start, end } };
}
