import { type LinkedAsset, type LinkView, openLink } from '@vitrine/contract/link-visits';
import { isServedWhole } from '@vitrine/contract/renditions';
import { sql } from 'kysely';
import { takesFeedback, takesGuests, takesPicks } from '../../access/guests.ts';
import { type LinkVisitor, linkedPosts, mayDownloadOriginals, maySeeUnmarked } from '../../access/links.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import { keysOf } from '../../media/ladder.ts';
import type { Database } from '../../platform/database/pool.ts';
import { nestedCursor } from '../../platform/http/cursor.ts';
import { cutPage, DEFAULT_LIMIT } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/refuse.ts';
import { extensionOf } from '../assets/file-name.ts';
import { readDecisions } from './decisions.ts';
import { readPicks } from './picks.ts';
import { cursorOf, readShown, type ShownRow } from './shown.ts';
import { visitLink } from './visit.ts';

interface Words {
  id: string;
  title: string;
  description: string;
}

const wordsOfTarget = {
  post: sql`select p.id, p.title, p.description from posts p where p.id`,
  asset: sql`select a.id, a.title, a.description from assets a where a.id`,
  collection: sql`select c.id, c.name as title, c.description from collections c where c.id`,
};

async function readWords(db: Database, { target }: LinkVisitor): Promise<Words> {
  const { rows } = await sql<Words>`${wordsOfTarget[target.kind]} = ${target.id}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return row;
}

/** Returns the posts of a collection to which these assets belong, in order. */
async function readPosts(db: Database, { target }: LinkVisitor, rows: readonly ShownRow[]) {
  if (target.kind !== 'collection') return [];
  const ids = [...new Set(rows.flatMap((row) => row.post_id ?? []))];
  const found = await sql<Words>`select p.id, p.title, p.description from posts p
    where p.id = any(${ids}::uuid[]) and ${linkedPosts(target)}`.execute(db);
  const byId = new Map(found.rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function showAsset(
  visitor: LinkVisitor,
  ladder: Deps['ladder'],
  row: ShownRow,
  picked: ReadonlySet<string> | null,
): LinkedAsset {
  const rungs = keysOf(ladder);
  const pictures = rungs.filter((key) => row.renditions[key] !== undefined);
  // Watermarks are drawn into pictures of the ladder only.
  const others = maySeeUnmarked(visitor)
    ? Object.keys(row.renditions).filter((key) => !rungs.includes(key) && isServedWhole(key))
    : [];
  return {
    id: row.id,
    post_id: row.post_id,
    title: row.title,
    description: row.description,
    media_type: row.mime,
    file_extension: extensionOf(row),
    ...(mayDownloadOriginals(visitor) ? { file_size_bytes: row.size_bytes } : {}),
    pixel_width: row.pixel_width,
    pixel_height: row.pixel_height,
    thumbhash: row.thumbhash,
    variants: [...pictures, ...others],
    processing_status: row.processing_status,
    ...(picked === null ? {} : { picked: picked.has(row.id) }),
  };
}

/** Returns what the page shows to a guest about themselves, and which of these assets they pick; null for others. */
async function readGuest(db: Database, visitor: LinkVisitor, ids: readonly string[]) {
  const { guest } = visitor;
  if (guest === null || !takesGuests(visitor)) return null;
  const { count, picked } = await readPicks(db, visitor, guest.id, ids);
  const decisions = await readDecisions(db, visitor, guest.id);
  return {
    state: { ...guest, pick_count: count, decisions },
    picked: takesPicks(visitor) ? picked : null,
  };
}

/** Counts an opening of the link. Later pages and bytes do not count. */
async function countOpening(db: Database, linkId: string): Promise<void> {
  await sql`update share_links set opened_count = opened_count + 1, last_opened_at = now() where id = ${linkId}`.execute(
    db,
  );
}

/** `GET /links/{link}`: the target's texts and a page of its assets, without any personal data. */
export const open = handle(openLink, async (deps, { params, query, http }) => {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const from = nestedCursor.read(query.cursor);
  const { link, visitor } = await visitLink(deps, params.link, http);
  const words = await readWords(deps.db, visitor);
  const page = cutPage(await readShown(deps.db, visitor, from, limit + 1), limit, cursorOf);
  const posts = await readPosts(deps.db, visitor, page.items);
  if (from === null) await countOpening(deps.db, link.id);
  const guest = await readGuest(
    deps.db,
    visitor,
    page.items.map(({ id }) => id),
  );
  const body: LinkView = {
    target_kind: visitor.target.kind,
    title: words.title,
    description: words.description,
    allow_download: visitor.allowDownload,
    watermarked: visitor.watermark !== null,
    ...(visitor.presets === null
      ? {}
      : { presets: visitor.presets.map(({ key, label, format }) => ({ key, label, format })) }),
    allow_feedback: takesFeedback(visitor),
    allow_picks: takesPicks(visitor),
    ...(visitor.maxPicks === null ? {} : { max_picks: visitor.maxPicks }),
    ...(guest === null ? {} : { guest: guest.state }),
    expires_at: link.expires_at,
    posts,
    items: page.items.map((row) => showAsset(visitor, deps.ladder, row, guest?.picked ?? null)),
    next_cursor: page.next_cursor,
  };
  return { status: 200, body };
});
