import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Number of bytes that are inspected for the encoding. */
const SAMPLE = 64 * 1024;

/** The functions of chardetng, the detector of Firefox, that are used here. */
interface Detector {
  memory: WebAssembly.Memory;
  __wbindgen_add_to_stack_pointer(by: number): number;
  __wbindgen_malloc(bytes: number): number;
  __wbindgen_free(at: number, bytes: number): void;
  detect(answerAt: number, at: number, length: number): void;
}

let detector: Detector | undefined;

/** Loads the module without its wrapper, which bundlers can import and Node cannot. */
function openDetector(): Detector {
  const path = createRequire(import.meta.url).resolve('chardetng-wasm/dist/chardetng_wasm_bg.wasm');
  const stop = () => {
    throw new Error('the detector of encodings failed');
  };
  const module = new WebAssembly.Module(readFileSync(path));
  const { exports } = new WebAssembly.Instance(module, {
    './chardetng_wasm_bg.js': { __wbindgen_throw: stop },
  });
  // The exports of this exact version; they are untyped.
  return exports as unknown as Detector;
}

/** Guesses the encoding of a text that is not Unicode. */
function guess(bytes: Uint8Array): string {
  detector ??= openDetector();
  const answerAt = detector.__wbindgen_add_to_stack_pointer(-16);
  try {
    const at = detector.__wbindgen_malloc(bytes.length);
    new Uint8Array(detector.memory.buffer).set(bytes, at);
    detector.detect(answerAt, at, bytes.length);
    const [nameAt = 0, length = 0] = new Int32Array(detector.memory.buffer, answerAt, 2);
    const name = Buffer.from(detector.memory.buffer, nameAt, length).toString('latin1');
    detector.__wbindgen_free(nameAt, length);
    return name;
  } finally {
    detector.__wbindgen_add_to_stack_pointer(16);
  }
}

/** Returns whether the bytes are valid in this encoding, apart from a character that is cut off at the end. */
function isValid(bytes: Uint8Array, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Detects UTF-16 without a mark: half of the bytes of Latin text are zero, all at even or all at odd offsets. */
function utf16Without(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const head = bytes.subarray(0, 1000);
  const pairs = Math.floor(head.length / 2);
  if (pairs < 4) return null;
  let [even, odd] = [0, 0];
  for (const [at, byte] of head.entries()) if (byte === 0) at % 2 === 0 ? even++ : odd++;
  if (odd > pairs / 2 && even === 0) return 'utf-16le';
  return even > pairs / 2 && odd === 0 ? 'utf-16be' : null;
}

/** How XML, HTML and CSS declare their encoding. */
const declarations: readonly RegExp[] = [
  /^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/i,
  /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i,
  /^@charset "([\w.:-]+)";/,
];

function declared(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 2048)).toString('latin1');
  const [name] = declarations.flatMap((pattern) => pattern.exec(start)?.[1] ?? []);
  return name !== undefined && isValid(bytes, name) ? name : null;
}

/** Returns the encoding of a text by its byte order mark; null without one. */
export function markedEncoding(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 'utf-8' : null;
}

/**
 * Returns the encoding of a text, as a label for TextDecoder: by its byte order mark, otherwise Unicode if it is valid,
 * otherwise the one that it declares, otherwise the most likely one.
 */
export function encodingOf(head: Uint8Array): string {
  const unicode = markedEncoding(head) ?? utf16Without(head);
  if (unicode !== null) return unicode;
  const isAscii = head.every((byte) => byte < 0x80 && byte !== 0x1b);
  if (isAscii) return 'utf-8';
  const sample = head.subarray(0, SAMPLE);
  if (!sample.includes(0x1b) && isValid(head, 'utf-8')) return 'utf-8';
  const named = declared(sample);
  if (named !== null) return named;
  const guessed = guess(sample);
  return isValid(sample, guessed) ? guessed : 'windows-1252';
}

/** Decodes a text in its encoding, without a character that is cut off at the end of its head. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes, { stream: true });
}

/** Removes the declared encoding of XML, which no longer holds when its text is written in UTF-8. */
export function withoutDeclaration(xml: string): string {
  return xml.replace(/^(\s*<\?xml[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')/i, '$1');
}
