import { readFile } from 'node:fs/promises';
import { type ImageMatch, searchByImage } from '@vitrine/contract/visual-search';
import { sql } from 'kysely';
import { servedAssets } from '../../access/assets.ts';
import type { Caller } from '../../access/caller.ts';
import type { Deps, Encoder } from '../../core/deps.ts';
import { handleForm } from '../../core/handle.ts';
import type { Decoders } from '../../media/decoding/decoders.ts';
import { DecodingStopped } from '../../media/decoding/process.ts';
import type { Database } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { discard, type Received } from '../assets/receive.ts';
import { type AssetRow, assetColumns, assetJoins, showRow } from '../assets/show.ts';
import { CODE_BITS, codeOf } from './code.ts';
import { EncoderUnavailable, PictureRefused } from './encoder.ts';
import { type PictureQuery, readPictureForm, skipPictureForm } from './query.ts';

const DEFAULT_LIMIT = 24;
/**
 * The longer edge of a picture sent to the encoder: that of `preview`, which is used for the library's own pictures.
 */
const EDGE = 1024;
/** Number of nearest codes that are compared exactly. */
const CANDIDATES = 400;
/** How many places of a code may differ, increased until there are enough candidates. */
const REACHES = [144, 216, CODE_BITS];

interface Encoded {
  model: string;
  vector: number[];
}

/** SEARCH-17: 501 without an encoder. */
function notInstalled() {
  return refuse('sidecar-not-installed');
}

/** Returns the encoder and its model, or throws 501. */
function installed({ encoder }: Pick<Deps, 'encoder'>): { encoder: Encoder; model: string } {
  const model = encoder?.info?.model;
  if (encoder === null || model === undefined) throw notInstalled();
  return { encoder, model };
}

/** Returns the vector of an uploaded file; a 400 when it is not a readable picture. */
async function encode(
  { encoder, decoders }: { encoder: Encoder; decoders: Decoders },
  caller: Caller,
  { path, mime }: Received,
): Promise<Encoded> {
  const unreadable = () => refuse('picture-unreadable');
  const to = `${path}.preview`;
  try {
    const turn = caller.kind === 'user' ? String(caller.ref) : caller.kind;
    const input = { path, mime, edge: EDGE, to };
    if (!(await decoders.run('query', turn, 'preview', input))) throw unreadable();
    return await encoder.encode(await readFile(to));
  } catch (error) {
    if (error instanceof DecodingStopped)
      throw refuse('picture-decoding-stopped', { reason: error.sentence });
    if (error instanceof PictureRefused) throw unreadable();
    if (error instanceof EncoderUnavailable) throw notInstalled();
    throw error;
  } finally {
    await discard(to);
  }
}

/**
 * Returns the stored vector of an asset whose bytes the caller may get; 404 without one, which a picture has soon after
 * its preview.
 */
async function vectorOf(db: Database, caller: Caller, model: string, assetId: string): Promise<Encoded> {
  const { rows } = await sql<{ vector: number[] }>`
    select v.vector from assets a join picture_vectors v on v.file_hash = a.file_hash and v.model = ${model}
    where a.id = ${assetId} and ${servedAssets(caller)} and v.vector is not null`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return { model, vector: row.vector };
}

/**
 * Returns the nearest assets under the content rule, which is part of the search: pictures that the caller may not get
 * do not displace others. The allowed difference of codes grows until there are enough candidates, so that the rule is
 * checked for few.
 */
async function nearest(
  db: Database,
  caller: Caller,
  { model, vector }: Encoded,
  { limit, except }: { limit: number; except: string | null },
): Promise<{ id: string; distance: number }[]> {
  const code = codeOf(vector);
  const another = except === null ? sql`` : sql` and a.id <> ${except}`;
  for (const reach of REACHES) {
    const { rows } = await sql<{ id: string; distance: number; candidates: number }>`
      with near as (
        select a.id, a.file_hash, count(*) over () as candidates
        from picture_codes c join assets a on a.file_hash = c.file_hash
        where c.model = ${model} and bit_count(c.code # ${code}::bit(512)) <= ${reach}
          and ${servedAssets(caller)}${another}
        order by bit_count(c.code # ${code}::bit(512)), a.id limit ${CANDIDATES}
      )
      select n.id, n.candidates::integer as candidates,
        round((1 - (select sum(x * y) from unnest(v.vector, ${vector}::real[]) as t (x, y)))::numeric, 3)::double precision
          as distance
      from near n join picture_vectors v on v.file_hash = n.file_hash and v.model = ${model}
      where v.vector is not null
      order by distance, n.id limit ${limit}`.execute(db);
    if (reach === CODE_BITS || (rows[0]?.candidates ?? 0) >= Math.max(CANDIDATES / 4, limit)) {
      return rows.map(({ id, distance }) => ({ id, distance: Math.min(2, Math.max(0, distance)) }));
    }
  }
  return [];
}

/** Returns these assets as the caller sees them, in this order. */
async function showMatches(
  { db, ladder }: Deps,
  caller: Caller,
  found: readonly { id: string; distance: number }[],
): Promise<ImageMatch[]> {
  const { rows } = await sql<AssetRow>`
    select ${assetColumns(caller, ladder)} from assets a ${assetJoins}
    where a.id = any(${found.map(({ id }) => id)}::uuid[]) and ${servedAssets(caller)}`.execute(db);
  const byId = new Map(rows.map((row) => [row.asset_id, row]));
  return found.flatMap(({ id, distance }) => {
    const row = byId.get(id);
    return row === undefined ? [] : [{ asset: showRow(caller, row), distance }];
  });
}

/** Finds pictures similar to an uploaded file or to an asset of the library. */
async function search(deps: Deps, caller: Caller, { fields, received }: PictureQuery): Promise<ImageMatch[]> {
  const { db } = deps;
  const { encoder, model } = installed(deps);
  const assetId = fields.asset_id ?? null;
  if ((received === null) === (assetId === null)) throw refuse('file-and-asset-exclusive');
  const asked =
    received === null
      ? await vectorOf(db, caller, model, assetId ?? '')
      : await encode({ encoder, decoders: deps.decoders }, caller, received);
  const limit = fields.limit ?? DEFAULT_LIMIT;
  return showMatches(deps, caller, await nearest(db, caller, asked, { limit, except: assetId }));
}

/** `POST /search/by-image` (SEARCH-16). Does not store the query. */
export const byImage = handleForm(
  searchByImage,
  {
    // Without an encoder, a caller who may still search once the body is complete (HTTP-29) gets a 501 (SEARCH-17).
    async read({ storage, encoder }, parts) {
      if (encoder?.info) return readPictureForm(parts, storage);
      await skipPictureForm(parts);
      return { fields: {}, received: null };
    },
    async discard({ received }) {
      if (received !== null) await discard(received.path);
    },
  },
  async (deps, { caller, body, form }) => {
    const query = form ?? { fields: body, received: null };
    return { status: 200, body: { items: await search(deps, caller, query) } };
  },
);
