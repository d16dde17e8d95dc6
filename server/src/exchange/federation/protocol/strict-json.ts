import { type Sentence, sentence } from '../../../platform/language/sentence.ts';
import { Rejection } from './rejection.ts';

/** The largest body of a request: a batch of envelopes, in bytes. */
const MOST_BYTES = 1024 ** 2;
/** Maximum nesting depth of objects and arrays. */
const DEEPEST = 32;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function malformed(detail: Sentence): Rejection {
  return new Rejection('malformed', detail);
}

/** Refuses text that parsers interpret differently or that PostgreSQL cannot store. */
function checkText(value: string): void {
  if (!value.isWellFormed()) throw malformed(sentence('a string contains half of a surrogate pair'));
  if (value.includes('\0')) throw malformed(sentence('a string contains a NUL character'));
}

function checkNumber(token: string): void {
  const number = Number(token);
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    throw malformed(sentence('a number is too large to be read exactly'));
}

const [QUOTE, BACKSLASH, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = Buffer.from('"\\{[}]');

/** Refuses deep nesting before parsing. */
function checkDepth(bytes: Uint8Array): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) inString = !inString;
    else if (inString) index += byte === BACKSLASH ? 1 : 0;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    if (depth > DEEPEST) throw malformed(sentence('the JSON is nested too deeply'));
  }
}

/** Strings, brackets, commas and everything between them, in text that is known to be JSON. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|[^\s{}[\],:"]+/g;

/** Checks names and numbers where JSON.parse is lenient; `json` must be valid JSON. */
function checkTokens(json: string): void {
  /** The names of each object that is open; null for an array. */
  const open: (Set<string> | null)[] = [];
  let expectsName = false;
  for (const [token] of json.matchAll(tokens)) {
    const names = open.at(-1);
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null);
      expectsName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      expectsName = false;
    } else if (token === ',') {
      expectsName = names != null;
    } else if (token.startsWith('"')) {
      const value: string = JSON.parse(token);
      checkText(value);
      if (expectsName && names != null) {
        if (names.has(value)) throw malformed(sentence('a property appears twice'));
        names.add(value);
        expectsName = false;
      }
    } else if (/^[-\d]/.test(token)) {
      checkNumber(token);
    }
  }
}

/**
 * Parses JSON that must mean the same to every reader, since signatures cover what was read. Throws Rejection for
 * invalid UTF-8, repeated names, numbers that a double cannot hold, unpaired surrogates, NUL, nesting deeper than 32,
 * and, as `too_large`, more than a megabyte.
 */
export function parseStrict(bytes: Uint8Array): unknown {
  if (bytes.length > MOST_BYTES)
    throw new Rejection('too_large', sentence('the body has more than a megabyte'));
  checkDepth(bytes);
  let json: string;
  let value: unknown;
  try {
    json = utf8.decode(bytes);
    value = JSON.parse(json);
  } catch {
    throw malformed(sentence('the body is not JSON in UTF-8'));
  }
  checkTokens(json);
  return value;
}
