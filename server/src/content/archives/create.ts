import {
  type Archive,
  type ArchiveCreate,
  createArchive,
  leftOutName,
  mostPacked,
} from '@vitrine/contract/archives';
import { basePath } from '@vitrine/contract/operations';
import { type RawBuilder, sql } from 'kysely';
import { packedAssets } from '../../access/archives.ts';
import { feedPosts } from '../../access/assets.ts';
import type { SignedIn } from '../../access/caller.ts';
import { filesShown, readableCollections } from '../../access/collections.ts';
import { readablePosts } from '../../access/posts.ts';
import { handle } from '../../core/handle.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { lengthOfArchive } from '../../platform/zip/records.ts';
import { selectObjects } from '../batches/select.ts';
import { matchingFiles } from '../collections/filling.ts';
import { readFilling } from '../collections/lock.ts';
import { findPreset } from '../downloads/presets.ts';
import { leftOutText, listed, NOT_FOUND } from './left-out.ts';
import { distinctNames } from './names.ts';

/** For how long an archive can be downloaded. */
const HOURS = 24;
/** An account's archives beyond this number are removed, oldest first. */
const MOST_ARCHIVES = 100;

/** What an archive has: a query with the column `id`, in the order of the files, and its name. */
interface Contents {
  readonly assets: RawBuilder<unknown>;
  readonly name: string;
}

/** The files of a post, in its order. */
async function contentsOfPost(tx: Tx, caller: SignedIn, id: string): Promise<Contents> {
  const { rows } = await sql<{ title: string }>`
    select p.title from posts p where p.id = ${id} and ${readablePosts(caller)}`.execute(tx);
  const post = rows[0];
  if (post === undefined) throw notFound();
  const assets = sql`select m.asset_id as id from post_members m join assets a on a.id = m.asset_id
    where m.post_id = ${id} and ${packedAssets(caller)} order by m.sort_order, m.asset_id`;
  return { assets, name: post.title };
}

/** The files of a collection and of its posts, in its order, each once. */
async function contentsOfCollection(tx: Tx, caller: SignedIn, id: string): Promise<Contents> {
  const filling = await readFilling(tx, caller, id);
  const { rows } = await sql<{ name: string }>`
    select c.name from collections c where c.id = ${id} and ${readableCollections(caller)}`.execute(tx);
  const name = rows[0]?.name ?? '';
  if (filling !== null) {
    const assets = sql`select a.id from assets a where ${filesShown(caller)} and ${packedAssets(caller)}
      and ${await matchingFiles(tx, caller, filling)} order by a.created_at desc, a.id desc`;
    return { assets, name };
  }
  const assets = sql`select id from (
      select distinct on (id) id, place, turn from (
        select ca.asset_id as id, ca.position as place, 0 as turn from collection_assets ca
        where ca.collection_id = ${id}
        union all
        select m.asset_id, cp.position, m.sort_order from collection_posts cp join posts p on p.id = cp.post_id
          join post_members m on m.post_id = p.id
        where cp.collection_id = ${id} and ${feedPosts(caller)}) placed
      order by id, place, turn) files
    where exists (select from assets a where a.id = files.id and ${packedAssets(caller)})
    order by place, turn, id`;
  return { assets, name };
}

/** Returns what the body asks for; 400 unless it is exactly one thing. */
async function contentsOf(tx: Tx, caller: SignedIn, body: ArchiveCreate): Promise<Contents> {
  const { ids, query, collection_id, post_id } = body;
  if ([ids, query, collection_id, post_id].filter((given) => given !== undefined).length !== 1)
    throw refuse('archive-of-one');
  if (post_id !== undefined) return contentsOfPost(tx, caller, post_id);
  if (collection_id !== undefined) return contentsOfCollection(tx, caller, collection_id);
  const selection = query === undefined ? { ids: ids ?? [] } : { subject: 'asset' as const, query };
  return { assets: await selectObjects(tx, caller, selection), name: '' };
}

interface PlannedRow {
  position: number;
  asset_id: string;
  file_name: string | null;
  size_bytes: number | null;
  created_at: string | null;
  is_known: boolean;
}

/** Stores the list of files, and names those that the caller is given. Returns the rows with their names. */
async function storeFiles(tx: Tx, caller: SignedIn, archiveId: string, assets: RawBuilder<unknown>) {
  const { rows } = await sql<PlannedRow>`
    with wanted as materialized (
      select o.id, row_number() over () as position from (${assets}) o limit ${mostPacked + 1}),
    stored as (
      insert into archive_files (archive_id, position, asset_id, name, file_hash, size_bytes)
      select ${archiveId}, w.position, w.id, a.file_name, a.file_hash, f.size_bytes
      from wanted w left join (assets a join files f on f.hash = a.file_hash)
        on a.id = w.id and ${packedAssets(caller)}
      returning position, asset_id, name as file_name, file_hash, size_bytes)
    select s.position, s.asset_id, s.file_name, s.size_bytes, a.created_at,
      coalesce(s.size_bytes > 0 or a.origin_peer_id is null, false) as is_known
    from stored s left join assets a on a.id = s.asset_id order by s.position`.execute(tx);
  if (rows.length > mostPacked) throw refuse('archive-too-large', { max: mostPacked });
  const nameOf = distinctNames([leftOutName]);
  const named = rows.map((row) => ({
    ...row,
    name: row.file_name === null ? null : nameOf(row.file_name),
  }));
  const packed = named.filter(({ name }) => name !== null);
  await sql`update archive_files z set name = n.name
    from unnest(${packed.map(({ position }) => position)}::int[], ${packed.map(({ name }) => name)}::text[])
      as n (position, name)
    where z.archive_id = ${archiveId} and z.position = n.position`.execute(tx);
  return named;
}

/** Returns the length of the archive; null if a file is at a peer that has not said its size. */
function lengthOf(rows: Awaited<ReturnType<typeof storeFiles>>): number | null {
  const files = [];
  const leftOut = [];
  for (const { name, size_bytes, created_at, asset_id, is_known } of rows) {
    if (name === null || size_bytes === null || created_at === null)
      leftOut.push(listed(asset_id, NOT_FOUND));
    else if (!is_known) return null;
    else files.push({ name, sizeBytes: size_bytes, modified: new Date(created_at) });
  }
  const text = leftOutText(leftOut);
  return lengthOfArchive(text === null ? files : [...files, text]);
}

/** Creates an archive, and removes the account's oldest ones beyond the limit. */
async function insertArchive(tx: Tx, caller: SignedIn, name: string, preset: string | null) {
  await sql`delete from archives where id in (
    select id from archives where user_ref = ${caller.ref} order by created_at desc, id desc
    offset ${MOST_ARCHIVES - 1})`.execute(tx);
  return tx
    .insertInto('archives')
    .values({ user_ref: caller.ref, name, preset, expires_at: sql`now() + ${`${HOURS} hours`}::interval` })
    .returning(['id', 'expires_at'])
    .executeTakeFirstOrThrow();
}

/** `POST /archives`: lists the files. Nothing is packed before the download. */
export const create = handle(createArchive, async ({ db }, { caller, body }) => {
  const archive = await db.transaction().execute(async (tx): Promise<Archive> => {
    if (body.preset !== undefined) await findPreset(tx, caller, body.preset);
    const { assets, name } = await contentsOf(tx, caller, body);
    const { id, expires_at } = await insertArchive(tx, caller, name, body.preset ?? null);
    const rows = await storeFiles(tx, caller, id, assets);
    const sizeBytes = body.preset === undefined ? lengthOf(rows) : null;
    await tx.updateTable('archives').set({ size_bytes: sizeBytes }).where('id', '=', id).execute();
    return {
      id,
      url: `${basePath}/archives/${id}`,
      expires_at,
      files: rows.filter(({ name }) => name !== null).length,
      ...(sizeBytes === null ? {} : { bytes: sizeBytes }),
    };
  });
  return { status: 201, body: archive };
});
