import type { PostAuthor } from '@vitrine/contract/identity';
import { type SearchKind, type Suggestion, suggest as suggestOperation } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { displayName, identityJson } from '../access/identities.ts';
import { searchable } from '../access/search.ts';
import type { Database } from '../platform/database/pool.ts';
import { handle } from '../platform/http/bind.ts';
import { type Matching, readMatching } from './matching.ts';
import { readQuestion, readTerms } from './question.ts';
import { sources } from './sources.ts';

const MOST = 10;

/** How many of each kind stand in the list while there are others, and in which order the kinds stand. */
const places: readonly (readonly [kind: SearchKind, atLeast: number])[] = [
  ['tag', 2],
  ['user', 2],
  ['collection', 2],
  ['post', 2],
  ['asset', 2],
];

/** Beginnings this short are looked for among the newest things the caller reads, and in names. */
const SHORT = 2;
const NEWEST = 500;

interface Row {
  kind: SearchKind;
  text: string;
  id: string;
  user: PostAuthor | null;
  rank: number;
}

const textOf: Readonly<Record<SearchKind, (caller: Caller) => RawBuilder<string>>> = {
  post: () => sql`p.title`,
  asset: () => sql`a.title`,
  collection: () => sql`c.name`,
  user: (caller) => displayName(caller, 'u'),
  tag: () => sql`t.name`,
};

/** The table under its alias, or only the newest rows of it that the caller reads. */
function rowsOf(caller: Caller, kind: SearchKind, isShort: boolean): RawBuilder<unknown> {
  const { from, at, id } = sources[kind];
  if (!isShort || (kind !== 'post' && kind !== 'asset')) return from;
  const [table, alias] = kind === 'post' ? [sql`posts`, sql`p`] : [sql`assets`, sql`a`];
  return sql`(select ${alias}.* from ${table} ${alias} where ${searchable(caller, kind)}
    order by ${at} desc, ${id} desc limit ${NEWEST}) ${alias}`;
}

function suggestionsOf(caller: Caller, kind: SearchKind, { matches, rank }: Matching, isShort: boolean) {
  const { at, id } = sources[kind];
  const text = textOf[kind](caller);
  return sql`(select ${kind}::text as kind, ${text} as text, ${id}::text as id,
      ${kind === 'user' ? identityJson(caller, 'u') : sql`null::json`} as "user", ${rank} as rank
    from ${rowsOf(caller, kind, isShort)} where ${matches} and ${searchable(caller, kind)} and ${text} <> ''
    order by ${at} desc, ${id} limit ${MOST})`;
}

function show({ kind, text, id, user }: Row): Suggestion {
  if (kind === 'user') return { kind, text, ...(user === null ? {} : { user }) };
  return kind === 'tag' ? { kind, text } : { kind, text, id };
}

/** Each text once for a kind; places that a kind does not need go to the others, in their order. */
function arrange(rows: readonly Row[]): Row[] {
  const seen = new Set<string>();
  const once = rows.filter(({ kind, text }) => {
    const key = `${kind}:${text.toLowerCase()}`;
    if (kind !== 'user' && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const of = (kind: SearchKind) => once.filter((row) => row.kind === kind);
  let left = MOST - places.reduce((sum, [kind, atLeast]) => sum + Math.min(atLeast, of(kind).length), 0);
  return places.flatMap(([kind, atLeast]) => {
    const more = Math.min(left, Math.max(0, of(kind).length - atLeast));
    left -= more;
    return of(kind).slice(0, atLeast + more);
  });
}

async function readSuggestions(db: Database, caller: Caller, q: string): Promise<Row[]> {
  const terms = readTerms(q, 1).filter((term) => !term.unwanted);
  const question = await readQuestion(db, terms, 'titles');
  if (question === null || question.wanted === '') return [];
  const last = terms.at(-1)?.text ?? '';
  const isShort = terms.length === 1 && last.length <= SHORT && /^[\p{ASCII}]*$/u.test(last);
  const kinds = places.map(([kind]) => kind);
  const matching = await readMatching(db, caller, kinds, question, isShort ? ['post', 'asset'] : []);
  const parts = kinds.flatMap((kind) => {
    const match = matching.get(kind);
    return match === undefined ? [] : [suggestionsOf(caller, kind, match, isShort)];
  });
  const { rows } = await sql<Row>`${sql.join(parts, sql` union all `)}`.execute(db);
  return rows;
}

/** What begins like this and the caller may read: three statements. Titles and names alone are looked at. */
export const suggest = handle(suggestOperation, async ({ db }, { caller, query }) => {
  const rows = await readSuggestions(db, caller, query.q ?? '');
  return { status: 200, body: { items: arrange(rows).map(show) } };
});
