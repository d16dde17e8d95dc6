import type { PostAuthor } from '@vitrine/contract/identity';
import { foldName } from '@vitrine/contract/names';
import { type SearchKind, type Suggestion, suggest as suggestOperation } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../access/caller.ts';
import { displayName, identityJson } from '../../access/identities.ts';
import { searchable } from '../../access/search.ts';
import { handle } from '../../core/handle.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Matching, matchesRow, matchingOf } from '../search-index/matching.ts';
import { type ParsedQuery, parseQuery, readTerms } from '../search-index/parsed-query.ts';
import { sources } from '../search-index/sources.ts';
import { inOrder } from './in-order/in-order.ts';
import type { InOrder } from './in-order/kind-search.ts';
import { runSearch } from './plans.ts';

const MOST = 10;

/** Minimum places per kind in the list, and the order of the kinds. */
const places: readonly (readonly [kind: SearchKind, atLeast: number])[] = [
  ['tag', 2],
  ['user', 2],
  ['collection', 2],
  ['post', 2],
  ['asset', 2],
];

/** Shorter prefixes are searched in the newest things that the caller reads, and in names. */
const SHORT = 2;
const NEWEST = 500;

interface SuggestionRow {
  kind: SearchKind;
  text: string;
  id: string;
  user: PostAuthor | null;
}

const textOf: Readonly<Record<SearchKind, (caller: Caller) => RawBuilder<string>>> = {
  post: () => sql`p.title`,
  asset: () => sql`a.title`,
  collection: () => sql`c.name`,
  user: (caller) => displayName(caller, 'u'),
  tag: () => sql`t.name`,
};

/** Prefixes that almost everything has: only the newest rows that the caller reads are searched. */
function amongNewest(caller: Caller, kind: 'post' | 'asset', matching: Matching): InOrder {
  const { at, id } = sources[kind];
  const [table, alias] = kind === 'post' ? [sql`posts`, sql`p`] : [sql`assets`, sql`a`];
  const newest = sql`(select ${alias}.* from ${table} ${alias} where ${searchable(caller, kind)}
    order by ${at} desc, ${id} desc limit ${NEWEST}) ${alias}`;
  const rows = sql`select ${id} as key, ${at} as at, 0::float8 as score from ${newest}
    where ${matchesRow(kind, matching)} and ${textOf[kind](caller)} <> '' order by ${at} desc, ${id} desc limit ${MOST}`;
  return { before: [], rows };
}

function suggestionsOf(caller: Caller, kind: SearchKind, parsed: ParsedQuery, isShort: boolean): InOrder {
  const { from, id } = sources[kind];
  const text = textOf[kind](caller);
  const matching = matchingOf(caller, kind, parsed);
  const named = sql<boolean>`${text} <> ''`;
  const part =
    isShort && (kind === 'post' || kind === 'asset')
      ? amongNewest(caller, kind, matching)
      : inOrder(`some_${kind}`, {
          caller,
          kind,
          matching: { ...matching, matches: sql`(${matching.matches} and ${named})` },
          filters: [],
          score: sql`0::float8`,
          way: 'newest',
          after: null,
          most: MOST,
        });
  const rows = sql`(select ${kind}::text as kind, ${text} as text, ${id}::text as id,
      ${kind === 'user' ? identityJson(caller, 'u') : sql`null::json`} as "user"
    from (${part.rows}) o join ${from} on ${id} = o.key order by o.at desc, ${id})`;
  return { before: part.before, rows };
}

function show({ kind, text, id, user }: SuggestionRow): Suggestion {
  if (kind === 'user') return { kind, text, ...(user === null ? {} : { user }) };
  return kind === 'tag' ? { kind, text } : { kind, text, id };
}

/** Removes duplicate texts per kind; unused places of a kind go to the others, in order. */
function arrange(rows: readonly SuggestionRow[]): SuggestionRow[] {
  const seen = new Set<string>();
  const once = rows.filter(({ kind, text }) => {
    const key = `${kind}:${foldName(text)}`;
    if (kind !== 'user' && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const rowsOf = (kind: SearchKind) => once.filter((row) => row.kind === kind);
  let left = MOST - places.reduce((sum, [kind, atLeast]) => sum + Math.min(atLeast, rowsOf(kind).length), 0);
  return places.flatMap(([kind, atLeast]) => {
    const more = Math.min(left, Math.max(0, rowsOf(kind).length - atLeast));
    left -= more;
    return rowsOf(kind).slice(0, atLeast + more);
  });
}

async function readSuggestions(db: Database, caller: Caller, q: string): Promise<SuggestionRow[]> {
  const terms = readTerms(q, 1).filter((term) => !term.unwanted);
  const parsed = await parseQuery(db, terms, 'titles');
  if (parsed === null || parsed.wanted === '') return [];
  const last = terms.at(-1)?.text ?? '';
  const isShort = terms.length === 1 && last.length <= SHORT && /^[\p{ASCII}]*$/u.test(last);
  const parts = places.map(([kind]) => suggestionsOf(caller, kind, parsed, isShort));
  const before = parts.flatMap((part) => part.before);
  const { rows } = await sql<SuggestionRow>`with ${sql.join(before, sql`, `)} ${sql.join(
    parts.map((part) => part.rows),
    sql` union all `,
  )}`.execute(db);
  return rows;
}

/**
 * Returns what begins with the text and the caller may read, in a fixed number of statements with cached plans. Searches
 * titles and names only.
 */
export const suggest = handle(suggestOperation, async ({ db }, { caller, query }) => {
  const rows = await runSearch(db, (tx) => readSuggestions(tx, caller, query.q ?? ''));
  return { status: 200, body: { items: arrange(rows).map(show) } };
});
