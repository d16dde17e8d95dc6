import type { Annotation } from '@vitrine/contract/annotations';
import type { Language } from '@vitrine/contract/languages';
import type { MediaFacts } from '@vitrine/contract/media';
import type { Stroke } from '@vitrine/contract/strokes';
import { type RawBuilder, sql } from 'kysely';
import { readableComments } from '../../../access/annotations.ts';
import type { Caller } from '../../../access/caller.ts';
import { exportedGuestComments } from '../../../access/guests.ts';
import { disclosedIdentity, displayName } from '../../../access/identities.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { say } from '../../../platform/language/say.ts';

/** Most annotations in one file. */
const MOST_EXPORTED = 20_000;

/** An annotation as exports need it. */
export interface ExportedAnnotation {
  id: string;
  asset_id: string;
  file: string;
  version: number;
  current: boolean;
  /** Facts of the annotated version; of the current one if that version was deleted. */
  facts: MediaFacts;
  anchor: Annotation['anchor'];
  has_drawing: boolean;
  body: string;
  /** Empty where the identity is withheld. */
  author: string;
  /** The name of a guest, who is no account; empty for others. */
  guest: string;
  assignee: string;
  created_at: string;
  resolved_at: string | null;
}

/** The name of an account or of a person at a peer. */
const nameOf = (caller: Caller, alias: string) =>
  sql<string | null>`case when ${disclosedIdentity(caller, alias)} then ${displayName(caller, alias)} end`;

/** The post or the file whose annotations are exported. */
export type Exported = { readonly post: string } | { readonly asset: string };

/**
 * Returns the annotations that the caller reads, by file in the order of the post, and oldest first. Those of guests are
 * for the editors of what their link shows (GUEST-7).
 */
export async function readExported(
  db: Database,
  caller: Caller,
  of: Exported,
): Promise<ExportedAnnotation[]> {
  const fileOf = (version: RawBuilder<unknown>) => sql`
    a.id as asset_id, coalesce(nullif(a.title, ''), a.file_name) as file,
    coalesce((select vf.media from asset_versions r join files vf on vf.hash = r.file_hash
      where r.asset_id = a.id and r.number = ${version}), f.media) as facts,
    (select coalesce(max(r.number), 1) from asset_versions r where r.asset_id = a.id) as newest`;
  const { rows } = await sql<ExportedAnnotation & { newest: number; sort_order: number | null }>`
    select x.*, x.version = x.newest as current from (
      select c.id, ${fileOf(sql`n.version`)}, n.version, n.anchor, n.strokes is not null as has_drawing, c.body,
        coalesce(${nameOf(caller, 'cu')}, c.remote_display_name, '') as author, '' as guest,
        coalesce(${nameOf(caller, 'au')}, '') as assignee, c.created_at, c.resolved_at, m.sort_order
      from comments c join annotations n on n.comment_id = c.id join posts p on p.id = c.post_id
        join post_members m on m.post_id = p.id and m.asset_id = c.annotated_asset_id
        join assets a on a.id = m.asset_id join files f on f.hash = a.file_hash
        left join users cu on cu.ref = c.author_user_ref left join users au on au.ref = c.assignee_user_ref
      where c.parent_id is null and ${readableComments(caller)}
        and ${'post' in of ? sql`c.post_id = ${of.post}` : sql`c.annotated_asset_id = ${of.asset}`}
      union all
      select gc.id, ${fileOf(sql`gc.version`)}, gc.version, gc.anchor, gc.strokes is not null, gc.body, '', g.name, '', gc.created_at, null,
        m.sort_order
      from guest_comments gc join link_guests g on g.id = gc.guest_id join share_links l on l.id = gc.link_id
        join assets a on a.id = gc.asset_id join files f on f.hash = a.file_hash
        left join post_members m on m.post_id = gc.post_id and m.asset_id = gc.asset_id
      where gc.anchor is not null and (gc.post_id is null or m.asset_id is not null) and ${exportedGuestComments(caller)}
        and ${'post' in of ? sql`gc.post_id = ${of.post}` : sql`gc.asset_id = ${of.asset}`}
    ) x order by x.sort_order, x.asset_id, x.created_at, x.id limit ${MOST_EXPORTED}`.execute(db);
  return rows;
}

/** Returns the drawings of these annotations, by id. */
export async function readDrawings(db: Database, ids: readonly string[]): Promise<Map<string, Stroke[]>> {
  const { rows } = await sql<{ id: string; strokes: Stroke[] }>`select n.comment_id as id, n.strokes
    from annotations n where n.comment_id = any(${[...ids]}::uuid[]) and n.strokes is not null
    union all select gc.id, gc.strokes
    from guest_comments gc where gc.id = any(${[...ids]}::uuid[]) and gc.strokes is not null`.execute(db);
  return new Map(rows.map(({ id, strokes }) => [id, strokes]));
}

/** Line breaks and other control characters would end a line of an export, or hide the rest of a text (ANNOTATION-12). */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}

/** Returns who wrote it; a guest is marked as one (GUEST-1). Exports for machines are in English. */
export function writerOf(
  { author, guest }: Pick<ExportedAnnotation, 'author' | 'guest'>,
  language: Language = 'en',
): string {
  return guest === '' ? onOneLine(author) : say(language, '{name} (guest)', { name: onOneLine(guest) });
}

/** Returns what a marker says. */
export function wordingOf(annotation: ExportedAnnotation): string {
  const { body, has_drawing } = annotation;
  const text = onOneLine(body);
  const said = text === '' && has_drawing ? '(drawing)' : text;
  const who = writerOf(annotation);
  return who === '' ? said : `${who}: ${said}`;
}
