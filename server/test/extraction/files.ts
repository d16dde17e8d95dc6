import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownAsset } from '@vitrine/contract/assets';
import type { FieldValue } from '@vitrine/contract/field-values';
import type { FieldType } from '@vitrine/contract/fields';
import { type Defined, define } from '../fields/values/fields.ts';
import { pictureFile, tagFile } from '../media/tagged-files.ts';
import type { Visitor } from '../support/client.ts';
import type { Library } from '../support/library.ts';

type Tags = Readonly<Record<string, string | readonly string[]>>;

let made = 0;
const pictures = new Map<string, Promise<Buffer>>();

async function makePicture(tags: Tags): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-tagged-'));
  const path = join(directory, 'picture.jpg');
  try {
    await pictureFile(path, 'jpeg');
    await tagFile(path, tags);
    return await readFile(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns a picture with these tags and a unique hash: a trailer changes the hash, not the metadata. */
export async function tagged(tags: Tags): Promise<Uint8Array<ArrayBuffer>> {
  const key = JSON.stringify(tags);
  const picture = pictures.get(key) ?? makePicture(tags);
  pictures.set(key, picture);
  made += 1;
  return Uint8Array.from(Buffer.concat([await picture, Buffer.from(`${made}`)]));
}

/** Creates a truncated film, which is shorter than its first box states. */
export function brokenFilm(seed: number): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(200);
  bytes.write('\0\0\0\u0018ftypisom\0\0\u0002\0isomavc1', 0, 'latin1');
  bytes.write('\0\u0010\0\0moov', 24, 'latin1');
  bytes.writeUInt32BE(seed, 100);
  return Uint8Array.from(bytes);
}

/** Creates a field that is wired to a source. */
export async function wire(
  library: Library,
  admin: Visitor,
  type: FieldType,
  { source, mode, ...defined }: Defined & { source: string; mode?: 'replace' | 'append' | 'prepend' },
): Promise<string> {
  const id = await define(library, type, defined);
  const body = { source, ...(mode === undefined ? {} : { mode }) };
  await admin.ok('setFieldExtraction', { params: { id }, body });
  return id;
}

/** Returns the value of a field on an asset, as shown to a caller. */
export async function shownValue(
  visitor: Visitor,
  asset: Pick<ShownAsset, 'id'>,
  field: string,
): Promise<FieldValue | undefined> {
  const { items } = await visitor.ok('listAssetFieldValues', { params: { id: asset.id } });
  return items.find(({ field_id }) => field_id === field);
}
