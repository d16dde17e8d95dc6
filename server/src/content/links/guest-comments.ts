import {
  annotateAsGuest,
  commentAsGuest,
  type LinkComment,
  listGuestComments,
} from '@vitrine/contract/guests';
import type { MediaFacts } from '@vitrine/contract/media';
import { sql } from 'kysely';
import { checkReadsFeedback, guestCommentsAt, takesFeedback } from '../../access/guests.ts';
import { type LinkVisitor, linkedAssets, linkedVersion } from '../../access/links.ts';
import type { Deps } from '../../core/deps.ts';
import { handle } from '../../core/handle.ts';
import type { Database, Tx } from '../../platform/database/pool.ts';
import { newestFirst } from '../../platform/http/page.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { checkAnchor } from '../annotations/check-anchor.ts';
import { versionsOfAsset } from '../assets/version-rows.ts';
import { keptStrokes } from '../drawings/strokes.ts';
import { type GuestCommentRow, guestCommentColumns, showLinkComment } from '../guest-comments/show.ts';
import { announceGuests, lockGuest, lockLinked, lockTerms } from './guest-writes.ts';
import { visitLink } from './visit.ts';

/** What guests write about what a link shows (GUEST-7). */

/** A generous limit that keeps visitors from filling the table. */
const MOST_COMMENTS = 10_000;

/** `GET /links/{token}/comments`: of all guests of the link, newest first. */
export const list = handle(listGuestComments, async (deps, { params, query, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  checkReadsFeedback(visitor);
  const page = newestFirst(query, 'gc.created_at', 'gc.id');
  const { rows } = await sql<GuestCommentRow>`
    select ${guestCommentColumns} from guest_comments gc join link_guests g on g.id = gc.guest_id
    where ${guestCommentsAt(visitor)} and ${page.after} ${page.order}`.execute(deps.db);
  const cut = page.cut(rows, (row) => ({ at: row.created_at, id: row.id }));
  return {
    status: 200,
    body: { items: cut.rows.map((row) => showLinkComment(visitor, row)), next_cursor: cut.next },
  };
});

interface Written {
  asset: string | null;
  body: string;
  annotation: { version: number; anchor: string; strokes: string | null } | null;
}

async function readOne(db: Database, visitor: LinkVisitor, id: string): Promise<LinkComment> {
  const { rows } = await sql<GuestCommentRow>`
    select ${guestCommentColumns} from guest_comments gc join link_guests g on g.id = gc.guest_id
    where gc.id = ${id} and ${guestCommentsAt(visitor)}`.execute(db);
  const row = rows[0];
  if (row === undefined) throw notFound();
  return showLinkComment(visitor, row);
}

/** Locks what a comment refers to, the post before the assets and the link, and writes it under the terms of now. */
async function write(
  { db }: Pick<Deps, 'db'>,
  visitor: LinkVisitor,
  assetId: string | null,
  written: (tx: Tx) => Promise<Written>,
): Promise<LinkComment> {
  const postId = visitor.target.kind === 'post' ? visitor.target.id : null;
  return db.transaction().execute(async (tx) => {
    if (postId !== null)
      await tx.selectFrom('posts').select('id').where('id', '=', postId).forKeyShare().execute();
    await lockLinked(tx, visitor, assetId === null ? [] : [assetId]);
    await lockTerms(tx, visitor, takesFeedback, 'link-feedback-not-allowed');
    const guest = await lockGuest(tx, visitor);
    const { asset, body, annotation } = await written(tx);
    const { rows } = await sql<{ id: string }>`
      insert into guest_comments (link_id, guest_id, post_id, asset_id, body, version, anchor, strokes)
      select ${visitor.linkId}::uuid, ${guest.id}::uuid, ${postId}::uuid, ${asset}::uuid, ${body},
        ${annotation?.version ?? null}::integer, ${annotation?.anchor ?? null}::jsonb, ${annotation?.strokes ?? null}::jsonb
      where (select count(*) from guest_comments where link_id = ${visitor.linkId} and deleted_at is null)
        < ${MOST_COMMENTS}
      returning id`.execute(tx);
    const row = rows[0];
    if (row === undefined) throw refuse('too-many-guest-comments', { max: MOST_COMMENTS });
    await announceGuests(tx, visitor);
    return readOne(tx, visitor, row.id);
  });
}

/** `POST /links/{token}/comments`: about everything that the link shows, or one file. */
export const create = handle(commentAsGuest, async (deps, { params, body, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const asset = body.asset_id ?? null;
  const comment = await write(deps, visitor, asset, async () => ({
    asset,
    body: body.body,
    annotation: null,
  }));
  return { status: 201, body: comment };
});

/** Returns the number and the facts of the version that the link shows; 404 if the guest names another. */
async function shownVersion(tx: Tx, visitor: LinkVisitor, assetId: string, named: number | null) {
  const { rows } = await sql<{ number: number; mime: string; media: MediaFacts }>`
    select coalesce(s.number, (select max(v.number) from ${versionsOfAsset}))::integer as number, f.mime, f.media
    from assets a cross join lateral (select v.number, v.file_hash from ${linkedVersion(visitor)}) s
      join files f on f.hash = s.file_hash
    where a.id = ${assetId} and ${linkedAssets(visitor)}`.execute(tx);
  const row = rows[0];
  if (row === undefined) throw notFound();
  if (named !== null && named !== row.number) throw refuse('version-not-found');
  return row;
}

/** `POST /links/{token}/annotations`. The rules of anchors and drawings are those of annotations (ANNOTATION-2). */
export const annotate = handle(annotateAsGuest, async (deps, { params, body, http }) => {
  const { visitor } = await visitLink(deps, params.token, http);
  const strokes = body.strokes == null ? null : keptStrokes(body.strokes);
  if (body.body == null && strokes === null) throw refuse('annotation-empty');
  const comment = await write(deps, visitor, body.asset_id, async (tx) => {
    const { number, ...file } = await shownVersion(tx, visitor, body.asset_id, body.version ?? null);
    checkAnchor(body.anchor, file);
    return {
      asset: body.asset_id,
      body: body.body ?? '',
      annotation: {
        version: number,
        anchor: JSON.stringify(body.anchor),
        strokes: strokes === null ? null : JSON.stringify(strokes),
      },
    };
  });
  return { status: 201, body: comment };
});
