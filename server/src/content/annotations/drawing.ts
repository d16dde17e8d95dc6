import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Anchor } from '@vitrine/contract/annotations';
import { getDrawing } from '@vitrine/contract/comments';
import { frameRateOf } from '@vitrine/contract/frames';
import type { MediaFacts } from '@vitrine/contract/media';
import type { Stroke } from '@vitrine/contract/strokes';
import { sql } from 'kysely';
import { readableComments } from '../../access/annotations.ts';
import type { Caller } from '../../access/caller.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { DecodingStopped } from '../../media/decoding/process.ts';
import type { Moment } from '../../media/flatten.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { sandboxPolicy } from '../../platform/http/security-headers.ts';
import { originalKey } from '../../platform/storage/object-key.ts';
import { findBytes } from '../assets/find-bytes.ts';
import { versionsOfAsset } from '../assets/version-rows.ts';

interface DrawingRow {
  asset_id: string;
  version: number;
  anchor: Anchor;
  strokes: Stroke[];
  /** Whether its version is the file's current one. */
  current: boolean;
  media: MediaFacts;
}

/** Returns the drawing of an annotation that the caller reads, or throws 404. */
async function findDrawing(db: Database, caller: Caller, id: string): Promise<DrawingRow> {
  const { rows } = await sql<DrawingRow>`
    select c.annotated_asset_id as asset_id, n.version, n.anchor, n.strokes, v.number = newest.number as current, f.media
    from comments c join posts p on p.id = c.post_id join annotations n on n.comment_id = c.id
      join assets a on a.id = c.annotated_asset_id
      join ${versionsOfAsset} on v.number = n.version
      join files f on f.hash = v.file_hash
      cross join lateral (select max(v.number) as number from ${versionsOfAsset}) newest
    where c.id = ${id} and n.strokes is not null and ${readableComments(caller)}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw notFound();
  return row;
}

/** What is drawn on: an object of the storage, and the moment of a film. */
interface Ground {
  object: string;
  mime: string;
  moment: Moment | null;
}

/** Returns what the caller may see under the drawing, or throws 404 (ANNOTATION-20). */
async function findGround(deps: Deps, caller: Caller, drawing: DrawingRow): Promise<Ground> {
  const { asset_id: id, anchor, media } = drawing;
  const version = drawing.current ? undefined : drawing.version;
  const find = (key: string | null) => findBytes(deps, caller, { id, key, version });
  if (anchor.kind === 'time' && media.has_video === true) {
    const film = await find(null);
    if (film?.file_hash == null) throw notFound();
    const moment = { seconds: anchor.start, rate: frameRateOf(media) ?? null };
    return { object: originalKey(film.file_hash), mime: film.mime, moment };
  }
  const whole = deps.ladder.filter(({ fit }) => fit === 'contain').sort((a, b) => b.maxDim - a.maxDim);
  const keys = anchor.kind === 'page' ? [`page-${anchor.page}`] : whole.map(({ key }) => key);
  for (const key of keys) {
    const rendition = (await find(key))?.rendition;
    if (rendition != null) return { object: rendition.object, mime: rendition.type, moment: null };
  }
  throw notFound();
}

/** ANNOTATION-20: the picture, frame or page with the drawing on it. */
export const drawing = handle(getDrawing, async (deps, { caller, params }) => {
  const { storage, decoders } = deps;
  const found = await findDrawing(deps.db, caller, params.id);
  const { object, mime, moment } = await findGround(deps, caller, found);
  const to = join(storage.incomingDir, `drawing-${randomUUID()}`);
  const turn = caller.kind === 'user' ? String(caller.ref) : caller.kind;
  try {
    const isDrawn = await storage.withLocalFile(object, (path) =>
      decoders.run('flatten', turn, 'flatten', { path, mime, moment, strokes: found.strokes, to }),
    );
    if (!isDrawn) throw notFound();
    const body = await readFile(to);
    const headers = {
      'content-type': 'image/png',
      'content-length': String(body.length),
      'cache-control': 'private, no-cache',
      'content-security-policy': sandboxPolicy,
    };
    return { status: 200, body, headers };
  } catch (error) {
    if (error instanceof DecodingStopped)
      throw refuse('picture-decoding-stopped', { reason: error.sentence });
    throw error;
  } finally {
    await rm(to, { force: true });
  }
});
