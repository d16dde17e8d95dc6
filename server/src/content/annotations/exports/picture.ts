import { readFile } from 'node:fs/promises';
import type { Anchor } from '@vitrine/contract/annotations';
import type { Caller } from '../../../access/caller.ts';
import type { Deps } from '../../../core/deps.ts';
import { sharp } from '../../../media/tuned-sharp.ts';
import { findBytes } from '../../assets/find-bytes.ts';
import { type Drawn, overlay } from './overlay.ts';

/** The file that an annotation is about, and the page of it. */
export interface PictureOf {
  asset: string;
  anchor: Anchor;
}

/** Returns a rendition of the file, which this service made; null if the caller may not get it or there is none. */
async function readRendition(
  deps: Pick<Deps, 'db' | 'served' | 'storage'>,
  caller: Caller,
  { asset, anchor }: PictureOf,
): Promise<Buffer | null> {
  // The still of a film is of another moment.
  if (anchor.kind === 'time') return null;
  const first = anchor.kind === 'page' ? [`page-${anchor.page}`] : [];
  const whole = anchor.kind === 'page' && anchor.page > 1 ? [] : ['screen', 'preview'];
  for (const key of [...first, ...whole]) {
    const row = await findBytes(deps, caller, { id: asset, key, version: undefined });
    const object = row?.rendition?.object;
    if (object !== undefined) return deps.storage.withLocalFile(object, (path) => readFile(path));
  }
  return null;
}

/** The longest edge of a drawn picture. */
const LONGEST = 2048;
/** What is drawn on where there is no picture. */
const blank = { width: 1280, height: 720, channels: 3, background: '#26262b' } as const;

/** A picture with what was drawn on it, as JPEG. */
export interface DrawnPicture {
  bytes: Buffer;
  width: number;
  height: number;
}

/** Draws over the picture of a file, or over a dark surface where there is none. */
export async function drawOver(
  deps: Pick<Deps, 'db' | 'served' | 'storage'>,
  caller: Caller,
  of: PictureOf,
  drawn: readonly Drawn[],
): Promise<DrawnPicture> {
  const rendition = await readRendition(deps, caller, of);
  const picture =
    rendition === null
      ? sharp({ create: blank })
      : sharp(rendition).resize(LONGEST, LONGEST, { fit: 'inside', withoutEnlargement: true });
  const { data, info } = await picture
    .flatten({ background: '#fff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const composed = sharp(data, { raw: { width, height, channels } }).composite([
    { input: overlay(drawn, { width, height }) },
  ]);
  const bytes = await composed.jpeg({ quality: 85 }).toBuffer();
  return { bytes, width, height };
}
