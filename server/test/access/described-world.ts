import type { FieldCreate, FieldDefinition } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { change, define } from '../fields/define.ts';
import { openLibrary } from '../support/library.ts';
import { must } from './cells.ts';
import { type AssetCell, answerOf, type CollectionCell } from './due.ts';
import { openLedger } from './ledger.ts';
import { type CallerKind, callerKinds, postAdministrators, shownEverything } from './matrix.ts';
import { addOthers } from './others.ts';
import { asksAll, type Matrix, ownPart, POOL, setSwitches, usual } from './setting.ts';
import { type Caller, disguiseNames, makeWorld } from './world.ts';

/**
 * The second part of the matrix: the same world with texts, fields, tags, requests and notifications. Each kind of text
 * has its own word in every row, so that one query covers all rows.
 */

export type Rule = (who: CallerKind, asset: AssetCell) => boolean;

export const isShown: Rule = (who, asset) => answerOf(who, asset) === 'shown';

/** Capability held everywhere or in the asset's team; ownership does not count (VALUE-8). */
export const readsAll: Rule = (who, { team }) => [...shownEverything[team], 'system.admin'].includes(who);
export const administersPosts: Rule = (who, { team }) => postAdministrators[team].includes(who);
/** The same for objects without a team, where a capability held in a team has no effect. */
const readsAllEverywhere = (who: CallerKind) => [...shownEverything.none, 'system.admin'].includes(who);
export const administersAllPosts = (who: CallerKind) => postAdministrators.none.includes(who);

export const both =
  (one: Rule, other: Rule): Rule =>
  (who, asset) =>
    one(who, asset) && other(who, asset);

/** Fields of assets: who may read their values on visible assets, and the word that all their values contain. */
export const assetFields = {
  plain: { body: { applies_to: [1] }, word: 'dugong', reads: () => true },
  /** Requires a capability everywhere or in the team. */
  global: { body: { read_capability: 'content.read.all' }, word: 'sealed ocelot plover', reads: readsAll },
  team: { body: { read_capability: 'posts.admin' }, word: 'margay bilby', reads: administersPosts },
  archived: { body: {}, word: 'kakapo wombat', reads: () => false },
  archivedChoice: { body: choosing('moa'), word: 'moa', reads: () => false },
  archivedGated: { body: { read_capability: 'posts.admin' }, word: 'hihi', reads: () => false },
  /** Values are read and filtered by, but not searched. */
  unsearched: { body: { searchable: false }, word: 'brolga bilby', reads: () => true },
  /** Values of a deprecated field are still shown and found, but no filter may name it (FIELD-7, VALUE-25). */
  deprecated: { body: {}, word: 'weka', reads: () => true },
  choice: { body: choosing('tui'), word: 'tui', reads: () => true },
  gatedChoice: {
    body: { ...choosing('kea'), read_capability: 'posts.admin' },
    word: 'kea',
    reads: administersPosts,
  },
  onCard: { body: {}, word: 'takahe', reads: () => true },
  onceOnCard: { body: {}, word: 'huia', reads: () => true },
  /** Applies to other types of asset, so stored values no longer count. */
  elsewhere: { body: { applies_to: [2] }, word: 'kokako wombat', reads: () => false },
  elsewhereChoice: { body: { ...choosing('kaka'), applies_to: [2] }, word: 'kaka', reads: () => false },
} as const satisfies Record<string, { body: Partial<FieldCreate>; word: string; reads: Rule }>;
export type AssetField = keyof typeof assetFields;

export const collectionFields = {
  plain: { body: {}, word: 'lorikeet', reads: () => true },
  global: { body: { read_capability: 'content.read.all' }, word: 'cassowary', reads: readsAllEverywhere },
  gated: { body: { read_capability: 'posts.admin' }, word: 'galah', reads: administersAllPosts },
  archived: { body: {}, word: 'dodo', reads: () => false },
} as const satisfies Record<
  string,
  { body: Partial<FieldCreate>; word: string; reads: (who: CallerKind) => boolean }
>;
type CollectionField = keyof typeof collectionFields;

function choosing(value: string): Partial<FieldCreate> {
  return { type: 'select', options: { values: [{ value, label: value }] } };
}

export interface About extends Matrix {
  callers: readonly Caller[];
  fields: Readonly<Record<AssetField | 'reference' | 'cardReference' | 'vocabulary', FieldDefinition>>;
  shelfFields: Readonly<Record<CollectionField | 'reference', FieldDefinition>>;
}

const keysOf = <K extends string>(record: Record<K, unknown>): K[] => {
  const keys: K[] = [];
  for (const key in record) keys.push(key);
  return keys;
};
export const assetFieldNames = keysOf(assetFields);
export const collectionFieldNames = keysOf(collectionFields);

/** The own part of each kind of caller, a quarter for disguised callers and those with additional rights. */
export function aboutPortion<T>(caller: Caller, cells: readonly T[]): readonly T[] {
  return caller.name === caller.kind ? ownPart(caller, cells) : cells.filter((_, index) => index % 4 === 0);
}

/**
 * Whether a caller sends this query to a list. Kinds of callers alternate and send half of the queries; disguised callers
 * and those with additional rights, who get the responses of their kind, send a sixth.
 */
export const isAsked = ({ name, kind }: Caller, caller: number, question: number) =>
  asksAll || (caller + question) % (name === kind ? 2 : 6) === 0;

/** A step that visits every index of a list of this length before repeating one. */
const strideOf = (length: number) =>
  must(
    [7, 11, 13, 17].find((step) => length % step !== 0),
    'stride',
  );

/** The asset in an asset's field `reference`: each is referred to once, whatever the states of both. */
export function referredBy({ world }: Matrix, asset: AssetCell): AssetCell {
  const { length } = world.assets;
  const place = world.assets.indexOf(asset);
  return must(world.assets[(place * strideOf(length) + 3) % length], 'referred asset');
}

/** The asset that a collection refers to. */
export function referredByShelf({ world }: Matrix, shelf: CollectionCell): AssetCell {
  const place = world.collections.indexOf(shelf);
  return must(world.assets[(place * 31 + 5) % world.assets.length], 'referred asset');
}

/** Whether a reader of the asset sees what it refers to. */
export const isToldReference = (matrix: Matrix, who: CallerKind, asset: AssetCell) =>
  isShown(who, asset) && isShown(who, referredBy(matrix, asset));

async function addAssetFields(admin: Caller): Promise<About['fields']> {
  const made: Partial<Record<AssetField, FieldDefinition>> = {};
  for (const name of assetFieldNames) made[name] = await define(admin.visitor, assetFields[name].body);
  const of = (name: AssetField) => must(made[name], name);
  await change(admin.visitor, of('onCard').id, { show_on_card: true });
  await change(admin.visitor, of('onceOnCard').id, { show_on_card: true });
  await change(admin.visitor, of('elsewhere').id, { show_on_card: true });
  const cardReference = await define(admin.visitor, { type: 'reference' });
  await change(admin.visitor, cardReference.id, { show_on_card: true });
  return {
    plain: of('plain'),
    global: of('global'),
    team: of('team'),
    archived: of('archived'),
    archivedGated: of('archivedGated'),
    archivedChoice: of('archivedChoice'),
    unsearched: of('unsearched'),
    elsewhereChoice: of('elsewhereChoice'),
    deprecated: of('deprecated'),
    choice: of('choice'),
    gatedChoice: of('gatedChoice'),
    onCard: of('onCard'),
    onceOnCard: of('onceOnCard'),
    elsewhere: of('elsewhere'),
    reference: await define(admin.visitor, { type: 'reference' }),
    cardReference,
    vocabulary: await define(admin.visitor, { type: 'multi_select', open_vocabulary: true }),
  };
}

async function addCollectionFields(admin: Caller): Promise<About['shelfFields']> {
  const shelf = { subject_kind: 'collection' } as const;
  const make = (name: CollectionField) => define(admin.visitor, { ...shelf, ...collectionFields[name].body });
  return {
    plain: await make('plain'),
    global: await make('global'),
    gated: await make('gated'),
    archived: await make('archived'),
    reference: await define(admin.visitor, { ...shelf, type: 'reference' }),
  };
}

/** Writes a value of every field in every row, and a change of each to its history. */
async function addValues(about: About): Promise<void> {
  const { world, fields, shelfFields } = about;
  const { db } = world.library.deps;
  const ids = (named: readonly { id: string }[]) => named.map(({ id }) => id);
  const words = sql`unnest(${assetFieldNames.map((name) => fields[name].id)}::uuid[],
    ${assetFieldNames.map((name) => assetFields[name].word)}::text[]) as word (field, word)`;
  const targets = world.assets.map((asset) => referredBy(about, asset));
  const references = sql`unnest(${ids(world.assets)}::uuid[], ${ids(targets)}::uuid[]) as pair (asset, target)
    cross join unnest(${[fields.reference.id, fields.cardReference.id]}::uuid[]) as field`;
  // In one statement, which updates the search documents once.
  await sql`insert into asset_field_values (asset_id, field_id, value_text, value_ref, set_by)
    select a.id, word.field, word.word, null, 'manual' from assets a cross join ${words}
    union all select pair.asset, field, null, pair.target, 'manual' from ${references}`.execute(db);
  await sql`insert into field_value_history (subject_kind, subject_id, field_id, after, set_by)
    select 'asset', a.id, word.field, jsonb_build_object('value_text', word.word), 'manual' from assets a cross join ${words}
    union all select 'asset', pair.asset, field, jsonb_build_object('value_ref', pair.target), 'manual' from ${references}
    where field = ${fields.reference.id}
    union all select 'asset', pair.asset, field, null, 'manual' from ${references} where field = ${fields.reference.id}`.execute(
    db,
  );
  // Former references are shown only to callers who see the asset referred to.
  await sql`update field_value_history h set before = jsonb_build_object('value_ref', pair.target)
    from ${references} where h.after is null and h.subject_id = pair.asset and h.field_id = field`.execute(
    db,
  );
  const shelfWords = sql`unnest(${collectionFieldNames.map((name) => shelfFields[name].id)}::uuid[],
    ${collectionFieldNames.map((name) => collectionFields[name].word)}::text[]) as word (field, word)`;
  const shelfTargets = world.collections.map((shelf) => referredByShelf(about, shelf));
  await sql`insert into collection_field_values (collection_id, field_id, value_text, value_ref, set_by)
    select c.id, word.field, word.word, null, 'manual' from collections c cross join ${shelfWords}
    union all select pair.shelf, ${shelfFields.reference.id}::uuid, null, pair.target, 'manual'
      from unnest(${ids(world.collections)}::uuid[], ${ids(shelfTargets)}::uuid[]) as pair (shelf, target)`.execute(
    db,
  );
  await sql`insert into field_value_history (subject_kind, subject_id, field_id, after, set_by)
    select 'collection', c.id, word.field, jsonb_build_object('value_text', word.word), 'manual'
    from collections c cross join ${shelfWords}`.execute(db);
}

async function addWords({ world }: Matrix): Promise<void> {
  const { db } = world.library.deps;
  await sql`update assets set title = 'quokka plover', description = 'bilby', file_name = 'numbat quokka.jpg'`.execute(
    db,
  );
  await sql`insert into asset_tags (asset_id, value, source) select id, 'wombat', 'manual' from assets`.execute(
    db,
  );
  await sql`update posts set title = 'heron post', description = 'egret' where tags && '{sample,gallery}'`.execute(
    db,
  );
  await sql`update collections set name = 'avocet shelf'`.execute(db);
}

/** Opens the world with all of this, with public mode on and its pictures encoded by this encoder. */
export async function openAbout(encoder: string): Promise<About> {
  const library = await openLibrary({ VITRINE_ENCODER_URL: encoder }, { connections: POOL });
  const world = await makeWorld(library);
  const matrix = { world, ledger: openLedger() };
  const admin = must(world.callers.get('system.admin'), 'administrator');
  const callers = [...callerKinds, ...disguiseNames].map((name) => must(world.callers.get(name), name));
  await addWords(matrix);
  const about = {
    ...matrix,
    callers: [...callers, ...(await addOthers(library, world))],
    fields: await addAssetFields(admin),
    shelfFields: await addCollectionFields(admin),
  };
  const { archived, archivedChoice, archivedGated, onceOnCard, deprecated } = about.fields;
  const close = async (status: 'archived' | 'deprecated', ...closed: readonly { id: string }[]) => {
    for (const { id } of closed) await change(admin.visitor, id, { status });
  };
  // Some with values and some without, because a change of a field renews the search documents of all its values.
  await close('archived', archivedChoice, archivedGated, about.shelfFields.archived);
  await close('deprecated', deprecated);
  await addValues(about);
  await close('archived', archived);
  await close('deprecated', onceOnCard);
  await setSwitches(matrix, usual);
  await sql`vacuum analyze`.execute(library.deps.db);
  return about;
}
