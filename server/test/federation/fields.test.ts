import type { PeerFieldDecision } from '@vitrine/contract/federated-fields';
import { fieldTypes } from '@vitrine/contract/field-types';
import type { FieldCreate } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { optionsFor, samplesFor } from '../fields/values/samples.ts';
import type { Visitor } from '../support/client.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import {
  type Install,
  keepFederation,
  memberOf,
  openPair,
  rejectionsAt,
  rowsOf,
  settle,
} from './installs.ts';

const shot = { code: 'shot', label: 'Shot', type: 'text' } as const;
const stage = {
  code: 'stage',
  label: 'Stage',
  type: 'select',
  options: { values: [{ value: 'wip', label: 'In progress' }, 'final'] },
} as const;
const reel = { code: 'reel', label: 'Reel', type: 'text' } as const;
const phase = { ...stage, code: 'phase', label: 'Phase' } as const;
const kit = { code: 'lens_kit', label: 'Lens kit', type: 'text' } as const;

async function fieldOf({ root }: Install, code: string) {
  const { items } = await root.ok('listFields', { query: { limit: 200 } });
  return items.find((field) => field.code === code);
}

/** Writes a value of the shared file, by the code of its field. */
async function write(code: string, body: Record<string, unknown>): Promise<void> {
  const params = { id: asset, field_id: (await fieldOf(harbour, code))?.id ?? '' };
  await harbour.root.ok('setAssetFieldValue', { params, body });
}

/** The values of the mirrored file as an account sees them, by code. */
async function values(account: Visitor = studio.root) {
  const { items } = await account.ok('listAssetFieldValues', { params: { id: mirror } });
  const written = items.filter(({ set_by }) => set_by !== 'mirror');
  return Object.fromEntries(
    written.map((value) => [value.field_code, value.value_text ?? value.value_num ?? value.value_options]),
  );
}

const { harbour, studio, peerOfOne, peerOfOther } = await openPair();
const bob = await studio.join('bob');
const add = ({ root }: Install, body: FieldCreate) => root.ok('createField', { body });
for (const body of [shot, stage, reel, phase, kit]) await add(harbour, body);
await add(harbour, { code: 'fee', label: 'Fee', type: 'number', read_capability: 'users.pii.read' });
await add(harbour, { code: 'crew', label: 'Crew', type: 'multi_select', open_vocabulary: true });
const take = await add(harbour, {
  code: 'take',
  label: 'Take',
  type: 'number',
  options: { integer: true, min: 1 },
  default_value: { kind: 'literal', value_num: 1 },
});
const display = {
  show_on_card: true,
  show_on_upload: false,
  show_in_advanced_search: false,
  edit_tab: 'Shooting',
  display_condition: ['stage=wip'],
};
const shown = { ...display, read_only: true };
await harbour.root.ok('updateField', { params: { id: take.id }, body: shown });
for (const body of [shot, stage]) await add(studio, body);
await add(studio, { ...reel, type: 'number' });
await add(studio, { ...phase, options: { values: [{ value: 'wip', label: 'Work print' }, 'archive'] } });
await add(studio, { code: 'slate', label: 'Slate', type: 'longtext' });
const file = await upload(harbour.root, plainFile('quay'), { title: 'Quay', sensitivity: 'posts' });
const asset = file.id;
await write('shot', { value_text: 'SH010 lighthouse' });
await write('stage', { value_text: 'wip' });
await write('reel', { value_text: 'R7' });
await write('phase', { value_text: 'wip' });
await write('lens_kit', { value_text: 'Primes' });
await write('fee', { value_num: 900 });
await write('crew', { value_options: ['Ann Lee', 'Bo'] });
const post = (await publish(harbour.root, [file], { title: 'Quay' })).id;
await harbour.root.ok('putPostPeer', { params: { id: post, peer_id: peerOfOne }, body: {} });
await settle(harbour, studio);
const mirror = await memberOf(bob, 'Quay');

describe('values of a shared asset', () => {
  // FED-60, FED-61, FED-62
  test('arrive with it where the field means the same, are shown and found there, and cannot be changed', async () => {
    expect(await rejectionsAt(studio)).toEqual([]);
    expect(await values(bob)).toEqual({ shot: 'SH010 lighthouse', stage: 'wip' });
    const found = await bob.ok('search', { query: { q: 'lighthouse' } });
    expect(found.items.map((hit) => (hit.kind === 'asset' ? hit.asset.id : hit.kind))).toContain(mirror);
    const filtered = await bob.ok('listAssets', { query: { filter: ['field:stage=wip'] } });
    expect(filtered.items.map(({ id }) => id)).toEqual([mirror]);
    const field = await fieldOf(studio, 'shot');
    const path = `/assets/${mirror}/fields/${field?.id}`;
    expect(await studio.root.status('PUT', path, { value_text: 'ours' })).toBe(403);
    // Nor is a field created for a code that is unknown here.
    expect(await fieldOf(studio, 'lens_kit')).toBeUndefined();
  });

  // FED-60
  test('do not include those of fields that not everyone may read', async () => {
    const received = sql`select code from federated_values
      union select code from federation_fields order by code`;
    const sent = ['crew', 'lens_kit', 'phase', 'reel', 'shot', 'stage', 'take'];
    expect(await rowsOf(studio, received)).toEqual(sent.map((code) => ({ code })));
  });

  // FED-60
  test('follow changes at the origin, also when a field is closed to most people', async () => {
    await write('stage', { value_text: 'final' });
    await settle(harbour, studio);
    expect(await values()).toEqual({ shot: 'SH010 lighthouse', stage: 'final' });
    const params = { id: (await fieldOf(harbour, 'shot'))?.id ?? '' };
    await harbour.root.ok('updateField', { params, body: { read_capability: 'users.pii.read' } });
    await settle(harbour, studio);
    expect(await values()).toEqual({ stage: 'final' });
  });

  // FED-62
  test('are used once a field with the same meaning exists here', async () => {
    await studio.root.ok('createField', { body: { ...kit, label: 'Lenses' } });
    await keepFederation(studio);
    expect(await values()).toEqual({ stage: 'final', lens_kit: 'Primes' });
  });
});

// FED-63
describe('the operator', () => {
  const offers = async () => (await studio.root.ok('listPeerFields', { params: { id: peerOfOther } })).items;
  const offer = async (code: string) => (await offers()).find((one) => one.code === code);
  const decide = async (code: string, body: PeerFieldDecision) => {
    const params = { id: peerOfOther, code };
    const decided = await studio.root.ok('decidePeerField', { params, body });
    await studio.runJobs();
    return decided;
  };

  // FED-61
  test('sees in which properties the fields of a peer differ', async () => {
    const states = (await offers()).map(({ code, state }) => `${code} ${state}`);
    expect(states).toEqual(
      expect.arrayContaining(['crew new', 'phase differs', 'reel differs', 'stage same', 'take new']),
    );
    expect(await offer('reel')).toMatchObject({
      value_count: 1,
      unused_count: 1,
      differences: [{ property: 'field_type', ours: 'number', theirs: 'text', decisive: true }],
    });
    expect((await offer('phase'))?.differences).toEqual([
      { property: 'terms of one library only', ours: 'archive', theirs: 'final', decisive: true },
      {
        property: 'terms with another name or place',
        ours: 'wip (Work print)',
        theirs: 'wip (In progress)',
        decisive: true,
      },
    ]);
  });

  // FED-60
  test('adopts an unknown field with all that concerns its meaning and display, and nothing local', async () => {
    expect(await decide('take', { decision: 'adopt' })).toMatchObject({ state: 'adopted', differences: [] });
    expect(await fieldOf(studio, 'take')).toMatchObject({
      label: 'Take',
      type: 'number',
      options: { integer: true, min: 1 },
      ...display,
      default_value: { kind: 'literal', value_num: 1 },
      read_only: false,
    });
    await decide('crew', { decision: 'adopt' });
    expect(await values()).toMatchObject({ take: 1, crew: ['ann-lee', 'bo'] });
    expect(await offer('crew')).toMatchObject({ unused_count: 0 });
  });

  test('maps a field to one with another code, or adopts it under a new code', async () => {
    const params = { id: peerOfOther, code: 'reel' };
    const refused = (decision: 'map' | 'adopt') =>
      studio.root.refused('decidePeerField', { params, body: { decision } });
    const error = 'a field of type number does not accept values of type text';
    expect(await refused('map')).toEqual({ status: 409, error });
    expect(await refused('adopt')).toMatchObject({ status: 409 });
    const slate = await fieldOf(studio, 'slate');
    await decide('reel', { decision: 'map', field_id: slate?.id ?? '' });
    expect(await values()).toMatchObject({ slate: 'R7' });
    await decide('reel', { decision: 'adopt', code: 'harbour_reel' });
    const now = await values();
    expect(now).toMatchObject({ harbour_reel: 'R7' });
    expect(now).not.toHaveProperty('slate');
  });

  test('adopts a vocabulary without losing terms of this library, ignores a field, and takes decisions back', async () => {
    await decide('phase', { decision: 'adopt' });
    const terms = [{ value: 'wip', label: 'In progress' }, 'final', 'archive'];
    expect((await fieldOf(studio, 'phase'))?.options.values).toEqual(terms);
    expect(await values()).toMatchObject({ phase: 'wip' });
    await decide('phase', { decision: 'ignore' });
    expect(await values()).not.toHaveProperty('phase');
    await studio.root.ok('resetPeerField', { params: { id: peerOfOther, code: 'phase' } });
    await studio.runJobs();
    expect(await offer('phase')).toMatchObject({ state: 'same' });
    expect(await values()).toMatchObject({ phase: 'wip' });
    const { items } = await studio.root.ok('listAudit', { query: { limit: 100 } });
    const events = items.map(({ event }) => event).filter((event) => event.startsWith('federation.field.'));
    const decisions = ['adopted', 'adopted', 'mapped', 'adopted', 'adopted', 'ignored', 'reset'];
    expect(events.toReversed()).toEqual(decisions.map((decision) => `federation.field.${decision}`));
  });

  test('needs the right to configure fields', async () => {
    const path = `/admin/peers/${peerOfOther}/fields`;
    expect(await bob.status('GET', path)).toBe(403);
    expect(await bob.status('PUT', `${path}/stage`, { decision: 'ignore' })).toBe(403);
  });
});

// FED-1, FED-60
test('a reference is sent only to peers that are given what it refers to', async () => {
  await harbour.root.ok('createField', { body: { code: 'variant', label: 'Variant', type: 'reference' } });
  const hidden = await upload(harbour.root, plainFile('hidden'), { sensitivity: 'posts' });
  const given = await upload(harbour.root, plainFile('given'), { sensitivity: 'posts' });
  const received = async () => {
    await settle(harbour, studio);
    return rowsOf(studio, sql`select value from federated_values where code = 'variant'`);
  };
  await write('variant', { value_ref: hidden.id });
  expect(await received()).toEqual([]);
  const other = await publish(harbour.root, [given], { title: 'Given' });
  const params = { id: other.id, peer_id: peerOfOne };
  await harbour.root.ok('putPostPeer', { params, body: {} });
  await write('variant', { value_ref: given.id });
  expect(await received()).toEqual([{ value: expect.objectContaining({ code: 'variant' }) }]);
  await write('variant', { value_ref: hidden.id });
  expect(await received()).toEqual([]);
  await harbour.root.ok('deletePostPeer', { params });
  await settle(harbour, studio);
});

// FED-60, FED-62
test('a value of every type arrives as it was written', async () => {
  for (const type of fieldTypes) {
    const options = optionsFor(type);
    const code = `every_${type}`;
    const body = { code, label: code, type, ...(options === undefined ? {} : { options }) };
    await add(harbour, body);
    await add(studio, body);
    await write(code, { ...samplesFor(asset)[type].given });
  }
  await settle(harbour, studio);
  const { items } = await bob.ok('listAssetFieldValues', { params: { id: mirror } });
  for (const type of fieldTypes) {
    const { given, read = given } = samplesFor(mirror)[type];
    expect(
      items.find((value) => value.field_code === `every_${type}`),
      type,
    ).toMatchObject(read);
  }
});

// FED-33, FED-62
test('values are purged with the shared asset', async () => {
  await harbour.root.ok('deletePostPeer', { params: { id: post, peer_id: peerOfOne } });
  await settle(harbour, studio);
  const left = sql`select (select count(*) from asset_field_values)
    + (select count(*) from federated_values) + (select count(*) from field_value_history) as left`;
  expect(await rowsOf(studio, left)).toEqual([{ left: 0 }]);
});
