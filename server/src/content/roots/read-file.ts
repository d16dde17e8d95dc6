import { isUtf8 } from 'node:buffer';
import { createHash, hash, randomUUID } from 'node:crypto';
import { copyFile, type FileHandle, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Sniffed, sniff } from '../../media/sniff.ts';
import { openRegular } from '../../platform/files/below.ts';
import { isMissing } from '../../platform/files/directory-tree.ts';
import { type FileState, isSameState, stateOf } from '../root-files/state.ts';
import { isExposureName } from '../stacks/series.ts';
import { headBytes, maySeries } from '../stacks/series-marks.ts';
import { textOf } from './walk.ts';

/** A file and what its bytes are. */
export interface FileFacts extends FileState, Sniffed {
  /** SHA-256 in hex. */
  hash: string;
  /** Whether it may be a photo of a burst or a bracket. */
  maySeries?: boolean;
}

/** `changing`: the file was written to meanwhile, so it is read again later. */
export type Reading = { kind: 'read'; facts: FileFacts } | { kind: 'changing' } | { kind: 'gone' };

/** Files up to this size are read at once. */
const WHOLE_BYTES = 1024 * 1024;

interface ReadFile {
  hash: string;
  /** Its bytes if it is small. */
  bytes: Buffer | null;
  maySeries: boolean;
}

/** Reads a file once. */
async function readWhole(file: FileHandle, name: string, sizeBytes: number): Promise<ReadFile> {
  const most = isExposureName(name) ? headBytes(name) : 0;
  if (sizeBytes <= WHOLE_BYTES) {
    const bytes = await file.readFile();
    return { hash: hash('sha256', bytes), bytes, maySeries: maySeries(bytes.subarray(0, most)) };
  }
  const digest = createHash('sha256');
  let found = false;
  let at = 0;
  for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: WHOLE_BYTES })) {
    digest.update(chunk);
    if (!found && at < most) found = maySeries(chunk.subarray(0, most - at));
    at += chunk.length;
  }
  return { hash: digest.digest('hex'), bytes: null, maySeries: found };
}

/** Returns the type of a file, from a copy if its name is not UTF-8. */
async function sniffBytes(path: Buffer, bytes: Buffer | null, incomingDir: string): Promise<Sniffed> {
  if (isUtf8(path)) return sniff(path.toString(), bytes);
  const copy = join(incomingDir, randomUUID());
  try {
    await copyFile(path, copy);
    return await sniff(copy);
  } finally {
    await rm(copy, { force: true });
  }
}

/** Reads a file whose state is known (ROOT-6). Rejects if it cannot be read. */
export async function readFound(path: Buffer, state: FileState, incomingDir: string): Promise<Reading> {
  const file = await openRegular(path);
  if (file === null) return { kind: 'gone' };
  let read: ReadFile;
  try {
    read = await readWhole(file, textOf(path), state.sizeBytes);
  } finally {
    await file.close();
  }
  const type = await sniffBytes(path, read.bytes, incomingDir).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  const after = await stateOf(path);
  if (type === null || after === null) return { kind: 'gone' };
  return isSameState(state, after)
    ? { kind: 'read', facts: { ...state, ...type, hash: read.hash, maySeries: read.maySeries } }
    : { kind: 'changing' };
}
