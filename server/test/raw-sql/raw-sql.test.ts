import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTables } from '../../src/operate/resourcespace/staging.ts';
import { type DatabasePool, openPool } from '../../src/platform/database/pool.ts';
import { type Clone, cloneTemplate } from '../support/clone.ts';
import { type Catalog, compareRow, readCatalog } from './compare.ts';
import { describeResult, type ResultColumn } from './describe-result.ts';
import { findStatements, type RawStatement } from './find.ts';
import { renderForms } from './forms.ts';
import { propertiesOf, tableColumns } from './row-types.ts';
import { readSources, type Sources } from './sources.ts';

/**
 * Statements whose text the sources alone do not tell. This list may only become shorter: write a new statement so that
 * it can be rendered.
 */
const unprepared = [
  'content/assets/served.ts statementFor',
  'content/posts/feed.ts feedRows',
  'content/search-index/matching.ts expectedBehindGates',
  'content/search/find.ts readPage',
  'content/search/suggest.ts readSuggestions',
  'operate/export/entries/person.ts itemsOf',
  'operate/export/restore/files.ts findFiles',
  'operate/export/restore/files.ts readWanted',
  'operate/export/restore/files.ts storeFiles',
  'operate/export/restore/rows.ts keepAccounts',
  'operate/export/rows.ts linesOf',
  'operate/resourcespace/staging.ts openStaging',
];

/** Statements of which some forms are combinations of branches that the program never takes. */
const impossibleForms = [
  'content/search-index/documents.ts writeChunk',
  'exchange/federation/documents.ts objectDocument',
];

/** What a check constraint or the rest of the statement ensures and this test cannot see. */
const ensured = [
  'content/batches/rows.ts changeRows: its callers declare the rows',
  'content/search/saved-queries.ts changeSaved: its callers declare the rows',
  'content/search/saved-queries.ts readSaved: its callers declare the rows',
  'content/search/saved-queries.ts saveQuery: its callers declare the rows',
  'operate/accounts/batch/change-accounts.ts changeAccounts: its callers declare the rows',
  'operate/import/users/store.ts insertUsers: username_key may be null (users.username_key)',
  'operate/resourcespace/staging.ts openStaging: its callers declare the rows',
];

/** A form of a statement: its text, and the columns of its result or PostgreSQL's error. */
interface Form {
  text: string;
  columns: readonly ResultColumn[];
  error: string | null;
}

let clone: Clone;
let database: DatabasePool;
let sources: Sources;
let catalog: Catalog;
const prepared: { statement: RawStatement; forms: Form[] }[] = [];

beforeAll(async () => {
  sources = readSources();
  clone = await cloneTemplate();
  database = openPool(clone.settings, 1);
  const client = await database.pool.connect();
  const tables = sources.files.find(({ fileName }) => fileName.endsWith('/database/tables.ts'));
  if (tables === undefined) throw new Error('tables.ts is missing');
  const parse = (type: number) => database.pool.options.types?.getTypeParser(type, 'text') ?? String;
  catalog = await readCatalog(client, parse, tableColumns(sources.checker, tables));
  // The tables that an import reads an earlier system into.
  await createTables(client);
  for (const statement of findStatements(sources)) {
    const forms: Form[] = [];
    for (const text of renderForms(sources, statement)) {
      const described = await describeResult(client, text).catch((error: Error) => error.message);
      const isDescribed = typeof described !== 'string';
      forms.push({
        text,
        columns: isDescribed ? described : [],
        error: isDescribed ? null : described,
      });
    }
    prepared.push({ statement, forms });
  }
  client.release();
});

afterAll(async () => {
  await database.close();
  await clone.drop();
});

const isPrepared = ({ error }: Form) => error === null;
const sortedOnce = (texts: readonly string[]) => [...new Set(texts)].sort();

/** Names statements that fail; those that are not among the known ones with PostgreSQL's error. */
function failing(of: typeof prepared, known: readonly string[]): string[] {
  const named = of.map(({ statement: { name, position }, forms }) => {
    if (known.includes(name)) return name;
    const failed = forms.find((form) => !isPrepared(form));
    return `${position}: ${failed?.error ?? 'the text cannot be rendered'}`;
  });
  return sortedOnce(named);
}

/** Of these, a form may happen to be rendered, depending on the order in which the compiler reads the sources. */
const isUnprepared = ({ statement: { name } }: (typeof prepared)[number]) => unprepared.includes(name);

test('PostgreSQL prepares every statement that the sources write as SQL', () => {
  const none = prepared.filter((one) => isUnprepared(one) || !one.forms.some(isPrepared));
  expect(failing(none, unprepared)).toEqual(unprepared);
});

test('PostgreSQL prepares every form of a statement', () => {
  const some = prepared.filter(
    (one) => !isUnprepared(one) && one.forms.some(isPrepared) && !one.forms.every(isPrepared),
  );
  expect(failing(some, impossibleForms)).toEqual(impossibleForms);
});

test('rows have the columns that their types declare', () => {
  const differences = prepared.flatMap(({ statement, forms }) => {
    if (statement.row === null) return [];
    if (statement.row.isTypeParameter()) return [`${statement.name}: its callers declare the rows`];
    const declared = propertiesOf(sources.checker, statement.row);
    const each = forms
      .filter(isPrepared)
      .map(({ text, columns }) => compareRow(text, columns, declared, catalog));
    const wrong = each.flatMap((form) => form.wrong);
    // A type is too wide if no form of the statement needs it.
    const wide = (each[0]?.tooWide ?? []).filter((what) =>
      each.every(({ tooWide }) => tooWide.includes(what)),
    );
    return [...wrong, ...wide].map((what) => `${statement.name}: ${what}`);
  });
  expect(sortedOnce(differences)).toEqual(ensured);
});
