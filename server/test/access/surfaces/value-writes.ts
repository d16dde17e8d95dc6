import type { FieldCreate } from '@vitrine/contract/fields';
import { change, define } from '../../fields/define.ts';
import { must } from '../cells.ts';
import {
  type About,
  aboutPortion,
  administersAllPosts,
  administersPosts,
  referredBy,
} from '../described-world.ts';
import {
  type AssetCell,
  answerOf,
  type CollectionCell,
  editsAsset,
  editsCollection,
  readsCollection,
} from '../due.ts';
import { assetAdministrators, type CallerKind } from '../matrix.ts';
import {
  assetDoor,
  changing,
  labelOfAsset,
  labelOfCollection,
  postDoor,
  refusalOf,
  together,
} from '../send-requests.ts';
import { asksAll } from '../setting.ts';

/**
 * Who writes which value (VALUE-2, VALUE-3): callers who may edit the object, read the field and have its
 * write_capability, for an asset also in its team; nobody writes a read-only field (FIELD-16).
 */

interface Written<C> {
  body: Partial<FieldCreate>;
  /** The expected status for callers who may edit the object. */
  due: (who: CallerKind, cell: C) => number;
  after?: { read_only?: true; status?: 'archived' | 'deprecated' };
  value?: (about: About, cell: C) => object;
}

const text = () => ({ value_text: 'x' });
const holdsFor = (who: CallerKind, { team }: AssetCell) => assetAdministrators[team].includes(who);
const holdsEverywhere = (who: CallerKind) => assetAdministrators.none.includes(who);

const ofAssets: Record<string, Written<AssetCell>> = {
  free: { body: {}, due: () => 200 },
  gated: {
    body: { read_capability: 'posts.admin' },
    due: (who, asset) => (administersPosts(who, asset) ? 200 : 404),
  },
  held: {
    body: { write_capability: 'assets.admin' },
    due: (who, asset) => (holdsFor(who, asset) ? 200 : 403),
  },
  'held, gated': {
    body: { write_capability: 'assets.admin', read_capability: 'posts.admin' },
    due: (who, asset) => (administersPosts(who, asset) ? (holdsFor(who, asset) ? 200 : 403) : 404),
  },
  'read-only': { body: {}, after: { read_only: true }, due: () => 403 },
  archived: { body: {}, after: { status: 'archived' }, due: () => 409 },
  'of collections': { body: { subject_kind: 'collection' }, due: () => 404 },
  // For a writer who does not see it, an asset does not exist.
  reference: {
    body: { type: 'reference' },
    value: (about, asset) => ({ value_ref: referredBy(about, asset).id }),
    due: () => 200,
  },
};

const ofCollections: Record<string, Written<CollectionCell>> = {
  free: { body: {}, due: () => 200 },
  gated: {
    body: { read_capability: 'posts.admin' },
    due: (who) => (administersAllPosts(who) ? 200 : 404),
  },
  held: { body: { write_capability: 'assets.admin' }, due: (who) => (holdsEverywhere(who) ? 200 : 403) },
  'read-only': { body: {}, after: { read_only: true }, due: () => 403 },
  'of assets': { body: { subject_kind: 'asset' }, due: () => 404 },
};

/**
 * A third of the fields for callers who may edit objects of this kind, and always the references, because few of them
 * refer to assets that their writer does not see; fewer fields for all others.
 */
const inPart = <T extends { name: string }>(isWriter: boolean, fields: readonly T[], turn: number) =>
  fields.filter(
    ({ name }, index) => (isWriter && name === 'reference') || (index + turn) % (isWriter ? 3 : 12) === 0,
  );

/** Both for callers who may clear the value, one in turns for those who are refused. */
const methodsFor = (cleared: number, turn: number) => ({
  put: asksAll || cleared === 204 || turn % 2 === 0,
  delete: asksAll || cleared === 204 || turn % 2 === 1,
});

type Defined<C> = readonly (Written<C> & { name: string; id: string })[];

async function defineAll<C>(about: About, written: Record<string, Written<C>>, kind: 'asset' | 'collection') {
  const admin = must(about.world.callers.get('system.admin'), 'administrator').visitor;
  const made: (Written<C> & { name: string; id: string })[] = [];
  for (const [name, one] of Object.entries(written)) {
    const { id } = await define(admin, { subject_kind: kind, ...one.body });
    if (one.after !== undefined) await change(admin, id, one.after);
    made.push({ ...one, name, id });
  }
  return made;
}

export const addWrittenOfAssets = (about: About) => defineAll(about, ofAssets, 'asset');
export const addWrittenOfCollections = (about: About) => defineAll(about, ofCollections, 'collection');

export async function writeAssetValues(about: About, fields: Defined<AssetCell>) {
  const { world, ledger, callers } = about;
  const namesWithheld = (asset: AssetCell) =>
    callers.some(
      ({ kind }) => editsAsset(kind, asset) && answerOf(kind, referredBy(about, asset)) === 'withheld',
    );
  const inRotation = world.assets.filter((_, index) => index % 83 === 0);
  const cells = [...new Set([...inRotation, ...world.assets.filter(namesWithheld).slice(0, 4)])];
  const isShownTarget = (who: CallerKind, asset: AssetCell) =>
    answerOf(who, referredBy(about, asset)) === 'shown';
  // Callers take turns at each cell, so that none clears what another has just written.
  await together([...cells.entries()], async ([place, asset]) => {
    for (const [index, caller] of callers.entries()) {
      const who = caller.kind;
      const isWriter = world.assets.some((one) => one.team === asset.team && editsAsset(who, one));
      for (const { name, id, due, value = text } of inPart(isWriter, fields, place + index)) {
        const path = `/assets/${asset.id}/fields/${id}`;
        const done = name === 'reference' && !isShownTarget(who, asset) ? 422 : due(who, asset);
        const reads = answerOf(who, asset) !== 'missing';
        const refusal = refusalOf(caller, assetDoor);
        const wanted = refusal ?? changing(reads, editsAsset(who, asset), done);
        const label = `${caller.name}: ${name} of ${labelOfAsset(asset)}`;
        const { visitor } = caller;
        // Clearing a value that refers to an invisible asset reveals nothing about it.
        const cleared = wanted === 200 || wanted === 422 ? 204 : wanted;
        const asked = methodsFor(cleared, place + index);
        if (asked.put)
          ledger.hold(`${label}: PUT`, await visitor.status('PUT', path, value(about, asset)), wanted);
        if (asked.delete) ledger.hold(`${label}: DELETE`, await visitor.status('DELETE', path), cleared);
      }
    }
  });
}

/** FIELD-23: writing a mirrored column edits the asset, and needs only the right to edit the asset. */
export async function writeMirrored(about: About) {
  const { world, ledger, callers } = about;
  const admin = must(world.callers.get('system.admin'), 'administrator').visitor;
  const { items } = await admin.ok('listFields', { query: {} });
  const title = must(
    items.find(({ mirrors_column }) => mirrors_column === 'title'),
    'title',
  );
  await change(admin, title.id, { write_capability: 'system.config.write' });
  const cells = world.assets.filter((_, index) => index % 83 === 3);
  await together(callers, async (caller) => {
    const who = caller.kind;
    for (const asset of aboutPortion(caller, cells)) {
      const path = `/assets/${asset.id}/fields/${title.id}`;
      const status = await caller.visitor.status('PUT', path, { value_text: 'quokka plover' });
      const due = changing(answerOf(who, asset) !== 'missing', editsAsset(who, asset), 200);
      const wanted = refusalOf(caller, assetDoor) ?? due;
      ledger.hold(`${caller.name}: the title of ${labelOfAsset(asset)} as a field`, status, wanted);
    }
  });
}

export async function writeCollectionValues(about: About, fields: Defined<CollectionCell>) {
  const { world, ledger, callers } = about;
  // Every second one has every visibility and state.
  const shelves = world.collections.filter((_, index) => asksAll || index % 2 === 0);
  await together([...shelves.entries()], async ([place, shelf]) => {
    for (const [index, caller] of callers.entries()) {
      const who = caller.kind;
      const isWriter = world.collections.some((one) => editsCollection(who, one));
      for (const { name, id, due } of inPart(isWriter, fields, place + index)) {
        const path = `/collections/${shelf.id}/fields/${id}`;
        const answer = changing(readsCollection(who, shelf), editsCollection(who, shelf), due(who, shelf));
        const wanted = refusalOf(caller, postDoor) ?? answer;
        const label = `${caller.name}: ${name} of ${labelOfCollection(shelf)}`;
        const { visitor } = caller;
        const cleared = wanted === 200 ? 204 : wanted;
        const asked = methodsFor(cleared, place + index);
        if (asked.put) ledger.hold(`${label}: PUT`, await visitor.status('PUT', path, text()), wanted);
        if (asked.delete) ledger.hold(`${label}: DELETE`, await visitor.status('DELETE', path), cleared);
      }
    }
  });
}
