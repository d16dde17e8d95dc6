import type { Annotation } from '@vitrine/contract/annotations';
import type { MediaFacts } from '@vitrine/contract/media';
import type { Stroke } from '@vitrine/contract/strokes';
import { type RawBuilder, sql } from 'kysely';
import { readableComments } from '../../../access/annotations.ts';
import type { Caller } from '../../../access/caller.ts';
import { disclosedIdentity, displayName } from '../../../access/identities.ts';
import type { Database } from '../../../platform/database/pool.ts';

/** Most annotations in one file. */
const MOST_EXPORTED = 20_000;

/** An annotation as exports need it. */
export interface ExportedAnnotation {
  id: string;
  asset_id: string;
  file: string;
  version: number;
  current: boolean;
  /** Facts of the file's current version. */
  facts: MediaFacts;
  anchor: Annotation['anchor'];
  has_drawing: boolean;
  body: string;
  /** Empty where the identity is withheld. */
  author: string;
  assignee: string;
  created_at: string;
  resolved_at: string | null;
}

/** The name of an account or of a person at a peer. */
const nameOf = (caller: Caller, alias: string) =>
  sql<string | null>`case when ${disclosedIdentity(caller, alias)} then ${displayName(caller, alias)} end`;

/**
 * Returns the annotations that meet a condition on `comments c`, their post `p` and its member `m`, and that the caller
 * reads, by file in the order of the post, and oldest first.
 */
export async function readExported(
  db: Database,
  caller: Caller,
  which: RawBuilder<boolean>,
): Promise<ExportedAnnotation[]> {
  const { rows } = await sql<ExportedAnnotation>`
    select c.id, a.id as asset_id, coalesce(nullif(a.title, ''), a.file_name) as file, n.version,
      n.version = (select coalesce(max(r.number), 1) from asset_versions r where r.asset_id = a.id) as current,
      f.media as facts, n.anchor, n.strokes is not null as has_drawing, c.body,
      coalesce(${nameOf(caller, 'cu')}, c.remote_display_name, '') as author,
      coalesce(${nameOf(caller, 'au')}, '') as assignee, c.created_at, c.resolved_at
    from comments c join annotations n on n.comment_id = c.id join posts p on p.id = c.post_id
      join post_members m on m.post_id = p.id and m.asset_id = c.annotated_asset_id
      join assets a on a.id = m.asset_id join files f on f.hash = a.file_hash
      left join users cu on cu.ref = c.author_user_ref left join users au on au.ref = c.assignee_user_ref
    where c.parent_id is null and ${which} and ${readableComments(caller)}
    order by m.sort_order, a.id, c.created_at, c.id limit ${MOST_EXPORTED}`.execute(db);
  return rows;
}

/** Returns the drawings of these annotations, by id. */
export async function readDrawings(db: Database, ids: readonly string[]): Promise<Map<string, Stroke[]>> {
  const { rows } = await sql<{ comment_id: string; strokes: Stroke[] }>`select n.comment_id, n.strokes
    from annotations n where n.comment_id = any(${[...ids]}::uuid[]) and n.strokes is not null`.execute(db);
  return new Map(rows.map(({ comment_id, strokes }) => [comment_id, strokes]));
}

/** Line breaks and other control characters would end a line of an export, or hide the rest of a text (ANNOTATION-12). */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}

/** Returns what a marker says. */
export function wordingOf({ author, body, has_drawing }: ExportedAnnotation): string {
  const text = onOneLine(body);
  const said = text === '' && has_drawing ? '(drawing)' : text;
  return author === '' ? said : `${onOneLine(author)}: ${said}`;
}
