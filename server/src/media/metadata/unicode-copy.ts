import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodingOf, withoutDeclaration } from '../text-encoding.ts';

/** Larger drawings are read as they are. */
const MOST_BYTES = 10 * 1024 ** 2;

/**
 * Calls `read` with a copy of a drawing in UTF-8 and returns its result. ExifTool replaces the letters of other
 * encodings by question marks. Returns null if the drawing is UTF-8 already.
 */
export async function readAsUnicode<T>(path: string, read: (path: string) => Promise<T>): Promise<T | null> {
  if ((await stat(path)).size > MOST_BYTES) return null;
  const bytes = await readFile(path);
  const encoding = encodingOf(bytes);
  if (encoding === 'utf-8') return null;
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-metadata-'));
  try {
    const copy = join(directory, 'drawing.svg');
    await writeFile(copy, withoutDeclaration(new TextDecoder(encoding).decode(bytes)));
    return await read(copy);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
