import { DisplayString, parseItem, serializeItem, Token } from 'structured-headers';
import type { ErrorParam } from './codes.ts';

/** The response header with the code of an error and its parameters: an item of RFC 9651. */
export const errorHeader = 'Vitrine-Error';

/** The longest value of a parameter in the header, in characters. The text of the error is not shortened. */
const LONGEST_PARAM = 200;

const MOST_INTEGER = 999_999_999_999_999;

/** Whether a structured field represents this number exactly: at most 15 digits, 3 of them after the point. */
function isExact(value: number): boolean {
  if (Number.isInteger(value)) return Math.abs(value) <= MOST_INTEGER;
  return Math.abs(value) < 1e12 && Number(value.toFixed(3)) === value;
}

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= LONGEST_PARAM ? text : characters.slice(0, LONGEST_PARAM).join('');
}

/** Returns as many of the words, separated by spaces, as the header has room for. */
function joined(words: readonly string[]): string {
  let text = '';
  for (const word of words) {
    const longer = text === '' ? word : `${text} ${word}`;
    if (longer.length > LONGEST_PARAM) break;
    text = longer;
  }
  return text;
}

function bareItem(value: ErrorParam): number | string | DisplayString {
  if (typeof value === 'number' && isExact(value)) return value;
  const text = shortened(typeof value === 'object' ? joined(value) : String(value));
  // Control characters become spaces: the library writes the line feed of a Display String as `%a` instead of `%0a`.
  const printable = text.toWellFormed().replace(/\p{Cc}/gu, ' ');
  return /^[ -~]*$/.test(printable) ? printable : new DisplayString(printable);
}

/** Returns the value of `Vitrine-Error`, such as `value-too-long; property="title"; max=500`. */
export function formatErrorHeader(code: string, params: Readonly<Record<string, ErrorParam>>): string {
  const items = Object.entries(params).map(([name, value]) => [name, bareItem(value)] as const);
  return serializeItem(new Token(code), new Map(items));
}

/** What `Vitrine-Error` says. */
export interface ReadErrorHeader {
  code: string;
  params: Readonly<Record<string, string | number>>;
}

/** Reads `Vitrine-Error`; null if it is missing or malformed. */
export function parseErrorHeader(text: string | null): ReadErrorHeader | null {
  if (text === null) return null;
  try {
    const [code, items] = parseItem(text);
    if (!(code instanceof Token)) return null;
    const params: Record<string, string | number> = {};
    for (const [name, value] of items) {
      params[name] = typeof value === 'number' ? value : String(value);
    }
    return { code: code.toString(), params };
  } catch {
    return null;
  }
}
