import type { FieldCreate, FieldDefinition } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { change, define } from '../fields/define.ts';
import { openLibrary } from '../support/library.ts';
import { must } from './cells.ts';
import { type AssetCell, answerOf, type CollectionCell } from './due.ts';
import { openLedger } from './ledger.ts';
import { type CallerKind, callerKinds, postAdministrators, shownEverything } from './matrix.ts';
import { addOthers } from './others.ts';
import { type Matrix, setSwitches, third, usual } from './setting.ts';
import { type Caller, disguiseNames, makeWorld } from './world.ts';

/**
 * The second third of the matrix: the same world, and what is said about it in words, fields, tags, requests and news.
 * Each kind of text has a word of its own, in every row, so that one question asks for all rows at once.
 */

export type Rule = (who: CallerKind, asset: AssetCell) => boolean;

export const isShown: Rule = (who, asset) => answerOf(who, asset) === 'shown';

/** Held everywhere, or for the asset's team; never because an asset is one's own (VALUE-8). */
export const readsAll: Rule = (who, { team }) => [...shownEverything[team], 'system.admin'].includes(who);
export const administersPosts: Rule = (who, { team }) => postAdministrators[team].includes(who);
/** The same of a thing without a team: a capability held in a team counts for nothing there. */
const readsAllEverywhere = (who: CallerKind) => [...shownEverything.none, 'system.admin'].includes(who);
export const administersAllPosts = (who: CallerKind) => postAdministrators.none.includes(who);

export const both =
  (one: Rule, other: Rule): Rule =>
  (who, asset) =>
    one(who, asset) && other(who, asset);

/** Fields of assets: who may read their values where the asset is shown, and the word that stands in all of them. */
export const assetFields = {
  plain: { body: { applies_to: [1] }, word: 'dugong', reads: () => true },
  /** Held everywhere or in a team. */
  global: { body: { read_capability: 'content.read.all' }, word: 'sealed ocelot plover', reads: readsAll },
  team: { body: { read_capability: 'posts.admin' }, word: 'margay bilby', reads: administersPosts },
  archived: { body: {}, word: 'kakapo wombat', reads: () => false },
  archivedChoice: { body: choosing('moa'), word: 'moa', reads: () => false },
  archivedGated: { body: { read_capability: 'posts.admin' }, word: 'hihi', reads: () => false },
  /** Read, filtered by, and no word of any search. */
  unsearched: { body: { searchable: false }, word: 'brolga bilby', reads: () => true },
  /** A deprecated field's values are shown still, and found; no filter names it (FIELD-7, VALUE-25). */
  deprecated: { body: {}, word: 'weka', reads: () => true },
  choice: { body: choosing('tui'), word: 'tui', reads: () => true },
  gatedChoice: {
    body: { ...choosing('kea'), read_capability: 'posts.admin' },
    word: 'kea',
    reads: administersPosts,
  },
  onCard: { body: {}, word: 'takahe', reads: () => true },
  onceOnCard: { body: {}, word: 'huia', reads: () => true },
  /** Of other types of asset; whatever stands there from before is no value any more. */
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

/** Half of everything for the callerKinds, a part for those in disguise and those with a right of another kind. */
export function aboutPortion<T>(caller: Caller, cells: readonly T[]): readonly T[] {
  return caller.name === caller.kind ? third(caller, cells) : cells.filter((_, index) => index % 4 === 0);
}

/**
 * Whether a caller asks this question of a list. Every kind of caller asks all of them; those in disguise and those with
 * a right of another kind, whose answers are those of a kind, ask a third in turns.
 */
export const isAsked = ({ name, kind }: Caller, caller: number, question: number) =>
  name === kind || (caller + question) % 3 === 0;

/** A step that meets every place of a list of this length before it comes round. */
const strideOf = (length: number) =>
  must(
    [7, 11, 13, 17].find((step) => length % step !== 0),
    'stride',
  );

/** Which asset an asset names in its field `reference`: each is named once, whatever state the two are in. */
export function referredBy({ world }: Matrix, asset: AssetCell): AssetCell {
  const { length } = world.assets;
  const place = world.assets.indexOf(asset);
  return must(world.assets[(place * strideOf(length) + 3) % length], 'referred asset');
}

/** The asset a collection names. */
export function referredByShelf({ world }: Matrix, shelf: CollectionCell): AssetCell {
  const place = world.collections.indexOf(shelf);
  return must(world.assets[(place * 31 + 5) % world.assets.length], 'referred asset');
}

/** Whether somebody in an asset's place would be told what it refers to. */
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

/** A value of every field in every row, and a change of each in its history. */
async function addValues(about: About): Promise<void> {
  const { world, fields, shelfFields } = about;
  const { db } = world.library.deps;
  const ids = (named: readonly { id: string }[]) => named.map(({ id }) => id);
  const words = sql`unnest(${assetFieldNames.map((name) => fields[name].id)}::uuid[],
    ${assetFieldNames.map((name) => assetFields[name].word)}::text[]) as word (field, word)`;
  const targets = world.assets.map((asset) => referredBy(about, asset));
  const references = sql`unnest(${ids(world.assets)}::uuid[], ${ids(targets)}::uuid[]) as pair (asset, target)
    cross join unnest(${[fields.reference.id, fields.cardReference.id]}::uuid[]) as field`;
  // In one statement, which writes the documents anew once.
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
  // What was named once and is no more: told only to who is shown it.
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

/** The world with all of this in it, public mode on, its pictures known to this encoder. */
export async function openAbout(encoder: string): Promise<About> {
  const library = await openLibrary({ VITRINE_ENCODER_URL: encoder });
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
  await addValues(about);
  const { archived, archivedChoice, archivedGated, onceOnCard, deprecated } = about.fields;
  for (const { id } of [archived, archivedChoice, archivedGated, about.shelfFields.archived])
    await change(admin.visitor, id, { status: 'archived' });
  for (const { id } of [deprecated, onceOnCard]) await change(admin.visitor, id, { status: 'deprecated' });
  await setSwitches(matrix, usual);
  await sql`analyze`.execute(library.deps.db);
  return about;
}
