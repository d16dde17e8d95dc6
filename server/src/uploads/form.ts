import { AssetFields } from '@vitrine/contract/assets';
import { discard, type Received, receive } from '../assets/receive.ts';
import type { FormPart } from '../handle.ts';
import { compileLater } from '../platform/http/compile-later.ts';
import { refuse } from '../platform/http/refuse.ts';
import { checkJson } from '../platform/http/validate.ts';
import type { Storage } from '../platform/storage/storage.ts';

const check = checkJson(AssetFields, 'form');
const compiled = compileLater(AssetFields);

/** Form fields are text; these are parsed as their schema requires. */
function readField(name: string, text: string): unknown {
  if (name === 'mature') return text === 'true' ? true : text === 'false' ? false : text;
  if (name === 'asset_type') return /^\d{1,15}$/.test(text) ? Number(text) : text;
  if (
    name === 'metadata' ||
    name === 'field_values' ||
    (name === 'tags' && text.trimStart().startsWith('['))
  ) {
    try {
      return JSON.parse(text);
    } catch {
      throw refuse(400, `${name} is not JSON`);
    }
  }
  return text;
}

/** `tags` may be repeated or be one JSON array; every other field may occur once. */
function addField(fields: Record<string, unknown>, name: string, text: string): void {
  const value = readField(name, text);
  if (name === 'tags') {
    const before = Array.isArray(fields.tags) ? fields.tags : [];
    fields.tags = Array.isArray(value) ? [...before, ...value] : [...before, value];
  } else if (Object.hasOwn(fields, name)) {
    throw refuse(400, `${name} is given twice`);
  } else {
    fields[name] = value;
  }
}

export interface UploadForm {
  received: Received;
  fileName: string;
  fields: AssetFields;
}

/**
 * Returns the client's file name without folders. It is never used as a name on disk. Browsers encode a quotation
 * mark in a form as `%22`.
 */
export function baseName(name: string): string {
  const last = name.replaceAll('%22', '"').split(/[/\\]/).at(-1) ?? '';
  const clean = last
    .replace(/\p{Cc}/gu, '')
    .toWellFormed()
    .trim();
  return Array.from(clean === '' || clean === '.' || clean === '..' ? 'file' : clean)
    .slice(-255)
    .join('');
}

/**
 * Reads an upload form: one part `file`, streamed to disk, and the asset's fields before or after it. Leaves no files
 * behind on an error.
 */
export async function readUploadForm(
  parts: AsyncIterable<FormPart>,
  storage: Pick<Storage, 'incomingDir' | 'room'>,
): Promise<UploadForm> {
  const given: Record<string, unknown> = Object.create(null);
  let received: Received | null = null;
  let fileName = 'file';
  try {
    for await (const part of parts) {
      if (part.kind === 'field') {
        addField(given, part.name, part.value);
      } else if (part.file.fieldname !== 'file' || received !== null) {
        part.file.file.resume();
        throw refuse(
          400,
          received === null ? `unknown file part ${part.file.fieldname}` : 'more than one file',
        );
      } else {
        received = await receive(part.file.file, storage);
        fileName = baseName(part.file.filename ?? '');
        if (part.file.file.truncated) throw refuse(413, 'the file is larger than this library allows');
      }
    }
    if (received === null) throw refuse(400, 'the form has no part named file');
    const fields = check({ ...given });
    if (!compiled().Check(fields)) throw refuse(400, 'malformed form');
    return { received, fileName, fields };
  } catch (error) {
    if (received !== null) await discard(received.path);
    throw error;
  }
}
