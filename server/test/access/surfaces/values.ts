import type { FieldValue, ValueChange } from '@vitrine/contract/field-values';
import {
  type About,
  type AssetField,
  aboutPortion,
  assetFieldNames,
  assetFields,
  collectionFieldNames,
  collectionFields,
  isAsked,
  isShown,
  isToldReference,
  referredBy,
  referredByShelf,
} from '../described-world.ts';
import { type AssetCell, answerOf, isServed, readsCollection } from '../due.ts';
import {
  accountDoor,
  labelOfAsset,
  labelOfCollection,
  readDoor,
  refusalOf,
  together,
} from '../send-requests.ts';
import { usual } from '../setting.ts';
import { holdsSomewhere } from './definitions.ts';
import { holdSet } from './search.ts';

/** Values of fields, their history, and filters by them (VALUE-8, VALUE-13). */

const wordsIn = (text: string, words: readonly string[]) =>
  words.filter((word) => text.includes(word)).join();

export async function lookAtAssetValues(about: About) {
  const { world, ledger, callers, fields } = about;
  // In addition: a visible asset that refers to one whose columns are visible and whose bytes are withheld.
  const isPicture = (asset: AssetCell) => isShown('content.read.all', asset);
  const cells = world.assets.filter((asset, index) => {
    const target = referredBy(about, asset);
    return index % 17 === 0 || (isPicture(asset) && isPicture(target) && target.mature);
  });
  const allWords = assetFieldNames.map((name) => assetFields[name].word);
  await together(callers, async (caller) => {
    const who = caller.kind;
    const refusal = refusalOf(caller, readDoor);
    for (const asset of aboutPortion(caller, cells)) {
      const { status, text } = await caller.visitor.send(`/assets/${asset.id}/fields`);
      const answer = answerOf(who, asset);
      const label = `${caller.name}: values of ${labelOfAsset(asset)}`;
      ledger.hold(`${label}: status`, status, refusal ?? (answer === 'missing' ? 404 : 200));
      if (status !== 200) continue;
      const read = assetFieldNames.filter(
        (name) => answer === 'shown' && assetFields[name].reads(who, asset),
      );
      const due = read.map((name) => assetFields[name].word);
      ledger.hold(label, wordsIn(text, allWords), due.join());
      const { items }: { items: FieldValue[] } = JSON.parse(text);
      const told = items.find(({ field_id }) => field_id === fields.reference.id);
      const target = referredBy(about, asset);
      const served = isServed(who, target, usual) && target.rendered !== 'nothing';
      const dueReference = isToldReference(about, who, asset) ? `${target.id} ${served}` : 'none';
      const got =
        told === undefined ? 'none' : `${told.value_ref} ${told.resolved_reference?.preview_available}`;
      ledger.hold(`${label}: what it refers to`, got, dueReference);
    }
  });
}

export async function lookAtAssetHistory(about: About) {
  const { world, ledger, callers, fields } = about;
  // In addition: some that are withheld from most callers.
  const withheld = world.assets.filter((asset) => answerOf('stranger', asset) === 'withheld');
  const cells = [...world.assets.filter((_, index) => index % 73 === 0), ...withheld.slice(0, 4)];
  const histories = (['plain', 'global', 'team', 'archived', 'elsewhere'] as const).map((name) => ({
    field: fields[name],
    reads: assetFields[name].reads,
    /** A field of other asset types is known here, but has no value and shows no history. */
    isKnown: name === 'elsewhere',
  }));
  await together([...callers.entries()], async ([place, caller]) => {
    const who = caller.kind;
    const refusal = refusalOf(caller, accountDoor);
    for (const [turn, asset] of aboutPortion(caller, cells).entries()) {
      const answer = answerOf(who, asset);
      const look = async (id: string, reads: boolean, changes: number) => {
        const { status, text } = await caller.visitor.send(`/assets/${asset.id}/fields/${id}/history`);
        const label = `${caller.name}: history of ${labelOfAsset(asset)}`;
        // For an asset with withheld columns, all fields respond alike.
        const due = answer === 'missing' ? 404 : answer === 'withheld' || reads ? 200 : 404;
        ledger.hold(`${label}: status`, status, refusal ?? due);
        if (status !== 200) return;
        const { items }: { items: ValueChange[] } = JSON.parse(text);
        ledger.hold(label, items.length, answer === 'shown' ? changes : 0);
      };
      for (const { field, reads, isKnown } of histories.filter(
        (_, index) => (index + turn + place) % 2 === 0,
      ))
        await look(field.id, isKnown || reads(who, asset), isKnown ? 0 : 1);
      await look(fields.reference.id, true, isToldReference(about, who, asset) ? 2 : 0);
    }
  });
}

export async function lookAtFilters(about: About) {
  const { world, ledger, callers, fields, shelfFields } = about;
  const named = [
    'plain',
    'global',
    'team',
    'archived',
    'choice',
    'gatedChoice',
    'deprecated',
    'elsewhere',
  ] as const;
  const gates: Partial<Record<AssetField, string>> = {
    global: 'content.read.all',
    team: 'posts.admin',
    gatedChoice: 'posts.admin',
  };
  const found = [
    ...named.map((name) => ({
      filter: `field:${fields[name].code}=${assetFields[name].word}`,
      reads: assetFields[name].reads,
      // Filters cannot name deprecated or archived fields.
      isActive: name !== 'deprecated' && name !== 'archived',
      gate: gates[name],
    })),
    {
      filter: `field:${shelfFields.plain.code}=${collectionFields.plain.word}`,
      reads: () => false,
      isActive: false,
      gate: undefined,
    },
  ];
  const references = world.assets.filter((_, index) => index % 59 === 0);
  await together([...callers.entries()], async ([place, caller]) => {
    const who = caller.kind;
    const refusal = refusalOf(caller, readDoor);
    const ask = (filter: string, at: string) =>
      caller.visitor.send(`${at}?limit=200&filter=${encodeURIComponent(filter)}`);
    for (const [index, { filter, reads, isActive, gate }] of found.entries()) {
      if (!isAsked(caller, place, index)) continue;
      const due = world.assets.filter((asset) => isShown(who, asset) && reads(who, asset));
      const { status, text } = await ask(filter, '/assets');
      const label = `${caller.name}: /assets?filter=${filter}`;
      // A field that the caller may filter by nowhere does not exist for them.
      const isThere = isActive && (gate === undefined || holdsSomewhere(gate, who));
      ledger.hold(`${label}: status`, status, refusal ?? (isThere ? 200 : 400));
      if (status !== 200) continue;
      const { items }: { items: { id: string }[] } = JSON.parse(text);
      const wanted = new Set(due.map(({ id }) => id));
      ledger.hold(`${label}: how many`, items.length, Math.min(due.length, 200));
      ledger.hold(`${label}: only these`, items.filter(({ id }) => !wanted.has(id)).length, 0);
      const counted: { total: number } = JSON.parse((await ask(filter, '/search')).text);
      ledger.hold(`${label}: total of /search`, counted.total, due.length);
    }
    if (refusal !== null) return;
    for (const asset of aboutPortion(caller, references)) {
      const { text } = await ask(`field:${fields.reference.code}=${referredBy(about, asset).id}`, '/assets');
      const { items }: { items: { id: string }[] } = JSON.parse(text);
      const ids = items.map(({ id }) => id);
      const due = isToldReference(about, who, asset) ? [asset.id] : [];
      holdSet(about, `${caller.name}: filter by a reference of ${labelOfAsset(asset)}`, ids, due);
    }
  });
}

/** Collections: a capability held in a team has no effect. */
export async function lookAtCollectionValues(about: About) {
  const { world, ledger, callers, shelfFields } = about;
  const allWords = collectionFieldNames.map((name) => collectionFields[name].word);
  await together(callers, async (caller) => {
    const who = caller.kind;
    for (const [turn, shelf] of aboutPortion(caller, world.collections).entries()) {
      const label = `${caller.name}: values of ${labelOfCollection(shelf)}`;
      const isOpen = readsCollection(who, shelf);
      const { status, text } = await caller.visitor.send(`/collections/${shelf.id}/fields`);
      const refusal = refusalOf(caller, readDoor);
      ledger.hold(`${label}: status`, status, refusal ?? (isOpen ? 200 : 404));
      if (status === 200) {
        const read = collectionFieldNames.filter((name) => collectionFields[name].reads(who));
        ledger.hold(label, wordsIn(text, allWords), read.map((name) => collectionFields[name].word).join());
        const target = referredByShelf(about, shelf);
        ledger.hold(`${label}: what it refers to`, text.includes(target.id), isShown(who, target));
      }
      for (const name of collectionFieldNames.filter((_, index) => (index + turn) % 4 === 0)) {
        const path = `/collections/${shelf.id}/fields/${shelfFields[name].id}/history`;
        const past = await caller.visitor.send(path);
        const due = isOpen && collectionFields[name].reads(who) ? 200 : 404;
        ledger.hold(`${label}: history of ${name}`, past.status, refusalOf(caller, accountDoor) ?? due);
        if (past.status !== 200) continue;
        ledger.hold(`${label}: history of ${name}`, past.text.includes(collectionFields[name].word), true);
      }
    }
  });
}
