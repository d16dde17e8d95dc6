import type { Language } from '@vitrine/contract/languages';
import { foldName } from '@vitrine/contract/names';
import { type RawBuilder, sql } from 'kysely';
import { displayName } from '../../access/identities.ts';
import { peopleForVisitors, postsForVisitors, visitor } from '../../access/visitors.ts';
import { storedTag } from '../../core/tag-register.ts';
import type { Database } from '../../platform/database/pool.ts';
import { say } from '../../platform/language/say.ts';
import { profilePath } from './page.ts';
import { PICTURE, type PictureRow, pictureOfPost, pictureRow } from './picture.ts';
import type { PublicSite } from './site.ts';
import { writeXml, type Xml } from './xml.ts';

/** Maximum number of posts in a feed. */
const NEWEST = 50;

interface Entry extends PictureRow {
  id: string;
  title: string;
  description: string;
  tags: string[];
  posted_at: string;
  updated_at: string;
  author_name: string | null;
  author_username: string | null;
}

async function newestPosts(db: Database, which: RawBuilder<boolean>): Promise<Entry[]> {
  const { rows } = await sql<Entry>`
    select p.id, p.title, p.description, p.tags, p.posted_at, p.updated_at, picture.*,
      case when ${peopleForVisitors} then ${displayName(visitor, 'u')} end as author_name,
      case when ${peopleForVisitors} then u.username end as author_username
    from posts p left join users u on u.ref = p.author_user_ref
      left join lateral ${pictureOfPost(PICTURE)} picture on true
    where ${which} and ${postsForVisitors} order by p.posted_at desc, p.id desc limit ${NEWEST}`.execute(db);
  return rows;
}

interface Feed {
  title: string;
  /** The path of the web page that shows the same posts, or null if visitors cannot open it. */
  page: string | null;
  entries: Entry[];
}

async function feedOfPerson(db: Database, username: string): Promise<Feed | null> {
  const { rows } = await sql<{ ref: number; username: string; name: string }>`
    select u.ref, u.username, ${displayName(visitor, 'u')} as name from users u
    where u.username_key = ${foldName(username)} and ${peopleForVisitors}`.execute(db);
  const person = rows[0];
  if (person === undefined) return null;
  const entries = await newestPosts(db, sql`p.author_user_ref = ${person.ref}`);
  return { title: person.name, page: profilePath(person.username), entries };
}

/** Returns null for a feed without posts, because visitors may not know whether its tag or team exists. */
async function unlessEmpty(title: string, page: string | null, read: Promise<Entry[]>): Promise<Feed | null> {
  const entries = await read;
  return entries.length === 0 ? null : { title, page, entries };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function findFeed(
  db: Database,
  { name }: PublicSite,
  path: string,
  language: Language,
): Promise<Feed | null> {
  if (path === 'library.atom') return { title: name, page: '/', entries: await newestPosts(db, sql`true`) };
  const [, kind, subject] = /^(users|tags|teams)\/(.+)\.atom$/s.exec(path) ?? [];
  if (subject === undefined || subject.includes('\0') || !subject.isWellFormed()) return null;
  if (kind === 'users') return feedOfPerson(db, subject);
  if (kind === 'tags') {
    const tag = await storedTag(db, subject);
    const posts = newestPosts(db, sql`p.tags @> array[${tag}]`);
    return unlessEmpty(tag, `/tags/${encodeURIComponent(tag)}`, posts);
  }
  if (!uuid.test(subject)) return null;
  // Uses a generic title, because visitors may not see the names of teams.
  const posts = newestPosts(db, sql`p.team_id = ${subject}`);
  return unlessEmpty(say(language, 'Team'), null, posts);
}

function link(rel: string, href: string, type: string): Xml {
  return { name: 'link', attributes: { rel, href, type } };
}

function person(name: string, uri: string | null): Xml {
  const known = uri === null ? [] : [{ name: 'uri', text: uri }];
  return { name: 'author', children: [{ name: 'name', text: name }, ...known] };
}

function writeEntry(base: string, entry: Entry, language: Language): Xml {
  const picture = pictureRow(entry);
  const { author_name: author, author_username: username, title, description } = entry;
  return {
    name: 'entry',
    children: [
      { name: 'id', text: `urn:uuid:${entry.id}` },
      { name: 'title', text: title.trim() === '' ? say(language, 'Untitled') : title },
      { name: 'published', text: entry.posted_at },
      { name: 'updated', text: entry.updated_at },
      link('alternate', `${base}/posts/${entry.id}`, 'text/html'),
      ...(picture === null ? [] : [link('enclosure', base + picture.path, picture.type)]),
      ...(author === null || username === null ? [] : [person(author, base + profilePath(username))]),
      ...(description === '' ? [] : [{ name: 'summary', attributes: { type: 'text' }, text: description }]),
      ...entry.tags.map((term) => ({ name: 'category', attributes: { term } })),
    ],
  };
}

/** Returns the Atom feed at a decoded path below `/feeds/`, or null if visitors may not know of such a feed. */
export async function writeFeed(
  db: Database,
  site: PublicSite,
  base: string,
  path: string,
  language: Language,
): Promise<string | null> {
  const feed = await findFeed(db, site, path, language);
  if (feed === null) return null;
  const self = `${base}/feeds/${path.split('/').map(encodeURIComponent).join('/')}`;
  const updated =
    feed.entries
      .map((entry) => entry.updated_at)
      .sort()
      .at(-1) ?? '1970-01-01T00:00:00Z';
  return writeXml('http://www.w3.org/2005/Atom', {
    name: 'feed',
    children: [
      { name: 'id', text: self },
      { name: 'title', text: feed.title === site.name ? site.name : `${feed.title} · ${site.name}` },
      { name: 'updated', text: updated },
      link('self', self, 'application/atom+xml'),
      ...(feed.page === null ? [] : [link('alternate', base + feed.page, 'text/html')]),
      person(site.name, base),
      ...feed.entries.map((entry) => writeEntry(base, entry, language)),
    ],
  });
}
