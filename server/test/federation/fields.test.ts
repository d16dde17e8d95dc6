import type { PeerFieldDecision } from '@vitrine/contract/federated-fields';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';

const shot = { code: 'shot', label: 'Shot', type: 'text' } as const;
const stage = {
  code: 'stage',
  label: 'Stage',
  type: 'select',
  options: { values: [{ value: 'wip', label: 'In progress' }, 'final'] },
} as const;

/** Writes a value of an asset, by the code of its field. */
async function write(install: Install, asset: string, code: string, body: Record<string, unknown>) {
  const field = (await install.root.ok('listFields', { query: { limit: 200 } })).items.find(
    (one) => one.code === code,
  );
  const params = { id: asset, field_id: field?.id ?? '' };
  await install.root.ok('setAssetFieldValue', { params, body });
}

/** The values of an asset as an account sees them, by code. */
async function valuesOf(account: Install['root'], id: string) {
  const { items } = await account.ok('listAssetFieldValues', { params: { id } });
  return Object.fromEntries(
    items
      .filter(({ set_by }) => set_by !== 'mirror')
      .map((value) => [value.field_code, value.value_text ?? value.value_num ?? value.value_options]),
  );
}

/** The only mirrored post of an install, and its first asset. */
async function mirroredIn(install: Install) {
  const [post] = (await install.root.ok('listPosts')).items;
  const asset = post?.members[0]?.asset_id;
  if (post === undefined || asset === undefined) throw new Error('nothing has arrived');
  return { post, asset };
}

describe('values of a shared asset', () => {
  let harbour: Install;
  let studio: Install;
  let peers: { peerOfOne: string; peerOfOther: string };
  let asset: string;
  let post: string;

  beforeAll(async () => {
    harbour = await openInstall('Harbour');
    studio = await openInstall('Studio');
    peers = await pair(harbour, studio);
    for (const install of [harbour, studio]) {
      await install.root.ok('createField', { body: shot });
      await install.root.ok('createField', { body: stage });
    }
    const secret = await harbour.root.ok('createField', {
      body: { code: 'fee', label: 'Fee', type: 'number', read_capability: 'users.pii.read' },
    });
    asset = (await upload(harbour.root, await jpeg(64, 48), { title: 'Quay', sensitivity: 'posts' })).id;
    await write(harbour, asset, 'shot', { value_text: 'SH010 lighthouse' });
    await write(harbour, asset, 'stage', { value_text: 'wip' });
    await harbour.root.ok('setAssetFieldValue', {
      params: { id: asset, field_id: secret.id },
      body: { value_num: 900 },
    });
    post = (await publish(harbour.root, [{ id: asset }], { title: 'Quay' })).id;
    await harbour.root.ok('putPostPeer', { params: { id: post, peer_id: peers.peerOfOne }, body: {} });
    await settle(harbour, studio);
  });

  const rejections = async () => (await studio.root.ok('listFederationRejections')).items;

  // FED-60, FED-62
  test('arrive with it, are shown and found there, and cannot be changed', async () => {
    expect(await rejections()).toEqual([]);
    const bob = await studio.join('bob');
    const { asset: mirror } = await mirroredIn(studio);
    expect(await valuesOf(bob, mirror)).toEqual({ shot: 'SH010 lighthouse', stage: 'wip' });
    const found = await bob.ok('search', { query: { q: 'lighthouse' } });
    expect(found.items.map((hit) => (hit.kind === 'asset' ? hit.asset.id : hit.kind))).toContain(mirror);
    const filtered = await bob.ok('listAssets', { query: { filter: ['field:stage=wip'] } });
    expect(filtered.items.map(({ id }) => id)).toEqual([mirror]);
    const [field] = (await studio.root.ok('listFields')).items.filter(({ code }) => code === 'shot');
    expect(
      await studio.root.refused('setAssetFieldValue', {
        params: { id: mirror, field_id: field?.id ?? '' },
        body: { value_text: 'ours' },
      }),
    ).toMatchObject({ status: 403 });
  });

  // FED-60
  test('do not include those of fields that not everyone may read', async () => {
    const { rows } = await sql<{ code: string }>`select code from federated_values
      union select code from federation_fields order by code`.execute(studio.database.db);
    expect(rows.map(({ code }) => code)).toEqual(['shot', 'stage']);
  });

  // FED-60
  test('follow changes at the origin, also when a field is closed to most people', async () => {
    const { asset: mirror } = await mirroredIn(studio);
    await write(harbour, asset, 'stage', { value_text: 'final' });
    await settle(harbour, studio);
    expect(await valuesOf(studio.root, mirror)).toEqual({ shot: 'SH010 lighthouse', stage: 'final' });
    const field = (await harbour.root.ok('listFields')).items.find(({ code }) => code === 'shot');
    await harbour.root.ok('updateField', {
      params: { id: field?.id ?? '' },
      body: { read_capability: 'users.pii.read' },
    });
    await settle(harbour, studio);
    expect(await valuesOf(studio.root, mirror)).toEqual({ stage: 'final' });
  });

  // FED-61
  test('wait, and create no field, while the field means something else here or does not exist', async () => {
    await harbour.root.ok('createField', { body: { code: 'lens_kit', label: 'Lens kit', type: 'text' } });
    await harbour.root.ok('createField', { body: { code: 'take', label: 'Take', type: 'number' } });
    await studio.root.ok('createField', { body: { code: 'take', label: 'Take', type: 'text' } });
    await write(harbour, asset, 'lens_kit', { value_text: 'Primes' });
    await write(harbour, asset, 'take', { value_num: 3 });
    await settle(harbour, studio);
    expect(await rejections()).toEqual([]);
    const { asset: mirror } = await mirroredIn(studio);
    expect(await valuesOf(studio.root, mirror)).toEqual({ stage: 'final' });
    const codes = (await studio.root.ok('listFields')).items.map(({ code }) => code);
    expect(codes).not.toContain('lens_kit');
  });

  // FED-62
  test('are used once a field with the same meaning exists here', async () => {
    const { asset: mirror } = await mirroredIn(studio);
    await studio.root.ok('createField', { body: { code: 'lens_kit', label: 'Lenses', type: 'text' } });
    await sql`select graphile_worker.add_job('keep-federation', '{}')`.execute(studio.database.db);
    await studio.runJobs();
    expect(await valuesOf(studio.root, mirror)).toEqual({ stage: 'final', lens_kit: 'Primes' });
  });

  // FED-33, FED-62
  test('are purged with it', async () => {
    await harbour.root.ok('deletePostPeer', { params: { id: post, peer_id: peers.peerOfOne } });
    await settle(harbour, studio);
    const { rows } = await sql<{ left: number }>`select (select count(*) from asset_field_values)
      + (select count(*) from federated_values) + (select count(*) from field_value_history) as left`.execute(
      studio.database.db,
    );
    expect(rows).toEqual([{ left: 0 }]);
  });
});

describe('the operator', () => {
  let harbour: Install;
  let studio: Install;
  let peer: string;
  let mirror: string;

  const decide = (code: string, body: PeerFieldDecision) =>
    studio.root.ok('decidePeerField', { params: { id: peer, code }, body });
  const offers = async () => (await studio.root.ok('listPeerFields', { params: { id: peer } })).items;
  const offer = async (code: string) => (await offers()).find((one) => one.code === code);
  const fieldOf = async (code: string) =>
    (await studio.root.ok('listFields')).items.find((field) => field.code === code);

  beforeAll(async () => {
    harbour = await openInstall('Harbour');
    studio = await openInstall('Studio');
    const peers = await pair(harbour, studio);
    peer = peers.peerOfOther;
    await harbour.root.ok('createField', { body: shot });
    await harbour.root.ok('createField', { body: stage });
    const take = await harbour.root.ok('createField', {
      body: {
        code: 'take',
        label: 'Take',
        type: 'number',
        options: { integer: true, min: 1 },
        default_value: { kind: 'literal', value_num: 1 },
      },
    });
    await harbour.root.ok('updateField', {
      params: { id: take.id },
      body: {
        show_on_card: true,
        show_on_upload: false,
        show_in_advanced_search: false,
        edit_tab: 'Shooting',
        read_only: true,
        display_condition: ['stage=wip'],
      },
    });
    await harbour.root.ok('createField', {
      body: { code: 'crew', label: 'Crew', type: 'multi_select', open_vocabulary: true },
    });
    await studio.root.ok('createField', { body: { ...shot, type: 'number' } });
    await studio.root.ok('createField', {
      body: { ...stage, options: { values: [{ value: 'wip', label: 'Work print' }, 'archive'] } },
    });
    await studio.root.ok('createField', { body: { code: 'slate', label: 'Slate', type: 'longtext' } });
    const asset = await upload(harbour.root, await jpeg(64, 48), { title: 'Quay', sensitivity: 'posts' });
    await write(harbour, asset.id, 'shot', { value_text: 'SH010' });
    await write(harbour, asset.id, 'stage', { value_text: 'wip' });
    await write(harbour, asset.id, 'crew', { value_options: ['Ann Lee', 'Bo'] });
    const post = await publish(harbour.root, [asset], { title: 'Quay' });
    await harbour.root.ok('putPostPeer', { params: { id: post.id, peer_id: peers.peerOfOne }, body: {} });
    await settle(harbour, studio);
    mirror = (await mirroredIn(studio)).asset;
  });

  // FED-61, FED-63
  test('sees in which properties the fields of a peer differ, and nothing is merged before a decision', async () => {
    expect(await valuesOf(studio.root, mirror)).toEqual({});
    expect((await offers()).map(({ code, state }) => `${code} ${state}`)).toEqual([
      'crew new',
      'shot differs',
      'stage differs',
      'take new',
    ]);
    expect(await offer('shot')).toMatchObject({
      value_count: 1,
      unused_count: 1,
      differences: [{ property: 'field_type', ours: 'number', theirs: 'text', decisive: true }],
    });
    expect((await offer('stage'))?.differences).toEqual([
      { property: 'terms of one library only', ours: 'archive', theirs: 'final', decisive: true },
      {
        property: 'terms with another name or place',
        ours: 'wip (Work print)',
        theirs: 'wip (In progress)',
        decisive: true,
      },
    ]);
  });

  // FED-60, FED-63
  test('adopts an unknown field with all that concerns its meaning and display, and nothing local', async () => {
    expect(await decide('take', { decision: 'adopt' })).toMatchObject({ state: 'adopted', differences: [] });
    await studio.runJobs();
    expect(await fieldOf('take')).toMatchObject({
      label: 'Take',
      type: 'number',
      options: { integer: true, min: 1 },
      show_on_card: true,
      show_on_upload: false,
      show_in_advanced_search: false,
      edit_tab: 'Shooting',
      default_value: { kind: 'literal', value_num: 1 },
      display_condition: ['stage=wip'],
      read_only: false,
    });
    await decide('crew', { decision: 'adopt' });
    await studio.runJobs();
    expect(await valuesOf(studio.root, mirror)).toEqual({ take: 1, crew: ['ann-lee', 'bo'] });
    expect(await offer('crew')).toMatchObject({ unused_count: 0 });
  });

  // FED-63
  test('maps a field to one with another code, or adopts it under a new code', async () => {
    const slate = await fieldOf('slate');
    expect(
      await studio.root.refused('decidePeerField', {
        params: { id: peer, code: 'shot' },
        body: { decision: 'map' },
      }),
    ).toMatchObject({ status: 409, error: 'a field of type number does not accept values of type text' });
    expect(
      await studio.root.refused('decidePeerField', {
        params: { id: peer, code: 'shot' },
        body: { decision: 'adopt' },
      }),
    ).toMatchObject({ status: 409 });
    await decide('shot', { decision: 'map', field_id: slate?.id ?? '' });
    await studio.runJobs();
    expect(await valuesOf(studio.root, mirror)).toMatchObject({ slate: 'SH010' });
    await decide('shot', { decision: 'adopt', code: 'harbour_shot' });
    await studio.runJobs();
    const values = await valuesOf(studio.root, mirror);
    expect(values).toMatchObject({ harbour_shot: 'SH010' });
    expect(values).not.toHaveProperty('slate');
  });

  // FED-63
  test('adopts a vocabulary without losing terms of this library', async () => {
    await decide('stage', { decision: 'adopt' });
    await studio.runJobs();
    expect((await fieldOf('stage'))?.options.values).toEqual([
      { value: 'wip', label: 'In progress' },
      'final',
      'archive',
    ]);
    expect(await valuesOf(studio.root, mirror)).toMatchObject({ stage: 'wip' });
  });

  // FED-63
  test('ignores a field, and takes a decision back', async () => {
    await decide('stage', { decision: 'ignore' });
    await studio.runJobs();
    expect(await valuesOf(studio.root, mirror)).not.toHaveProperty('stage');
    await studio.root.ok('resetPeerField', { params: { id: peer, code: 'stage' } });
    await studio.runJobs();
    expect(await offer('stage')).toMatchObject({ state: 'same' });
    expect(await valuesOf(studio.root, mirror)).toMatchObject({ stage: 'wip' });
    const { items } = await studio.root.ok('listAudit', { query: { limit: 100 } });
    const events = items.map(({ event }) => event).filter((event) => event.startsWith('federation.field.'));
    expect(events.toReversed()).toEqual([
      'federation.field.adopted',
      'federation.field.adopted',
      'federation.field.mapped',
      'federation.field.adopted',
      'federation.field.adopted',
      'federation.field.ignored',
      'federation.field.reset',
    ]);
  });

  // FED-63
  test('needs the right to configure fields', async () => {
    const bob = await studio.join('bob');
    expect(await bob.refused('listPeerFields', { params: { id: peer } })).toMatchObject({ status: 403 });
    expect(
      await bob.refused('decidePeerField', {
        params: { id: peer, code: 'stage' },
        body: { decision: 'ignore' },
      }),
    ).toMatchObject({ status: 403 });
  });
});
