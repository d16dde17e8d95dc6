import { Readable } from 'node:stream';
import { ImageQuery } from '@vitrine/contract/visual-search';
import type { Static } from 'typebox';
import type { FormPart } from '../../core/handle.ts';
import { compileLater } from '../../platform/http/compile-later.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { checkJson } from '../../platform/http/validate.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { discard, type Received, receive } from '../assets/receive.ts';

const MOST_BYTES = 20 * 1024 * 1024;

const check = checkJson(ImageQuery, 'form');
const compiled = compileLater(ImageQuery);

export interface PictureQuery {
  fields: Static<typeof ImageQuery>;
  /** The file, which the caller must discard; null when an asset is named instead. */
  received: Received | null;
}

/** Passes the stream up to the limit and discards the rest, so that the client receives the response. */
async function* bounded(stream: Readable): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size <= MOST_BYTES) yield chunk;
  }
  if (size > MOST_BYTES) throw refuse('picture-too-large');
}

/** Reads the form: a part `file` or the field `asset_id`, and `limit`. Leaves nothing behind on an error. */
export async function readPictureForm(
  parts: AsyncIterable<FormPart>,
  storage: Pick<Storage, 'incomingDir' | 'room'>,
): Promise<PictureQuery> {
  const given: Record<string, unknown> = Object.create(null);
  let received: Received | null = null;
  try {
    for await (const part of parts) {
      if (part.kind === 'file') {
        if (part.file.fieldname !== 'file' || received !== null) {
          part.file.file.resume();
          throw refuse('file-part-single');
        }
        received = await receive(Readable.from(bounded(part.file.file)), storage);
      } else if (Object.hasOwn(given, part.name)) {
        throw refuse('given-twice', { property: part.name });
      } else {
        const isNumber = part.name === 'limit' && /^\d{1,9}$/.test(part.value);
        given[part.name] = isNumber ? Number(part.value) : part.value;
      }
    }
    const fields = check({ ...given });
    if (!compiled().Check(fields)) throw refuse('malformed-form');
    return { fields, received };
  } catch (error) {
    if (received !== null) await discard(received.path);
    throw error;
  }
}

/** Reads the form to its end and stores nothing. */
export async function skipPictureForm(parts: AsyncIterable<FormPart>): Promise<void> {
  for await (const part of parts) if (part.kind === 'file') part.file.file.resume();
}
