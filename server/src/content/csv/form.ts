import type { Deps } from '../../core/deps.ts';
import type { FormPart, FormReader } from '../../core/handle.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { discard, type Received, receive } from '../assets/receive.ts';

/** Reads the form: one part `file`, streamed to disk. Leaves nothing behind on an error. */
async function readForm(
  { storage }: Deps,
  parts: AsyncIterable<FormPart>,
  maxBytes: number,
): Promise<Received> {
  let received: Received | null = null;
  try {
    for await (const part of parts) {
      if (part.kind === 'field') throw refuse('property-unknown', { property: part.name });
      if (part.file.fieldname !== 'file' || received !== null) {
        part.file.file.resume();
        throw refuse('file-part-strict');
      }
      received = await receive(part.file.file, storage, maxBytes);
      if (part.file.file.truncated) throw refuse('received-too-large', { max: maxBytes });
    }
    if (received === null) throw refuse('file-part-missing');
    return received;
  } catch (error) {
    if (received !== null) await discard(received.path);
    throw error;
  }
}

/** Reads the form of an import of CSV, whose file has at most this many bytes. */
export function csvForm(maxBytes: number): FormReader<Received> {
  return {
    read: (deps, parts) => readForm(deps, parts, maxBytes),
    discard: ({ path }) => discard(path),
  };
}
