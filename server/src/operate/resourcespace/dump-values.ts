import { isUtf8 } from 'node:buffer';

/** The values and rows of an `INSERT` statement, as MySQL and MariaDB write them into a dump. */

const windows1252 = new TextDecoder('windows-1252');

const [quote, backslash, open, close, comma, zero] = [39, 92, 40, 41, 44, 48] as const;

/** The characters that a backslash stands for, by their codes; any other character stands for itself. */
const escaped = new Map([
  [0x30, 0x00],
  [0x62, 0x08],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x5a, 0x1a],
]);

/** The bytes of Windows-1252 whose characters have other codes. */
const byteOfCharacter = new Map(
  Array.from({ length: 32 }, (_, at) => [windows1252.decode(Buffer.of(0x80 + at)), 0x80 + at] as const),
);

/**
 * Undoes the conversion of UTF-8 that was stored in a column declared as latin1: the server took each byte for a
 * character. Returns the text unchanged if it is not of this kind.
 */
export function undoDoubleEncoding(text: string): string {
  if (!/[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u2122]/.test(text)) return text;
  const bytes: number[] = [];
  for (const character of text) {
    const code = byteOfCharacter.get(character) ?? character.codePointAt(0) ?? 0;
    if (code > 0xff) return text;
    bytes.push(code);
  }
  const restored = Buffer.from(bytes);
  return isUtf8(restored) ? restored.toString('utf8') : text;
}

/** Decodes bytes of a dump: UTF-8, or Windows-1252 as dumps of old servers have it. */
function decodeBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : windows1252.decode(bytes);
}

/** A value with the position after it; null if the bytes end before the value does. */
type Scanned<T> = { value: T; end: number } | null;

function withoutEscapes(bytes: Buffer): Buffer {
  const plain = Buffer.alloc(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    let byte = bytes[at] ?? 0;
    if (byte === backslash || byte === quote) {
      at += 1;
      const next = bytes[at] ?? byte;
      byte = byte === backslash ? (escaped.get(next) ?? next) : next;
    }
    plain[length] = byte;
    length += 1;
  }
  return plain.subarray(0, length);
}

/** Returns the end of a quoted text, behind its closing quote; `at` is behind the opening one. */
function endOfQuoted(bytes: Buffer, at: number): { end: number; isPlain: boolean } | null {
  let isPlain = true;
  for (let here = at; here < bytes.length; here += 1) {
    const byte = bytes[here];
    if (byte === backslash) {
      isPlain = false;
      here += 1;
    } else if (byte === quote) {
      // The next byte decides whether the quote is doubled.
      if (here + 1 >= bytes.length) return null;
      if (bytes[here + 1] !== quote) return { end: here + 1, isPlain };
      isPlain = false;
      here += 1;
    }
  }
  return null;
}

function scanQuoted(bytes: Buffer, at: number): Scanned<Buffer> {
  const found = endOfQuoted(bytes, at);
  if (found === null) return null;
  const content = bytes.subarray(at, found.end - 1);
  return { value: found.isPlain ? content : withoutEscapes(content), end: found.end };
}

function scanBare(bytes: Buffer, at: number): Scanned<string> {
  let end = at;
  while (end < bytes.length) {
    const byte = bytes[end];
    if (byte === comma || byte === close || byte === quote) {
      return { value: bytes.toString('latin1', at, end).trim(), end };
    }
    end += 1;
  }
  return null;
}

function bareValue(text: string): string | null {
  if (/^null$/i.test(text)) return null;
  if (/^0x[0-9a-f]*$/i.test(text)) return decodeBytes(Buffer.from(text.slice(2), 'hex'));
  return text;
}

/** Scans a number, NULL, a text, or a text or hexadecimal digits behind a prefix such as `_binary`. */
function scanValue(bytes: Buffer, at: number): Scanned<string | null> {
  if (bytes[at] === quote) {
    const quoted = scanQuoted(bytes, at + 1);
    return quoted && { value: decodeBytes(quoted.value), end: quoted.end };
  }
  const bare = scanBare(bytes, at);
  if (bare === null) return null;
  if (bytes[bare.end] !== quote) return { value: bareValue(bare.value), end: bare.end };
  const quoted = scanQuoted(bytes, bare.end + 1);
  if (quoted === null) return null;
  const prefix = bare.value.toLowerCase();
  const isHex = prefix === 'x';
  const content = isHex ? Buffer.from(quoted.value.toString('latin1'), 'hex') : quoted.value;
  if (prefix === 'b')
    return { value: String(Number.parseInt(content.toString('latin1'), 2)), end: quoted.end };
  return { value: decodeBytes(content), end: quoted.end };
}

function skipBlanks(bytes: Buffer, at: number): number {
  let here = at;
  while (here < bytes.length && (bytes[here] ?? zero) <= 32) here += 1;
  return here;
}

/** Scans `(value, value, ...)`. Throws if the bytes are something else. */
export function scanRow(bytes: Buffer, at: number): Scanned<(string | null)[]> {
  let here = skipBlanks(bytes, at);
  if (here >= bytes.length) return null;
  if (bytes[here] !== open) throw new Error('a row does not begin with a parenthesis');
  const values: (string | null)[] = [];
  for (;;) {
    const scanned = scanValue(bytes, skipBlanks(bytes, here + 1));
    if (scanned === null) return null;
    values.push(scanned.value);
    here = skipBlanks(bytes, scanned.end);
    if (here >= bytes.length) return null;
    if (bytes[here] === close) return { value: values, end: here + 1 };
    if (bytes[here] !== comma) throw new Error('a value is followed by neither a comma nor a parenthesis');
  }
}
