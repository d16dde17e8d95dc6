import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { followableActor, followablePost, sentMember } from '../access/activitypub.ts';
import { escapeHtml } from '../mail/letter.ts';
import type { Database } from '../platform/database/pool.ts';
import { PICTURE } from '../public/picture.ts';
import { actorUri, followersUri, noteUri, publicAudience } from './addresses.ts';
import type { ActivityPubSite } from './site.ts';

/** Maximum number of pictures in a note. */
const MOST_PICTURES = 16;

interface SentPicture {
  asset_id: string;
  title: string;
  description: string;
  type: string;
  width: number;
  height: number;
}

/** A post in the form that followers receive. */
export interface NoteRow {
  id: string;
  actor_id: string;
  title: string;
  description: string;
  tags: string[];
  posted_at: string;
  /** Whether previews of members are still pending; the note is sent after they are ready. */
  pending: boolean;
  pictures: SentPicture[];
}

/** A note as JSON-LD, without its context. */
export type Note = Readonly<Record<string, unknown>> & { id: string };

const columns = sql`p.id, ap.id as actor_id, p.title, p.description, p.tags, p.posted_at,
  exists (select from post_members m join assets a on a.id = m.asset_id
    where m.post_id = p.id and ${sentMember} and a.processing_status = 'pending') as pending,
  coalesce((select json_agg(x order by x.sort_order, x.asset_id) from (
    select m.sort_order, a.id as asset_id, a.title, a.description, r.value ->> 'type' as type,
      (r.value ->> 'width')::int as width, (r.value ->> 'height')::int as height
    from post_members m join assets a on a.id = m.asset_id join files f on f.hash = a.file_hash,
      lateral (select f.renditions -> ${PICTURE} as value) r
    where m.post_id = p.id and ${sentMember} and r.value is not null
    order by m.sort_order, a.id limit ${MOST_PICTURES}) x), '[]'::json) as pictures`;

/** Reads posts as notes, of followable accounts only; `rest` filters and orders. */
export async function readNotes(db: Database, rest: RawBuilder<unknown>): Promise<NoteRow[]> {
  const { rows } = await sql<NoteRow>`select ${columns}
    from posts p join users u on u.ref = p.author_user_ref join activitypub_actors ap on ap.user_ref = u.ref
    where ${followableActor} and ${followablePost} and ${rest}`.execute(db);
  return rows;
}

function paragraphs(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .filter((part) => part.trim() !== '')
    .map((part) => `<p>${escapeHtml(part.trim()).replaceAll('\n', '<br />')}</p>`)
    .join('');
}

/** Returns a tag as a hashtag, which has no spaces or punctuation; null if nothing is left of it. */
function hashtag(tag: string): string | null {
  const word = tag.replaceAll(/[^\p{L}\p{M}\p{N}_]+/gu, '');
  return word === '' ? null : `#${word}`;
}

function attachment({ url }: ActivityPubSite, picture: SentPicture) {
  const name = picture.description.trim() === '' ? picture.title.trim() : picture.description.trim();
  return {
    type: 'Image',
    mediaType: picture.type,
    url: `${url}/api/v1/assets/${picture.asset_id}/variants/${PICTURE}`,
    width: picture.width,
    height: picture.height,
    // The text for people who do not see the picture.
    ...(name !== '' && { name }),
  };
}

/** Returns a post as a note for everyone and the followers (AP-6). */
export function noteOf(site: ActivityPubSite, row: NoteRow): Note {
  const page = `${site.url}/posts/${row.id}`;
  const tags = row.tags.flatMap((tag) => {
    const name = hashtag(tag);
    return name === null
      ? []
      : [{ type: 'Hashtag', name, href: `${site.url}/tags/${encodeURIComponent(tag)}` }];
  });
  const links = tags.map(
    ({ name, href }) => `<a href="${escapeHtml(href)}" rel="tag">${escapeHtml(name)}</a>`,
  );
  return {
    id: noteUri(site.url, row.actor_id, row.id),
    type: 'Note',
    attributedTo: actorUri(site.url, row.actor_id),
    to: [publicAudience],
    cc: [followersUri(site.url, row.actor_id)],
    published: row.posted_at,
    url: page,
    content: [
      row.title.trim() === '' ? '' : `<p><strong>${escapeHtml(row.title.trim())}</strong></p>`,
      paragraphs(row.description),
      links.length === 0 ? '' : `<p>${links.join(' ')}</p>`,
      `<p><a href="${escapeHtml(page)}">${escapeHtml(page)}</a></p>`,
    ].join(''),
    ...(row.pictures.length > 0 && { attachment: row.pictures.map((picture) => attachment(site, picture)) }),
    ...(tags.length > 0 && { tag: tags }),
  };
}

export const noteContext: readonly unknown[] = [
  'https://www.w3.org/ns/activitystreams',
  { Hashtag: 'as:Hashtag' },
];

/** Returns a fingerprint that changes when the note changes for followers. */
export function digestOf(note: Note): string {
  return createHash('sha256').update(JSON.stringify(note)).digest('hex');
}

/** Returns the Create of a note; `nth` distinguishes it from the Create before a withdrawal. */
export function createOf(note: Note, nth = ''): Note {
  const { attributedTo, to, cc, published } = note;
  return {
    id: `${note.id}#create${nth}`,
    type: 'Create',
    actor: attributedTo,
    to,
    cc,
    published,
    object: note,
  };
}
