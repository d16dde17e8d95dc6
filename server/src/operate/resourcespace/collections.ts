import type { AssetSelection } from '@vitrine/contract/batches';
import { hasVocabulary } from '@vitrine/contract/field-types';
import { appendFiles } from '../../content/collections/place.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import {
  changedAccounts,
  isCollectionHere,
  recordOfAccounts,
  shareCollection,
} from '../imports/given-access.ts';
import { fingerprintOf } from '../imports/report.ts';
import { accountOf, type Context } from './context.ts';
import type { ImportedFields } from './fields.ts';
import { readColumnTime, readTranslated } from './texts.ts';

interface CollectionRow {
  ref: number;
  name: string | null;
  user: number | null;
  created: string | null;
  public: number | null;
  keywords: string | null;
  description: string | null;
  type: number | null;
  parent: number | null;
  order_by: number | null;
  savedsearch: number | null;
  search: string | null;
  restypes: string | null;
  archive: string | null;
  items: number[] | null;
  users: number[] | null;
  groups: number[] | null;
}

const PUBLIC = 4;
const FEATURED = 3;
/** Collections that people made; the others belong to uploads, selections and requests. */
const kept = new Set([0, FEATURED, PUBLIC]);

/** Items in the order of the system: by hand, with those without a place first, then the latest addition. */
const allCollections = `select c.*, s.search, s.restypes, s.archive,
  (select json_agg(x.resource order by x.sortorder nulls first, x.date_added desc, x.resource) from rs_collection_resource x where x.collection = c.ref) as items,
  (select json_agg(distinct u."user") from rs_user_collection u where u.collection = c.ref) as users,
  (select json_agg(distinct g.usergroup) from rs_usergroup_collection g where g.collection = c.ref) as groups
  from rs_collection c left join rs_collection_savedsearch s on s.ref = c.savedsearch and c.savedsearch > 0
  where c.ref > 0 order by c.ref`;

/** A featured collection's place in the tree, as names from the top. */
function pathOf(
  row: CollectionRow,
  byRef: ReadonlyMap<number, CollectionRow>,
  language: string,
): { names: string[]; top: number } {
  const names: string[] = [];
  const seen = new Set<number>();
  let top = row.ref;
  for (let at: CollectionRow | undefined = row; at !== undefined && !seen.has(at.ref); ) {
    seen.add(at.ref);
    top = at.ref;
    names.unshift(readTranslated(at.name ?? '', language).text);
    at = at.parent === null ? undefined : byRef.get(at.parent);
  }
  return { names, top };
}

interface Audience {
  visibility: 'private' | 'org-only' | 'explicit-share';
  users: number[];
}

/** Who sees a collection. A featured one is for those whose group sees the whole way to it. */
function audienceOf(
  row: CollectionRow,
  byRef: ReadonlyMap<number, CollectionRow>,
  { installation }: Context,
): Audience {
  const { users, groups, language } = installation;
  if (row.type === PUBLIC) {
    const blocked = users.filter(({ group }) => groups.get(group ?? 0)?.permissions.has('b') !== false);
    if (blocked.length === 0) return { visibility: 'org-only', users: [] };
    return {
      visibility: 'explicit-share',
      users: users.filter((user) => !blocked.includes(user)).map(({ ref }) => ref),
    };
  }
  if (row.type === FEATURED) {
    const { top } = pathOf(row, byRef, language);
    const sees = users.filter(({ group }) => {
      const permissions = groups.get(group ?? 0)?.permissions;
      return (
        permissions?.seesFeatured(top) === true && !permissions.has(`-j${row.ref}`) && !permissions.has('b')
      );
    });
    const all = sees.length === users.length;
    return all
      ? { visibility: 'org-only', users: [] }
      : { visibility: 'explicit-share', users: sees.map(({ ref }) => ref) };
  }
  const ofGroups = users
    .filter(({ group }) => row.groups?.includes(group ?? 0) === true)
    .map(({ ref }) => ref);
  const named = [...new Set([...(row.users ?? []), ...ofGroups])].filter((ref) => ref !== row.user);
  return named.length === 0
    ? { visibility: 'private', users: [] }
    : { visibility: 'explicit-share', users: named };
}

/** A smart collection's query, and what of it has no counterpart. */
function queryOf(
  { search, restypes, archive }: CollectionRow,
  fields: ImportedFields,
  typeOf: ReadonlyMap<number, number>,
): { query: AssetSelection; missing: string[] } {
  const missing: string[] = [];
  const words: string[] = [];
  const filter: string[] = [];
  const parts = (search ?? '').match(/"[^"]*"|[^\s,]+/g) ?? [];
  for (const part of parts) {
    const [, code, value] = /^"?([a-z][a-z0-9_]*):(.+?)"?$/i.exec(part) ?? [];
    const field = [...fields.byRef.values()].find(({ plan }) => plan.field.name === code);
    if (code !== undefined && value !== undefined && field !== undefined && field.id !== '') {
      const operator = hasVocabulary(field.plan.type) || field.plan.type === 'number' ? '=' : '~';
      filter.push(`field:${field.plan.code}${operator}${value}`);
    } else if (/^[!@]/.test(part) || code !== undefined) missing.push(part);
    else words.push(part);
  }
  const types = (restypes ?? '').split(',').flatMap((text) => typeOf.get(Number(text)) ?? []);
  const [type] = types;
  if (types.length > 1) missing.push(`resource types ${restypes}`);
  const states = (archive ?? '').split(',').filter((text) => text !== '');
  const isActiveOnly = states.length === 1 && states[0] === '0';
  if (states.length > 0 && !isActiveOnly) missing.push(`archive states ${archive}`);
  return {
    query: {
      ...(words.length === 0 ? {} : { q: words.join(' ') }),
      ...(filter.length === 0 ? {} : { filter }),
      ...(types.length === 1 && type !== undefined ? { asset_type: type } : {}),
      ...(isActiveOnly ? { status: 'active' as const } : {}),
    },
    missing,
  };
}

interface Parts {
  fields: ImportedFields;
  typeOf: ReadonlyMap<number, number>;
}

/** All collections of the installation by their numbers. */
interface Rows {
  byRef: ReadonlyMap<number, CollectionRow>;
}

function descriptionOf({ description, keywords }: CollectionRow): string {
  const lines = [
    description ?? '',
    keywords === null || keywords.trim() === '' ? '' : `Keywords: ${keywords}`,
  ];
  return lines
    .filter((text) => text.trim() !== '')
    .join('\n\n')
    .slice(0, 20_000)
    .toWellFormed();
}

/** What a collection is, apart from its items and the accounts that it is shared with. */
interface CollectionColumns {
  name: string;
  description: string;
  visibility: Audience['visibility'];
  query: AssetSelection | null;
}

/** Returns the columns as they are stored. */
function storedOf({ query, ...columns }: CollectionColumns) {
  return { ...columns, query: query === null ? null : JSON.stringify(query) };
}

function fingerprintOfColumns({ name, description, visibility, query }: CollectionColumns): string {
  // PostgreSQL orders the properties of a query in its own way.
  const conditions = Object.entries(query ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return fingerprintOf(name, description, visibility, query === null ? null : conditions);
}

function columnsOf(
  { installation, reporter }: Context,
  row: CollectionRow,
  { byRef, visibility, fields, typeOf }: Parts & Pick<Audience, 'visibility'> & Rows,
): CollectionColumns {
  const { names } = pathOf(row, byRef, installation.language);
  const name = (row.type === FEATURED ? names : [names.at(-1) ?? ''])
    .join(' / ')
    .slice(0, 200)
    .toWellFormed();
  const smart = row.search === null ? null : queryOf(row, fields, typeOf);
  if (smart !== null && smart.missing.length > 0)
    reporter.leaveOut(
      'saved search',
      row.ref,
      sentence('has no counterpart for {conditions}; the collection is empty', { conditions: smart.missing }),
    );
  return {
    name: name.trim() === '' ? `Collection ${row.ref}` : name,
    description: descriptionOf(row),
    visibility,
    // A query that lost a condition would show more than before.
    query: smart === null || smart.missing.length > 0 ? null : smart.query,
  };
}

/** Writes what has changed there, unless a person has changed any of it here (IMPORT-2). */
async function updateColumns(
  tx: Tx,
  { ledger }: Context,
  ref: number,
  id: string,
  columns: CollectionColumns,
): Promise<void> {
  const here = await tx
    .selectFrom('collections')
    .select(['name', 'description', 'visibility', 'query'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  // Only a selection of assets is stored as a query.
  const present = here as CollectionColumns | undefined;
  if (present === undefined || ledger.find('texts', ref)?.fingerprint !== fingerprintOfColumns(present))
    return;
  await tx.updateTable('collections').set(storedOf(columns)).where('id', '=', id).execute();
}

async function insertCollection(
  tx: Tx,
  row: CollectionRow,
  ownerRef: number,
  columns: CollectionColumns,
): Promise<string> {
  const created = readColumnTime(row.created);
  const { id } = await tx
    .insertInto('collections')
    .values({
      owner_user_ref: ownerRef,
      ...storedOf(columns),
      ...(created === null ? {} : { created_at: created }),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

async function importCollection(context: Context, row: CollectionRow, parts: Parts & Rows): Promise<void> {
  const { deps, ledger, reporter, owner } = context;
  const known = ledger.find('collection', row.ref);
  const { visibility, users } = audienceOf(row, parts.byRef, context);
  const fingerprint = fingerprintOf(row, visibility, users);
  if (known?.fingerprint === fingerprint) return reporter.count('collections_already_here');
  if (known !== undefined && !(await isCollectionHere(deps.db, known.target)))
    return reporter.count('collections_deleted_here');
  const columns = columnsOf(context, row, { ...parts, visibility });
  const missing = (row.items ?? []).filter((ref) => ledger.find('resource', ref) === undefined);
  for (const ref of missing)
    reporter.leaveOut('item', `${row.ref}/${ref}`, sentence('the resource does not exist'));
  const ownerRef = accountOf(context, row.user) ?? owner.ref;
  const sharees = users.flatMap((user) => accountOf(context, user) ?? []).filter((ref) => ref !== ownerRef);
  await deps.db.transaction().execute(async (tx) => {
    const id = known?.target ?? (await insertCollection(tx, row, ownerRef, columns));
    if (known !== undefined) await updateColumns(tx, context, row.ref, id, columns);
    await ledger.record(tx, 'texts', row.ref, id, fingerprintOfColumns(columns));
    await shareCollection(tx, id, changedAccounts(ledger, 'members', row.ref, sharees));
    await ledger.record(tx, 'members', row.ref, recordOfAccounts(sharees));
    const items = (row.items ?? []).flatMap((ref) => ledger.find('resource', ref)?.target ?? []);
    await appendFiles(tx, owner, id, [...new Set(items)]);
    await ledger.record(tx, 'collection', row.ref, id, fingerprint);
  });
  reporter.count(known === undefined ? 'collections' : 'collections_changed');
}

/** Imports the collections that people made, with their order, and featured ones under the names of their way from the top. */
export async function importCollections(context: Context, parts: Parts): Promise<void> {
  const { reporter, staging } = context;
  const rows = await staging.query<CollectionRow>(allCollections);
  const byRef = new Map(rows.map((row) => [row.ref, row]));
  const parents = new Set(rows.map(({ parent }) => parent));
  for (const row of rows) {
    if (context.isStopped()) return;
    const isEmpty = (row.items ?? []).length === 0 && row.search === null;
    const isAutomatic = row.type === 0 && isEmpty && /^Default Collection( \d+)?$/.test(row.name ?? '');
    if (!kept.has(row.type ?? 0) || isAutomatic) reporter.count('collections_of_the_system_skipped');
    else if (row.type === FEATURED && isEmpty && parents.has(row.ref)) reporter.count('categories_in_names');
    else await importCollection(context, row, { ...parts, byRef });
  }
}
