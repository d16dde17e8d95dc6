import type { Language } from '@vitrine/contract/languages';
import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import { renderedHash } from '../../access/assets.ts';
import { displayName } from '../../access/identities.ts';
import {
  collectionsForVisitors,
  peopleForVisitors,
  picturesForVisitors,
  postPagesForVisitors,
  postsForVisitors,
  visitor,
} from '../../access/visitors.ts';
import type { Database } from '../../platform/database/pool.ts';
import { say } from '../../platform/language/say.ts';
import { showTag } from '../tags/show.ts';
import { PICTURE, type Picture, type PictureRow, pictureOfPost, pictureRow } from './picture.ts';
import type { PublicSite } from './site.ts';

/** What visitors may know of a page of the web app. Paths start with a slash and are percent-encoded. */
export interface PublicPage {
  path: string;
  kind: 'website' | 'article' | 'profile';
  title: string;
  description: string;
  /** A picture that visitors may see. */
  picture: Picture | null;
  author: { name: string; path: string } | null;
  /** The path of the page's Atom feed. */
  feed: string;
}

interface PreviewedRow extends PictureRow {
  title: string;
  description: string;
  author_name: string | null;
  author_username: string | null;
}

/** Returns the path of a user's profile. */
export function profilePath(username: string): string {
  return `/users/${encodeURIComponent(username)}`;
}

async function first(db: Database, query: RawBuilder<PreviewedRow>): Promise<PreviewedRow | null> {
  return (await query.execute(db)).rows[0] ?? null;
}

const author = sql`case when ${peopleForVisitors} then ${displayName(visitor, 'u')} end as author_name,
  case when ${peopleForVisitors} then u.username end as author_username`;

/** Selects the picture of the newest of these posts that has one visible to visitors, among the ten newest posts. */
function newestPicture(which: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`(select picture.* from (select p.* from posts p where ${which} and ${postsForVisitors}
      order by p.posted_at desc, p.id desc limit 10) p
    cross join lateral ${pictureOfPost(PICTURE)} picture order by p.posted_at desc, p.id desc limit 1)`;
}

function readPost(db: Database, id: string): Promise<PreviewedRow | null> {
  return first(
    db,
    sql<PreviewedRow>`select p.title, p.description, ${author}, picture.*
      from posts p left join users u on u.ref = p.author_user_ref left join lateral ${pictureOfPost(PICTURE)} picture on true
      where p.id = ${id} and ${postPagesForVisitors}`,
  );
}

function readCollection(db: Database, id: string): Promise<PreviewedRow | null> {
  const inCollection = sql<boolean>`(c.query is null
    and p.id in (select cp.post_id from collection_posts cp where cp.collection_id = c.id))`;
  return first(
    db,
    sql<PreviewedRow>`select c.name as title, c.description, ${author}, picture.*
      from collections c left join users u on u.ref = c.owner_user_ref
        left join lateral ${newestPicture(inCollection)} picture on true
      where c.id = ${id} and ${collectionsForVisitors}`,
  );
}

function readPerson(db: Database, username: string): Promise<PreviewedRow | null> {
  return first(
    db,
    sql<PreviewedRow>`select ${displayName(visitor, 'u')} as title, u.bio as description, ${author},
        a.id as asset_id, f.renditions -> ${PICTURE} as rendition
      from users u left join (assets a join files f on f.hash = ${renderedHash} and f.renditions ? ${PICTURE})
        on a.id = u.avatar_asset_id and ${picturesForVisitors}
      where u.username_key = ${foldName(username)} and ${peopleForVisitors}`,
  );
}

async function readPicture(db: Database, which: RawBuilder<boolean>): Promise<Picture | null> {
  const { rows } = await sql<
    PictureRow & { asset_id: string }
  >`select newest.* from ${newestPicture(which)} newest`.execute(db);
  return pictureRow(rows[0]);
}

function authorOf({ author_name, author_username }: PreviewedRow): PublicPage['author'] {
  if (author_name === null || author_username === null) return null;
  return { name: author_name, path: profilePath(author_username) };
}

/** Decodes the last part of a path. Returns null if its encoding is invalid or if it cannot be a name. */
function decode(part: string): string | null {
  try {
    const text = decodeURIComponent(part);
    return text.includes('\0') || !text.isWellFormed() ? null : text;
  } catch {
    return null;
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const LIBRARY_FEED = '/feeds/library.atom';

async function describeNamed(
  db: Database,
  language: Language,
  noun: string,
  name: string,
): Promise<PublicPage | null> {
  if (noun === 'posts' || noun === 'collections') {
    if (!uuid.test(name)) return null;
    const row = await (noun === 'posts' ? readPost(db, name) : readCollection(db, name));
    if (row === null) return null;
    const by = authorOf(row);
    return {
      path: `/${noun}/${name.toLowerCase()}`,
      kind: noun === 'posts' ? 'article' : 'website',
      title: row.title.trim() === '' ? say(language, 'Untitled') : row.title,
      description: row.description,
      picture: pictureRow(row),
      author: by,
      feed: by === null ? LIBRARY_FEED : `/feeds${by.path}.atom`,
    };
  }
  if (noun === 'users') {
    const row = await readPerson(db, name);
    if (row === null) return null;
    const { title, description } = row;
    const path = profilePath(row.author_username ?? name);
    const picture = pictureRow(row);
    return { path, kind: 'profile', title, description, picture, author: null, feed: `/feeds${path}.atom` };
  }
  const shown = await showTag(db, visitor, name);
  if (shown === null) return null;
  const { tag } = shown;
  const path = `/tags/${encodeURIComponent(tag)}`;
  const picture = await readPicture(db, sql`p.tags @> array[${tag}]`);
  return {
    path,
    kind: 'website',
    title: tag,
    description: '',
    picture,
    author: null,
    feed: `/feeds${path}.atom`,
  };
}

/** Returns whether a path could be a public page. Any other path needs no database query. */
export function mayBePublicPage(path: string): boolean {
  return path === '/' || /^\/(posts|collections|users|tags)\/[^/]+\/?$/.test(path);
}

/** Returns what visitors may know of the page at a path of the web app, or null if there is none for them. */
export async function describePage(
  db: Database,
  { name: siteName }: PublicSite,
  path: string,
  language: Language,
): Promise<PublicPage | null> {
  if (path === '/') {
    const picture = await readPicture(db, sql`true`);
    return {
      path,
      kind: 'website',
      title: siteName,
      description: '',
      picture,
      author: null,
      feed: LIBRARY_FEED,
    };
  }
  const [, noun = '', part = ''] = /^\/(posts|collections|users|tags)\/([^/]+)\/?$/.exec(path) ?? [];
  const name = decode(part);
  return noun === '' || name === null ? null : describeNamed(db, language, noun, name);
}
