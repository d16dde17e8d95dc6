import type { Anchor } from '@vitrine/contract/annotations';
import { sql } from 'kysely';
import { insertPost } from '../../content/posts/insert.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { accountOf, type Context } from './context.ts';
import { exposureOf } from './exposure.ts';
import type { ImportedFields } from './fields.ts';
import { type RightsRow, resources, rightsColumns, rightsOf } from './rights.ts';
import { labelOf, readColumnTime } from './texts.ts';
import { uncarriedComments } from './uncarried.ts';

interface CommentRow {
  ref: number;
  ref_parent: number | null;
  created: string | null;
  hide: number | null;
  user_ref: number | null;
  fullname: string | null;
  body: string | null;
  annotation: number | null;
}

interface AnnotationRow {
  ref: number;
  resource_type_field: number | null;
  user: number | null;
  x: number | null;
  y: number | null;
  width: number | null;
  height: number | null;
  page: number | null;
  tags: string[] | null;
}

interface DiscussedRow extends RightsRow {
  comments: CommentRow[] | null;
  annotations: AnnotationRow[] | null;
}

const discussed = `select ${rightsColumns},
  (select json_agg(c order by c.ref) from rs_comment c where c.resource_ref = r.ref) as comments,
  (select json_agg(found order by found.ref) from (select a.*, (select array_agg(n.name order by n.ref) from rs_annotation_node t
    join rs_node n on n.ref = t.node where t.annotation = a.ref) as tags from rs_annotation a where a.resource = r.ref) found) as annotations
  from ${resources} and (exists (select from rs_comment c where c.resource_ref = r.ref)
    or exists (select from rs_annotation a where a.resource = r.ref)) order by r.ref`;

const LONGEST_BODY = 10_000;

function bodyOf(text: string, fallback: string): string {
  const body = text.trim() === '' ? fallback : text;
  return body.slice(0, LONGEST_BODY).toWellFormed();
}

const within = (value: number | null) => Math.min(1, Math.max(0, value ?? 0));

function anchorOf({ x, y, width, height, page }: AnnotationRow): Anchor {
  const left = within(x);
  const top = within(y);
  const place = {
    x: left,
    y: top,
    w: Math.min(1 - left, within(width)),
    h: Math.min(1 - top, within(height)),
  };
  return page !== null && page > 0 ? { kind: 'page', page, ...place } : { kind: 'region', ...place };
}

/** Opens a post to those who see everything of its asset, and to nobody else. */
async function sharePost(tx: Tx, context: Context, postId: string, row: DiscussedRow): Promise<void> {
  const { plan, installation, today } = context;
  const { kind, audience, readers } = exposureOf(
    rightsOf(row),
    plan.survey.audience,
    installation.access,
    today,
  );
  const members = audience.flatMap((at) => plan.survey.audience.members[at] ?? []);
  const shares = [...readers, ...members.map((user) => ({ user, expires: null }))].flatMap(
    ({ user, expires }) => {
      const account = accountOf(context, user);
      return account === null ? [] : [{ account, expires }];
    },
  );
  const accounts = shares.map(({ account }) => account);
  const imported = installation.users.flatMap(({ ref }) => accountOf(context, ref) ?? []);
  await tx
    .updateTable('posts')
    .set({ visibility: kind === 'everyone' ? 'org-only' : 'explicit-share' })
    .where('id', '=', postId)
    .where('visibility', 'in', ['org-only', 'explicit-share'])
    .execute();
  await sql`delete from post_shares where post_id = ${postId} and user_ref = any(${imported}::bigint[])
    and user_ref <> all(${accounts}::bigint[])`.execute(tx);
  if (kind === 'everyone' || shares.length === 0) return;
  await sql`insert into post_shares (post_id, user_ref, expires_at)
    select distinct on (account) ${postId}::uuid, account, expires::timestamptz
    from jsonb_to_recordset(${JSON.stringify(shares)}::jsonb) as x (account bigint, expires text)
    where account <> (select author_user_ref from posts where id = ${postId})
    order by account, expires nulls first on conflict do nothing`.execute(tx);
}

/** Finds or creates the post of an asset; null if the asset is not here. */
async function keepPost(tx: Tx, context: Context, row: DiscussedRow): Promise<string | null> {
  const { ledger } = context;
  const known = ledger.find('post', row.ref)?.target;
  if (known !== undefined) return known;
  const asset = await tx
    .selectFrom('assets')
    .select(['id', 'title', 'owner_user_ref', 'created_at'])
    .where('id', '=', ledger.find('resource', row.ref)?.target ?? null)
    .executeTakeFirst();
  if (asset === undefined || asset.owner_user_ref === null) return null;
  const id = await insertPost(tx, asset.owner_user_ref, {
    members: [{ asset_id: asset.id }],
    title: asset.title,
    visibility: 'private',
  });
  await sql`update posts set visibility = 'explicit-share', created_at = ${asset.created_at}, posted_at = ${asset.created_at},
    published_at = ${asset.created_at} where id = ${id}`.execute(tx);
  await ledger.record(tx, 'post', row.ref, id);
  return id;
}

interface NewComment {
  postId: string;
  parent: string | null;
  user: number | null;
  guest: string | null;
  body: string;
  created: string | null;
  assetId: string | null;
}

async function insertComment(tx: Tx, context: Context, comment: NewComment): Promise<string> {
  const author = accountOf(context, comment.user);
  const { rows } = await sql<{ id: string }>`
    insert into comments (post_id, parent_id, author_user_ref, remote_display_name, body, annotated_asset_id, created_at)
    values (${comment.postId}, ${comment.parent}::uuid, ${author}::bigint, ${author === null ? comment.guest : null}, ${comment.body},
      ${comment.assetId}::uuid, coalesce(${readColumnTime(comment.created)}::timestamptz, now()))
    returning id`.execute(tx);
  return rows[0]?.id ?? '';
}

/** The name under which a comment of nobody here is shown. */
function nameOf({ installation }: Context, { fullname, user_ref }: CommentRow): string {
  const user = installation.users.find(({ ref }) => ref === user_ref);
  const name = fullname?.trim() || user?.fullname?.trim() || user?.username || 'Guest';
  return name.slice(0, 200).toWellFormed();
}

async function importComment(
  tx: Tx,
  context: Context,
  postId: string,
  row: CommentRow,
  rows: readonly CommentRow[],
) {
  const { ledger, reporter } = context;
  if (ledger.find('comment', row.ref) !== undefined) return;
  let root = row;
  const seen = new Set<number>();
  while (root.ref_parent !== null && root.ref_parent > 0 && !seen.has(root.ref)) {
    seen.add(root.ref);
    const parent = rows.find(({ ref }) => ref === root.ref_parent);
    if (parent === undefined) break;
    root = parent;
  }
  const parent = root === row ? null : (ledger.find('comment', root.ref)?.target ?? null);
  const body = row.hide === 1 ? '(removed)' : bodyOf(row.body ?? '', '(empty)');
  const guest = nameOf(context, row);
  const id = await insertComment(tx, context, {
    postId,
    parent,
    user: row.user_ref,
    guest,
    body,
    created: row.created,
    assetId: null,
  });
  await ledger.record(tx, 'comment', row.ref, id);
  if ((row.body ?? '').length > LONGEST_BODY)
    reporter.change('comment', row.ref, sentence('was longer than 10,000 characters and is cut'));
  reporter.count('comments');
}

/** The tags of a field that not everyone reads stay with its values. */
function tagsOf(
  { plan, installation }: Context,
  fields: ImportedFields,
  { resource_type_field: ref, tags }: AnnotationRow,
): string {
  const field = plan.fields.find((own) => own.field.ref === ref);
  const isOpen =
    field === undefined
      ? ref === 0 || ref === null
      : field.readers === null && fields.byRef.has(field.field.ref);
  if (!isOpen) return 'Annotation';
  const names = (tags ?? []).map((tag) => labelOf(tag, installation.language)).join(', ');
  return names === '' ? 'Annotation' : `${field?.label ?? 'Annotation'}: ${names}`;
}

async function importAnnotation(
  tx: Tx,
  context: Context,
  fields: ImportedFields,
  row: AnnotationRow,
  { postId, assetId, comments }: { postId: string; assetId: string; comments: readonly CommentRow[] },
): Promise<void> {
  const { ledger, reporter } = context;
  if (ledger.find('annotation', row.ref) !== undefined) return;
  const note = comments.find(({ annotation }) => annotation === row.ref);
  const { rows } = await sql<{ version: number }>`
    select coalesce(max(number), 1) as version from asset_versions where asset_id = ${assetId}`.execute(tx);
  const id = await insertComment(tx, context, {
    postId,
    parent: null,
    user: row.user,
    guest: note === undefined ? 'Guest' : nameOf(context, note),
    body: note === undefined ? tagsOf(context, fields, row) : bodyOf(note.body ?? '', 'Annotation'),
    created: note?.created ?? null,
    assetId,
  });
  await tx
    .insertInto('annotations')
    .values({ comment_id: id, version: rows[0]?.version ?? 1, anchor: JSON.stringify(anchorOf(row)) })
    .execute();
  await ledger.record(tx, 'annotation', row.ref, id);
  if (note !== undefined) await ledger.record(tx, 'comment', note.ref, id);
  reporter.count('annotations');
}

/** Imports comments and annotations. Each resource that has some gets a post for them. */
export async function importDiscussions(context: Context, fields: ImportedFields): Promise<void> {
  const { deps, ledger, reporter, staging } = context;
  for await (const rows of staging.batches<DiscussedRow>(discussed, 100)) {
    for (const row of rows) {
      if (context.isStopped()) return;
      const comments = row.comments ?? [];
      const assetId = ledger.find('resource', row.ref)?.target ?? '';
      await deps.db.transaction().execute(async (tx) => {
        const postId = await keepPost(tx, context, row);
        if (postId === null)
          return reporter.leaveOut('comments', row.ref, sentence('their resource is not here'));
        await sharePost(tx, context, postId, row);
        for (const annotation of row.annotations ?? [])
          await importAnnotation(tx, context, fields, annotation, { postId, assetId, comments });
        for (const comment of comments) await importComment(tx, context, postId, comment, comments);
      });
    }
  }
  for (const { kind, id, reason } of await uncarriedComments(staging)) reporter.leaveOut(kind, id, reason);
}
