import { createHash } from 'node:crypto';
import type { MediaFacts } from '@vitrine/contract/media';
import { type RenditionKey, renditions } from '@vitrine/contract/renditions';
import { type RawBuilder, sql } from 'kysely';
import { followableActor, followablePost, sentMember } from '../../access/activitypub.ts';
import { PICTURE } from '../../content/public/picture.ts';
import { isPlayed } from '../../media/audio/playable.ts';
import type { Database } from '../../platform/database/pool.ts';
import { escapeHtml } from '../../platform/escape-html.ts';
import { actorUri, followersUri, noteUri, publicAudience } from './addresses.ts';
import type { ActivityPubSite } from './site.ts';

/** Maximum number of files in a note. */
const MOST_FILES = 16;

/** The rendition of a sound that browsers cannot play as it is. */
const SOUND = 'audio.m4a' satisfies RenditionKey;

/** A rendition, as in `files.renditions`. */
interface Rendition {
  type: string;
  width?: number;
  height?: number;
}

/** A member with something to show or play. */
interface SentFile {
  asset_id: string;
  title: string;
  description: string;
  mime: string;
  media: MediaFacts;
  picture: Rendition | null;
  /** The largest stream of a film, with its key. */
  stream: (Rendition & { key: string }) | null;
  /** Whether a sound has a rendition that browsers play. */
  has_sound: boolean;
}

/** A post in the form that followers receive. */
export interface NoteRow {
  id: string;
  actor_id: string;
  title: string;
  description: string;
  tags: string[];
  posted_at: string;
  /** Whether previews or streams of members are still pending; the note is sent after they are ready. */
  pending: boolean;
  files: SentFile[];
}

/** A note as JSON-LD, without its context. */
export type Note = Readonly<Record<string, unknown>> & { id: string };

/** Members whose previews are not made, and films whose streams are not, for a day at most. */
const unfinished = sql`(a.processing_status = 'pending' or (p.posted_at > now() - interval '1 day'
  and exists (select from transcodes t where t.file_hash = a.file_hash and t.state in ('waiting', 'running'))))`;

const columns = sql`p.id, ap.id as actor_id, p.title, p.description, p.tags, p.posted_at,
  exists (select from post_members m join assets a on a.id = m.asset_id
    where m.post_id = p.id and ${sentMember} and ${unfinished}) as pending,
  coalesce((select json_agg(x order by x.sort_order, x.asset_id) from (
    select m.sort_order, a.id as asset_id, a.title, a.description, f.mime, f.media,
      f.renditions -> ${PICTURE} as picture, f.renditions ? ${SOUND} as has_sound,
      (select r.value || jsonb_build_object('key', r.key) from jsonb_each(f.renditions) r
        where r.key like 'hls/%.mp4' order by (r.value ->> 'height')::int desc limit 1) as stream
    from post_members m join assets a on a.id = m.asset_id join files f on f.hash = a.file_hash
    where m.post_id = p.id and ${sentMember} and (f.renditions ? ${PICTURE} or f.media ? 'audio_codec')
    order by m.sort_order, a.id limit ${MOST_FILES}) x), '[]'::json) as files`;

/** Reads posts as notes, of followable accounts only; `rest` filters and orders. */
export async function readNotes(db: Database, rest: RawBuilder<unknown>): Promise<NoteRow[]> {
  const { rows } = await sql<NoteRow>`select ${columns}
    from posts p join users u on u.ref = p.author_user_ref join activitypub_actors ap on ap.user_ref = u.ref
    where ${followableActor} and ${followablePost} and ${rest}`.execute(db);
  return rows;
}

/** Returns plain text as HTML. */
export function paragraphs(text: string): string {
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

function durationOf({ duration_seconds: seconds }: MediaFacts) {
  return seconds === undefined ? {} : { duration: `PT${Math.round(seconds * 1000) / 1000}S` };
}

function shapeOf({ type, width, height }: Rendition) {
  return { mediaType: type, ...(width === undefined || height === undefined ? {} : { width, height }) };
}

/** Returns a member as a film, a sound or a picture; nothing if other systems could not show it. */
function attachmentsOf({ url }: ActivityPubSite, file: SentFile): readonly object[] {
  const { asset_id, picture, stream, has_sound, mime, media } = file;
  const base = `${url}/api/v1/assets/${asset_id}`;
  const text = file.description.trim() === '' ? file.title.trim() : file.description.trim();
  // The text for people who do not see the picture.
  const name = text === '' ? {} : { name: text };
  const image = picture === null ? null : { ...shapeOf(picture), url: `${base}/variants/${PICTURE}` };
  const icon = image === null ? {} : { icon: { type: 'Image', ...image } };
  const more = { ...durationOf(media), ...icon, ...name };
  if (stream !== null)
    return [{ type: 'Video', ...shapeOf(stream), url: `${base}/variants/${stream.key}`, ...more }];
  if (has_sound)
    return [
      { type: 'Audio', mediaType: renditions[SOUND].types[0], url: `${base}/variants/${SOUND}`, ...more },
    ];
  if (media.has_video !== true && isPlayed(mime, media.audio_codec ?? ''))
    return [{ type: 'Audio', mediaType: mime.replace(/;.*/, ''), url: `${base}/file`, ...more }];
  return image === null ? [] : [{ type: 'Image', ...image, ...name }];
}

/** Returns a post as a note for everyone and the followers (AP-6). */
export function noteOf(site: ActivityPubSite, row: NoteRow): Note {
  const page = `${site.url}/posts/${row.id}`;
  const attachment = row.files.flatMap((file) => attachmentsOf(site, file));
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
    ...(attachment.length > 0 && { attachment }),
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
