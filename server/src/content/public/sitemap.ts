import { type RawBuilder, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { mappedPosts } from '../../access/visitors.ts';
import type { Database } from '../../platform/database/pool.ts';
import { escapeHtml } from '../../platform/escape-html.ts';
import type { TimeKey } from '../../platform/http/cursor.ts';
import { notFound, refuse } from '../../platform/http/refuse.ts';
import { writeXml, type Xml } from './xml.ts';

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** Addresses in one sitemap. The protocol allows 50,000, which take most of a second of the process that writes them. */
export const ENTRIES = 1000;

/** How long the division into sitemaps is kept. The sitemaps themselves are always current. */
const DIVIDED_FOR_MS = 5 * 60_000;

/** The most sitemaps whose text is kept in memory; one has about 130 kB. */
const MOST_KEPT = 64;

/** Stands for the address of the library in kept texts, which may be asked for under several names. */
const HERE = 'https://here.invalid';

/** The sitemaps of the posts that visitors may see. */
export interface Sitemaps {
  /**
   * Returns the sitemap, or a sitemap index if one cannot hold all posts. `part` is a number from the index: a malformed
   * one is a 400, one that does not exist a 404.
   */
  read(base: string, part: string | undefined): Promise<string>;
}

/** Returns the last posts of full sitemaps with a successor. The oldest come first, so that full sitemaps seldom change. */
async function divide(db: Database, entries: number): Promise<TimeKey[]> {
  const { rows } = await sql<TimeKey>`
    select at, id from (
      select p.posted_at as at, p.id, row_number() over (order by p.posted_at, p.id) as place
      from posts p where ${mappedPosts}) placed
    where place % ${entries} = 0 and exists (
      select from posts p where ${mappedPosts} and (p.posted_at, p.id) > (placed.at, placed.id))
    order by at, id`.execute(db);
  return rows;
}

/** Selects the posts of a sitemap; the last one also has what was added since the division. */
function postsBetween(after: TimeKey | null, last: TimeKey | null, entries: number): RawBuilder<unknown> {
  const key = ({ at, id }: TimeKey) => sql`(${at}::timestamptz, ${id}::uuid)`;
  return sql`select p.id, p.updated_at, p.posted_at from posts p where ${mappedPosts}
    and ${after === null ? sql`true` : sql`(p.posted_at, p.id) > ${key(after)}`}
    and ${last === null ? sql`true` : sql`(p.posted_at, p.id) <= ${key(last)}`}
    order by p.posted_at, p.id limit ${2 * entries}`;
}

async function versionOf(db: Database, posts: RawBuilder<unknown>): Promise<string> {
  const { rows } = await sql<{ version: string | null }>`
    select md5(string_agg(x.id::text || x.updated_at::text, ' ' order by x.posted_at, x.id)) as version
    from (${posts}) x`.execute(db);
  return rows[0]?.version ?? '';
}

async function write(db: Database, posts: RawBuilder<unknown>): Promise<string> {
  const { rows } = await sql<{ id: string; updated_at: string; posted_at: string }>`${posts}`.execute(db);
  const children = rows.map(
    ({ id, updated_at }): Xml => ({
      name: 'url',
      children: [
        { name: 'loc', text: `${HERE}/posts/${id}` },
        { name: 'lastmod', text: updated_at },
      ],
    }),
  );
  return writeXml(NAMESPACE, { name: 'urlset', children });
}

function writeIndex(count: number): string {
  const children = Array.from(
    { length: count },
    (_, n): Xml => ({
      name: 'sitemap',
      children: [{ name: 'loc', text: `${HERE}/sitemap.xml?part=${n + 1}` }],
    }),
  );
  return writeXml(NAMESPACE, { name: 'sitemapindex', children });
}

/**
 * Creates the sitemaps with at most this many addresses each. A text is written again only if its posts have changed;
 * callers at the same time share it, and one is checked or written at a time, so that requests cause a bounded load.
 */
export function openSitemaps(db: Database, entries: number): Sitemaps {
  const kept = new LRUCache<number, { version: string; text: string }>({ max: MOST_KEPT });
  const running = new Map<number, Promise<string>>();
  let division: { ends: Promise<TimeKey[]>; until: number } | null = null;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs work after all that was begun before. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };

  const ends = (): Promise<TimeKey[]> => {
    if (division !== null && performance.now() < division.until) return division.ends;
    const made = { ends: inTurn(() => divide(db, entries)), until: performance.now() + DIVIDED_FOR_MS };
    division = made;
    made.ends.catch(() => {
      if (division === made) division = null;
    });
    return made.ends;
  };

  const check = async (part: number, posts: RawBuilder<unknown>): Promise<string> => {
    const version = await versionOf(db, posts);
    const known = kept.get(part);
    const current = known?.version === version ? known : { version, text: await write(db, posts) };
    kept.set(part, current);
    return current.text;
  };

  const readPart = (part: number, borders: readonly TimeKey[]): Promise<string> => {
    const known = running.get(part);
    if (known !== undefined) return known;
    const posts = postsBetween(borders[part - 2] ?? null, borders[part - 1] ?? null, entries);
    const started = inTurn(() => {
      // A later caller may know of a change that this check does not see.
      running.delete(part);
      return check(part, posts);
    });
    running.set(part, started);
    return started;
  };

  const textOf = async (part: string | undefined): Promise<string> => {
    if (part !== undefined && !/^[1-9]\d{0,8}$/.test(part)) throw refuse('sitemap-part-unknown');
    const borders = await ends();
    if (part === undefined)
      return borders.length === 0 ? readPart(1, borders) : writeIndex(borders.length + 1);
    if (Number(part) > borders.length + 1) throw notFound();
    return readPart(Number(part), borders);
  };

  return {
    async read(base, part) {
      const here = escapeHtml(base);
      return (await textOf(part)).replaceAll(HERE, () => here);
    },
  };
}
