import type { SearchKind } from '@vitrine/contract/search';
import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../access/caller.ts';
import { openGates, readableWords } from '../access/search.ts';
import type { Database, Tx } from '../platform/database/pool.ts';
import { hasWords, type Question, readQuestion, readTerms } from './question.ts';

/** More documents than this are not gathered from the index of words: the list is walked, and each is asked. */
const GATHERED = 5000;

interface Documents {
  /** The table of its documents, and their key. */
  table: string;
  key: string;
  /** The row itself, as the rules name it. */
  row: string;
  gated: string | null;
}

export const documentsOf: Readonly<Record<SearchKind, Documents>> = {
  post: { table: 'post_documents', key: 'post_id', row: 'p.id', gated: null },
  asset: { table: 'asset_documents', key: 'asset_id', row: 'a.id', gated: 'asset_gated_documents' },
  collection: {
    table: 'collection_documents',
    key: 'collection_id',
    row: 'c.id',
    gated: 'collection_gated_documents',
  },
  user: { table: 'user_documents', key: 'user_ref', row: 'u.ref', gated: null },
  tag: { table: 'tag_documents', key: 'tag', row: 't.name', gated: null },
};

/** How rows of a kind match a question. It says nothing of who may see them. */
export interface Matching {
  /** Whether the row matches. */
  matches: RawBuilder<boolean>;
  /** How well, by the document alone: nothing that others have counts. */
  rank: RawBuilder<number>;
}

/** All the caller reads of a row, as a subquery that answers one expression over `doc`; never planned as a join. */
function ofDocument<T>(
  caller: Caller,
  kind: SearchKind,
  answer: (document: RawBuilder<unknown>) => RawBuilder<T>,
): RawBuilder<T> {
  const { table, key, row, gated } = documentsOf[kind];
  const open = openGates(caller, kind);
  const column = sql.ref(readableWords(caller, kind).document);
  const behind =
    gated === null || open === null
      ? null
      : sql`(select tsvector_of_all(g.document) from ${sql.table(gated)} g where ${sql.ref(`g.${key}`)} = ${sql.ref(row)} and ${open})`;
  const whole = behind === null ? column : sql`(${column} || ${behind})`;
  return sql`(select ${answer(whole)} from ${sql.table(table)} d where ${sql.ref(`d.${key}`)} = ${sql.ref(row)})`;
}

/** Keys of documents that may match; what is behind gates may add a part of the words. */
function gathered(
  caller: Caller,
  kind: SearchKind,
  question: Question,
  whole: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { table, key, gated } = documentsOf[kind];
  const own = sql`select ${sql.ref(`d.${key}`)} from ${sql.table(table)} d
    where ${sql.ref(readableWords(caller, kind).document)} @@ ${whole}`;
  if (gated === null || openGates(caller, kind) === null) return own;
  return sql`${own} union all select ${sql.ref(`g.${key}`)} from ${sql.table(gated)} g
    where g.document @@ ${question.either}::tsquery`;
}

function wholeOf({ wanted, unwanted }: Question): RawBuilder<unknown> {
  return unwanted === '' ? sql`${wanted}::tsquery` : sql`(${wanted}::tsquery && ${unwanted}::tsquery)`;
}

/** Kinds of which too many documents have the words. What the caller is given is the same either way. */
async function readCommon(
  db: Database,
  caller: Caller,
  kinds: readonly SearchKind[],
  question: Question,
): Promise<Set<SearchKind>> {
  // What is left out alone is in no index.
  if (question.wanted === '') return new Set(kinds);
  const whole = wholeOf(question);
  const counts = kinds.map(
    (kind) => sql`select ${kind}::text as kind, count(*) > ${GATHERED} as common from (
      select from (${gathered(caller, kind, question, whole)}) found limit ${GATHERED + 1}) counted`,
  );
  const { rows } = await sql<{
    kind: SearchKind;
    common: boolean;
  }>`${sql.join(counts, sql` union all `)}`.execute(db);
  return new Set(rows.filter(({ common }) => common).map(({ kind }) => kind));
}

/** How rows of these kinds match a question, in one statement at most; `walked` kinds are asked row by row anyway. */
export async function readMatching(
  db: Database,
  caller: Caller,
  kinds: readonly SearchKind[],
  question: Question,
  walked: readonly SearchKind[] = [],
): Promise<ReadonlyMap<SearchKind, Matching>> {
  const nothing: Matching = { matches: sql`false`, rank: sql`0::float8` };
  if (!hasWords(question)) return new Map(kinds.map((kind) => [kind, nothing]));
  const common = new Set([
    ...walked,
    ...(await readCommon(
      db,
      caller,
      kinds.filter((kind) => !walked.includes(kind)),
      question,
    )),
  ]);
  const whole = wholeOf(question);
  return new Map(
    kinds.map((kind) => {
      const { row } = documentsOf[kind];
      // The function behind `@@`, which no index answers: these rows are asked one by one.
      const asked = ofDocument(caller, kind, (document) => sql<boolean>`ts_match_vq(${document}, ${whole})`);
      const found = sql`${sql.ref(row)} = any(array(${gathered(caller, kind, question, whole)}))`;
      const matches = common.has(kind) ? sql<boolean>`${asked}` : sql<boolean>`(${found} and ${asked})`;
      const rank = ofDocument(
        caller,
        kind,
        (document) =>
          sql<number>`ts_rank('{0.1,0.3,0.6,1.0}', ${document}, ${question.wanted}::tsquery, 1)::float8`,
      );
      return [kind, { matches, rank: question.wanted === '' ? sql<number>`0::float8` : rank }];
    }),
  );
}

/** `pg_trgm.word_similarity_threshold` while names are compared. */
export const LIKENESS = '0.5';

/** Shorter words are like too many others. */
const SHORTEST_LIKENED = 4;
const MOST_LIKENED = 8;

/** Words to be compared with names; null where comparing them would find anything or nothing meant. */
function likened({ terms }: Question): readonly string[] | null {
  const wanted = terms.filter((term) => !term.unwanted);
  const words = wanted.map((term) => term.text.slice(0, 100));
  // What stands in quotes is meant as it stands.
  const isPlain = wanted.every((term) => !term.exact && [...term.text].length >= SHORTEST_LIKENED);
  return isPlain && words.length > 0 && words.length <= MOST_LIKENED ? words : null;
}

/**
 * Rows whose names have words much like every wanted one, and none of the unwanted words: for misspelt questions.
 * Null where there is nothing to compare. One statement, in a transaction that has set `LIKENESS`.
 */
export async function readLikeness(
  tx: Tx,
  caller: Caller,
  kinds: readonly SearchKind[],
  question: Question,
): Promise<ReadonlyMap<SearchKind, Matching> | null> {
  const words = likened(question);
  if (words === null) return null;
  const alike = (kind: SearchKind) => {
    const names = sql.ref(readableWords(caller, kind).names);
    return sql.join(
      words.map((word) => sql`(select resembling_text(${word})) <% ${names}`),
      sql` and `,
    );
  };
  const counts = kinds.map(
    (kind) => sql`select ${kind}::text as kind, count(*) > ${GATHERED} as common from (
      select from ${sql.table(documentsOf[kind].table)} d where ${alike(kind)} limit ${GATHERED + 1}) counted`,
  );
  const { rows } = await sql<{
    kind: SearchKind;
    common: boolean;
  }>`${sql.join(counts, sql` union all `)}`.execute(tx);
  const common = new Set(rows.filter((row) => row.common).map(({ kind }) => kind));
  return new Map(
    kinds.map((kind) => {
      const { table, key, row } = documentsOf[kind];
      const found = common.has(kind)
        ? sql<boolean>`(select ${alike(kind)} from ${sql.table(table)} d where ${sql.ref(`d.${key}`)} = ${sql.ref(row)})`
        : sql<boolean>`${sql.ref(row)} = any(array(
            select ${sql.ref(`d.${key}`)} from ${sql.table(table)} d where ${alike(kind)}))`;
      const allowed =
        question.unwanted === ''
          ? sql`true`
          : ofDocument(
              caller,
              kind,
              (document) => sql`ts_match_vq(${document}, ${question.unwanted}::tsquery)`,
            );
      const names = sql.ref(readableWords(caller, kind).names);
      // The text of the question is made once, not once a row.
      const similarities = words.map(
        (word) => sql`word_similarity((select resembling_text(${word})), ${names})`,
      );
      const rank = sql<number>`(select (${sql.join(similarities, sql` + `)})::float8 / ${words.length}::integer
        from ${sql.table(table)} d where ${sql.ref(`d.${key}`)} = ${sql.ref(row)})`;
      return [kind, { matches: sql<boolean>`(${found} and ${allowed})`, rank }];
    }),
  );
}

/** For lists that can be searched: rows whose readable words match `q`; null where nothing was asked. */
export async function matchingRows(
  db: Database,
  caller: Caller,
  kind: 'post' | 'asset',
  q: string | undefined,
): Promise<RawBuilder<boolean> | null> {
  const question = await readQuestion(db, readTerms(q ?? ''));
  if (question === null) return null;
  return (await readMatching(db, caller, [kind], question)).get(kind)?.matches ?? null;
}
