import { randomUUID } from 'node:crypto';
import { type AssetAction, assetActions } from '@vitrine/contract/batches';
import type { FieldUpdate } from '@vitrine/contract/fields';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { bearer, grant, nowhere, setStatus, withdrawGrants } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');
const tom = await library.join('tom');
let hash = '';
let toms = '';

beforeAll(async () => {
  hash = (await upload(mara, plainFile())).file_hash ?? '';
  toms = (await upload(tom, plainFile(), { sensitivity: 'org' })).id;
});

/** Creates assets of mara without rendering them again. */
const make = async (count: number, body: object = {}): Promise<string[]> => {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1)
    ids.push((await mara.ok('createAsset', { body: { file_hash: hash, ...body } })).id);
  return ids;
};
const tagsOf = async (id: string) => (await root.ok('getAsset', { params: { id } }).then(shown)).tags;
const shown = <A extends { restricted: boolean }>(asset: A) => {
  if (asset.restricted) throw new Error('it is withheld');
  return asset as Extract<A, { restricted: false }>;
};
/** Returns the ids of mara's assets with the sensitivity `org`. */
const mineInOrg = async () => {
  const { rows } = await sql<{ id: string }>`select id from assets
    where owner_user_ref = ${mara.ref} and deleted_at is null and sensitivity = 'org'`.execute(
    library.deps.db,
  );
  return rows.map(({ id }) => id);
};
const dryRun = (who: Visitor, ids: string[], action: AssetAction) =>
  who.ok('batchAssets', { body: { ids, action, dry_run: true } });
const start = async (who: Visitor, ids: string[], action: AssetAction): Promise<string> => {
  const answer = await who.ok('batchAssets', { body: { ids, action } });
  if (!('job_id' in answer)) throw new Error('it is not a job');
  return answer.job_id;
};
const run = async (who: Visitor, ids: string[], action: AssetAction) => {
  const id = await start(who, ids, action);
  await library.runJobs();
  return who.ok('getBatch', { params: { id } });
};
const undo = async (who: Visitor, id: string) => {
  const { job_id } = await who.ok('undoBatch', { params: { id } });
  await library.runJobs();
  return who.ok('getBatch', { params: { id: job_id } });
};

describe('tags', () => {
  // BATCH-8, BATCH-9
  test('are added where they are missing, and undo takes them from exactly those, unless someone changed them since', async () => {
    const [with1 = '', ...without] = await make(4, { tags: ['other'] });
    await mara.ok('updateAsset', { params: { id: with1 }, body: { tags: ['harbour'] } });
    const ids = [with1, ...without];
    const done = await run(mara, ids, { kind: 'add_tags', tags: ['Harbour', 'noon'].slice(0, 1) });
    expect(done).toMatchObject({ state: 'done', total: 4, done: 4, changed: 3, unchanged: 1, refused: [] });
    expect(await tagsOf(without[0] ?? '')).toEqual(['other', 'harbour']);
    await mara.ok('updateAsset', { params: { id: without[2] ?? '' }, body: { tags: ['harbour', 'mine'] } });
    const undone = await undo(mara, done.id);
    expect(undone).toMatchObject({
      kind: 'undo',
      changed: 2,
      refused: [{ id: without[2], reason: 'changed since' }],
    });
    // LANGUAGE-9
    const german = { headers: { 'accept-language': 'de' } };
    const refused = [{ id: without[2], reason: 'inzwischen geändert' }];
    const shown = await mara.send(`/jobs/${undone.id}`, german);
    expect(JSON.parse(shown.text)).toMatchObject({ refused });
    const items = await mara.send(`/jobs/${undone.id}/items?outcome=refused`, german);
    expect(JSON.parse(items.text)).toMatchObject({ items: refused });
    expect(await Promise.all(ids.map(tagsOf))).toEqual([
      ['harbour'],
      ['other'],
      ['other'],
      ['harbour', 'mine'],
    ]);
    const again = await mara.refused('undoBatch', { params: { id: done.id } });
    expect(again).toMatchObject({ status: 409 });
  });

  // BATCH-4
  test('a dry run says what would change and why not, and writes nothing', async () => {
    const [a = '', b = ''] = await make(2);
    const many = Array.from({ length: 50 }, (_, n) => `tag ${n}`);
    await mara.ok('updateAsset', { params: { id: b }, body: { tags: many } });
    const hidden = (await upload(tom, plainFile(), { sensitivity: 'restricted' })).id;
    const preview = await dryRun(mara, [a, b, toms, hidden, nowhere, a.toUpperCase()], {
      kind: 'add_tags',
      tags: ['new'],
    });
    expect(preview).toEqual({
      matched: 5,
      changes: 1,
      unchanged: 0,
      refused: [
        { reason: 'it would have too many tags', count: 1, ids: [b] },
        { reason: 'only its owner can change it', count: 2, ids: [toms, hidden] },
        { reason: 'not found', count: 1, ids: [nowhere] },
      ],
    });
    const german = await mara.send('/assets/batch', {
      method: 'POST',
      body: { ids: [nowhere], action: { kind: 'add_tags', tags: ['new'] }, dry_run: true },
      headers: { 'accept-language': 'de' },
    });
    expect(JSON.parse(german.text)).toMatchObject({ refused: [{ reason: 'nicht gefunden' }] });
    expect(await tagsOf(a)).toEqual([]);
  });

  test('that are removed return with their source and place', async () => {
    const [a = ''] = await make(1, { tags: ['one', 'two', 'three'] });
    const done = await run(mara, [a], { kind: 'remove_tags', tags: ['TWO'] });
    expect(await tagsOf(a)).toEqual(['one', 'three']);
    await undo(mara, done.id);
    expect(await tagsOf(a)).toEqual(['one', 'two', 'three']);
  });
});

describe('properties', () => {
  test('are set and set back', async () => {
    const ids = await make(3, { sensitivity: 'org' });
    await mara.ok('updateAsset', { params: { id: ids[1] ?? '' }, body: { sensitivity: 'restricted' } });
    const done = await run(mara, ids, { kind: 'set_sensitivity', sensitivity: 'restricted' });
    expect(done).toMatchObject({ changed: 2, unchanged: 1 });
    await undo(mara, done.id);
    const after = await Promise.all(ids.map((id) => mara.ok('getAsset', { params: { id } })));
    expect(after.map((asset) => shown(asset).sensitivity)).toEqual(['org', 'restricted', 'org']);
    for (const action of [
      { kind: 'set_status', status: 'archived' },
      { kind: 'set_mature', mature: true },
      { kind: 'set_ai_provenance', ai_provenance: 'generated' },
      { kind: 'set_ai_provenance', ai_provenance: null },
    ] as const)
      expect(await run(mara, ids, action)).toMatchObject({ changed: 3 });
  });

  // BATCH-2
  test('an action must have what its kind needs, and nothing else', async () => {
    const [a = ''] = await make(1);
    expect(
      await mara.refused('batchAssets', { body: { ids: [a], action: { kind: 'add_tags' } } }),
    ).toMatchObject({
      error: 'add_tags needs tags',
    });
    const body = { ids: [a], action: { kind: 'restore' as const, tags: ['x'] } };
    expect(await mara.refused('batchAssets', { body })).toMatchObject({
      error: 'restore does not take tags',
    });
    const neither = { action: { kind: 'restore' as const } };
    expect((await mara.refused('batchAssets', { body: neither })).status).toBe(400);
  });

  // BATCH-1
  test('takes at most 10,000 ids', async () => {
    const status = (count: number) =>
      mara.status('POST', '/assets/batch', {
        ids: Array.from({ length: count }, () => nowhere),
        action: { kind: 'delete' },
        dry_run: true,
      });
    expect([await status(10_001), await status(0), await status(10_000)]).toEqual([400, 400, 200]);
  });

  test('a state is set, and an unknown one or one of posts is refused at once', async () => {
    const states = await mara.ok('listWorkflowStates', { query: {} });
    const ids = await make(2);
    const stateId = (domain: string, code: string) =>
      states.find((state) => state.domain === domain && state.code === code)?.id ?? '';
    const done = await run(mara, ids, { kind: 'set_state', state_id: stateId('asset', 'approved') });
    expect(done).toMatchObject({ changed: 2 });
    await undo(mara, done.id);
    const after = await mara.ok('getAsset', { params: { id: ids[0] ?? '' } });
    expect(shown(after).state_id).toBe(stateId('asset', 'wip'));
    const of = (state_id: string) =>
      mara.refused('batchAssets', { body: { ids, action: { kind: 'set_state', state_id } } });
    expect((await of(nowhere)).status).toBe(404);
    expect((await of(stateId('post', 'published'))).status).toBe(400);
  });
});

describe('fields', () => {
  // BATCH-11
  test('are set, appended to and cleared, and return on undo', async () => {
    const field = await root.ok('createField', {
      body: { code: 'note_batch', label: 'Note', type: 'longtext', subject_kind: 'asset' },
    });
    const [a = '', b = ''] = await make(2);
    await mara.ok('setAssetFieldValue', {
      params: { id: a, field_id: field.id },
      body: { value_text: 'first' },
    });
    const noteOf = async (id: string) =>
      (await mara.ok('listAssetFieldValues', { params: { id } })).items.find(
        (value) => value.field_id === field.id,
      )?.value_text;
    const appended = await run(mara, [a, b], {
      kind: 'append_field',
      field_id: field.id,
      value_text: 'second',
    });
    expect(appended).toMatchObject({ changed: 2 });
    expect([await noteOf(a), await noteOf(b)]).toEqual(['first\nsecond', 'second']);
    const cleared = await run(mara, [a, b], { kind: 'clear_field', field_id: field.id });
    expect([await noteOf(a), await noteOf(b)]).toEqual([undefined, undefined]);
    await undo(mara, cleared.id);
    await undo(mara, appended.id);
    expect([await noteOf(a), await noteOf(b)]).toEqual(['first', undefined]);
    const wrong = await mara.refused('batchAssets', {
      body: { ids: [a], action: { kind: 'set_field', field_id: field.id, value_num: 3 } },
    });
    expect(wrong.status).toBe(400);
  });

  // BATCH-3, FIELD-23
  test('that mirror a column refuse what they refuse for one file', async () => {
    const { items } = await root.ok('listFields', { query: {} });
    const field_id = items.find(({ mirrors_column }) => mirrors_column === 'title')?.id ?? '';
    const [a = ''] = await make(1, { title: 'Pier' });
    const change = (body: FieldUpdate) => root.ok('updateField', { params: { id: field_id }, body });
    const reasonFor = async (action: AssetAction) =>
      (await run(mara, [a], action)).refused.map(({ reason }) => reason);
    const set = { kind: 'set_field', field_id, value_text: 'Dock' } as const;
    await change({ status: 'deprecated' });
    expect(await reasonFor(set)).toEqual(['title is deprecated and accepts no new values']);
    await change({ status: 'active', applies_to: [3] });
    expect(await reasonFor(set)).toEqual(['title is not for assets of this type']);
    await change({ applies_to: [], options: { max_length: 6 } });
    expect(await reasonFor({ ...set, kind: 'append_field' })).toEqual(['title is longer than 6 characters']);
    const done = await run(mara, [a], set);
    await change({ status: 'deprecated', options: {} });
    expect(await undo(mara, done.id)).toMatchObject({ changed: 1 });
    expect(await run(mara, [a], { kind: 'clear_field', field_id })).toMatchObject({ changed: 1 });
    await change({ status: 'active' });
  });
});

describe('undoing', () => {
  // BATCH-9, TAG-4
  test('gives a tag back by the name that it has by now', async () => {
    const ids = await make(2, { tags: ['ebb'] });
    const removed = await run(mara, ids.slice(0, 1), { kind: 'remove_tags', tags: ['ebb'] });
    await root.ok('renameTag', { params: { tag: 'ebb' }, body: { to: 'low water' } });
    await undo(mara, removed.id);
    expect(await Promise.all(ids.map(tagsOf))).toEqual([['low water'], ['low water']]);
  });

  // BATCH-9, TERM-4, VALUE-11
  test('gives a merged term back as its successor, and no term or file that has disappeared', async () => {
    const kind = { label: 'Former', subject_kind: 'asset' } as const;
    const options = { values: ['quay', 'wharf', 'pier', 'dock'] };
    const term = await root.ok('createField', {
      body: { ...kind, code: 'former_term', type: 'multi_select', options },
    });
    const reference = await root.ok('createField', {
      body: { ...kind, code: 'former_reference', type: 'reference' },
    });
    const [a = '', b = ''] = await make(2);
    const set = (field_id: string, value: object) =>
      run(mara, [a], { kind: 'set_field', field_id, ...value } as AssetAction);
    const dock = { field_id: term.id, value_options: ['dock'] };
    await run(mara, [b], { kind: 'set_field', ...dock });
    const emptied = await run(mara, [b], { kind: 'clear_field', field_id: term.id });
    const left = { values: ['quay', 'wharf', 'pier'] };
    await root.ok('updateField', { params: { id: term.id }, body: { options: left } });
    const reason = 'former_term: unknown term dock';
    expect((await undo(mara, emptied.id)).refused).toEqual([{ id: b, reason }]);
    await set(term.id, { value_options: ['wharf', 'quay'] });
    await set(reference.id, { value_ref: b });
    const replaced = await set(term.id, { value_options: ['pier'] });
    const cleared = await run(mara, [a], { kind: 'clear_field', field_id: reference.id });
    await root.ok('mergeFieldTerms', {
      params: { id: term.id },
      body: { source: 'wharf', target: 'quay', reason: 'the same' },
    });
    await mara.ok('deleteAsset', { params: { id: b }, body: {} });
    await undo(mara, replaced.id);
    expect(await undo(mara, cleared.id)).toMatchObject({ changed: 0, refused_count: 1 });
    const { items } = await mara.ok('listAssetFieldValues', { params: { id: a } });
    expect(items.find(({ field_id }) => field_id === term.id)?.value_options).toEqual(['quay']);
  });

  // BATCH-9, WORKFLOW-3
  test('leaves files in their state when the former one has been removed', async () => {
    const { states } = await root.ok('getWorkflow', {});
    const extra = {
      domain: 'asset' as const,
      code: 'extra',
      label: 'Extra',
      sort_order: 9,
      moves_to: ['wip'],
    };
    const into = states.map((state) =>
      state.domain === 'asset' ? { ...state, moves_to: [...state.moves_to, 'extra'] } : state,
    );
    await root.ok('updateWorkflow', { body: { states: [...into, extra] } });
    const known = await mara.ok('listWorkflowStates', { query: { domain: 'asset' } });
    const to = (code: string) => ({
      kind: 'set_state' as const,
      state_id: known.find((state) => state.code === code)?.id ?? '',
    });
    const [a = ''] = await make(1);
    await run(mara, [a], to('extra'));
    const done = await run(mara, [a], to('wip'));
    await root.ok('updateWorkflow', { body: { states } });
    expect(await undo(mara, done.id)).toMatchObject({ state: 'done', changed: 0, refused_count: 1 });
  });

  // BATCH-9, NAME-4
  test('spells a tag as it is registered by now', async () => {
    const [a = '', b = ''] = await make(2, { tags: ['low tide'] });
    const done = await run(mara, [a], { kind: 'remove_tags', tags: ['low tide'] });
    await root.ok('renameTag', { params: { tag: 'low tide' }, body: { to: 'Low Tide' } });
    await undo(mara, done.id);
    expect(await Promise.all([a, b].map(tagsOf))).toEqual([['Low Tide'], ['Low Tide']]);
  });

  // BATCH-9
  test('leaves what has changed since the batch, for every action', async () => {
    const field = await root.ok('createField', {
      body: { code: 'since', label: 'Since', type: 'text', subject_kind: 'asset' },
    });
    const states = await mara.ok('listWorkflowStates', { query: { domain: 'asset' } });
    const stateId = (code: string) => states.find((state) => state.code === code)?.id ?? '';
    const { id: collection } = await mara.ok('createCollection', { body: { name: 'Since' } });
    const patch = (body: object) => (id: string) => root.ok('updateAsset', { params: { id }, body });
    const write = (value_text: string) => (id: string) =>
      root.ok('setAssetFieldValue', { params: { id, field_id: field.id }, body: { value_text } });
    const inCollection = (id: string) => ({ params: { id: collection, asset_id: id } });
    const put = (id: string) => mara.ok('addAssetToCollection', inCollection(id));
    const take = (id: string) => mara.ok('removeAssetFromCollection', inCollection(id));
    const field_id = field.id;
    type Change = (id: string) => Promise<unknown>;
    const remove = (id: string) => mara.ok('deleteAsset', { params: { id }, body: {} });
    const restore = (id: string) => mara.ok('restoreAsset', { params: { id } });
    const cases: readonly [AssetAction, Change, before?: Change][] = [
      [{ kind: 'add_tags', tags: ['theirs'] }, patch({ tags: ['mine'] })],
      [{ kind: 'remove_tags', tags: ['old'] }, patch({ tags: ['mine'] })],
      [{ kind: 'set_field', field_id, value_text: 'theirs' }, write('mine')],
      [{ kind: 'append_field', field_id, value_text: 'theirs' }, write('mine'), write('before')],
      [{ kind: 'clear_field', field_id }, write('mine'), write('before')],
      [{ kind: 'set_sensitivity', sensitivity: 'restricted' }, patch({ sensitivity: 'public' })],
      [{ kind: 'set_status', status: 'archived' }, patch({ status: 'draft' })],
      [
        { kind: 'set_state', state_id: stateId('approved') },
        (id) => run(root, [id], { kind: 'set_state', state_id: stateId('wip') }),
      ],
      [{ kind: 'set_mature', mature: true }, patch({ mature: false })],
      [{ kind: 'set_ai_provenance', ai_provenance: 'generated' }, patch({ ai_provenance: 'assisted' })],
      [{ kind: 'add_to_collection', collection_id: collection }, take],
      [
        { kind: 'add_to_collection', collection_id: collection },
        async (id) => [await take(id), await put(id)],
      ],
      [{ kind: 'remove_from_collection', collection_id: collection }, put, put],
      [{ kind: 'delete' }, restore],
      [{ kind: 'restore' }, remove, remove],
    ];
    // A new post cannot be undone (BATCH-8).
    const kinds = Object.keys(assetActions).filter((kind) => kind !== 'create_post');
    expect([...new Set(cases.map(([{ kind }]) => kind))].toSorted()).toEqual(kinds.toSorted());
    for (const [action, change, before] of cases) {
      const ids = await make(2, { tags: ['old'], sensitivity: 'org' });
      const [touched = ''] = ids;
      if (before !== undefined) for (const id of ids) await before(id);
      const done = await run(mara, ids, action);
      expect(done, action.kind).toMatchObject({ changed: 2 });
      await change(touched);
      expect(await undo(mara, done.id), action.kind).toMatchObject({
        changed: 1,
        refused: [{ id: touched, reason: action.kind === 'restore' ? 'not found' : 'changed since' }],
      });
    }
  });
});

describe('the trash', () => {
  // BATCH-3, BATCH-9
  test('takes many, and undo restores exactly those', async () => {
    const ids = await make(3);
    await mara.ok('deleteAsset', { params: { id: ids[0] ?? '' }, body: undefined });
    const done = await run(mara, ids, { kind: 'delete', reason: 'tidy' });
    expect(done).toMatchObject({ changed: 2, refused: [{ id: ids[0], reason: 'not found' }] });
    await undo(mara, done.id);
    expect((await mara.refused('getAsset', { params: { id: ids[0] ?? '' } })).status).toBe(404);
    expect(await run(mara, ids, { kind: 'restore' })).toMatchObject({
      changed: 1,
      refused: [
        { id: ids[1], reason: 'not found' },
        { id: ids[2], reason: 'not found' },
      ],
    });
    expect(await run(tom, ids, { kind: 'restore' })).toMatchObject({ changed: 0, refused_count: 3 });
    const [admins = ''] = await make(1);
    await root.ok('deleteAsset', { params: { id: admins }, body: undefined });
    const reasonFor = async (who: Visitor) =>
      (await run(who, [admins], { kind: 'restore' })).refused.map(({ reason }) => reason);
    expect(await reasonFor(mara)).toEqual(['only the account that deleted it can restore it']);
    expect(await reasonFor(tom)).toEqual(['not found']);
  });

  // BATCH-9
  test('gets back what was restored with its deleter, but not what was restored again', async () => {
    const ids = await make(2);
    const [again = '', once = ''] = ids;
    for (const id of ids) await mara.ok('deleteAsset', { params: { id }, body: { reason: 'blurred' } });
    const entry = async () => (await mara.ok('listTrash', { query: {} })).items.find(({ id }) => id === once);
    const before = await entry();
    const done = await run(root, ids, { kind: 'restore' });
    await mara.ok('deleteAsset', { params: { id: again }, body: undefined });
    await mara.ok('restoreAsset', { params: { id: again } });
    expect(await undo(root, done.id)).toMatchObject({
      changed: 1,
      refused: [{ id: again, reason: 'changed since' }],
    });
    expect(await entry()).toEqual(before);
    expect(before).toBeDefined();
    await mara.ok('restoreAsset', { params: { id: once } });
  });
});

describe('a post', () => {
  // BATCH-12
  test('is created from many files in their order, and cannot be undone', async () => {
    const ids = await make(3);
    const order = [ids[2] ?? '', ids[0] ?? '', ids[1] ?? ''];
    const done = await run(mara, order, { kind: 'create_post', title: 'Three', draft: true });
    expect(done).toMatchObject({ changed: 3 });
    expect(done.undo_until).toBeUndefined();
    const post = await mara.ok('getPost', { params: { id: done.post_id ?? '' } });
    expect(post.members.map((member) => member.asset_id)).toEqual(order);
    // More are refused before a job divides them into steps.
    const action = { kind: 'create_post', draft: true } as const;
    const many = Array.from({ length: 201 }, () => randomUUID());
    for (const dry_run of [true, false]) {
      const refused = await mara.refused('batchAssets', { body: { ids: many, action, dry_run } });
      expect(refused).toMatchObject({ status: 400, error: 'a post has at most 200 files' });
    }
  });
});

describe('a job', () => {
  // BATCH-5
  test('checks rights for each file when it is written', async () => {
    const ids = await make(2);
    const editor = await library.join(`editor${ids[0]?.slice(0, 6)}`);
    await grant(library, editor, 'assets.admin');
    const id = await start(editor, ids, { kind: 'add_tags', tags: ['late'] });
    await withdrawGrants(library, editor);
    await library.runJobs();
    expect(await editor.ok('getBatch', { params: { id } })).toMatchObject({ changed: 0, refused_count: 2 });
    await setStatus(library, editor, 'disabled');
  });

  // BATCH-5
  test('of a token that is revoked meanwhile refuses everything', async () => {
    const ids = await make(2);
    const script = await bearer(library, mara, ['assets.write']);
    const id = await start(script, ids, { kind: 'add_tags', tags: ['scripted'] });
    await library.deps.db.deleteFrom('access_tokens').where('user_ref', '=', mara.ref).execute();
    await library.runJobs();
    expect(await mara.ok('getBatch', { params: { id } })).toMatchObject({
      state: 'done',
      changed: 0,
      refused_count: 2,
    });
    expect(await tagsOf(ids[0] ?? '')).toEqual([]);
  });

  // BATCH-6, BATCH-7
  test('is seen, cancelled and undone by the account that started it; others get 404', async () => {
    const ids = await make(2);
    const id = await start(mara, ids, { kind: 'add_tags', tags: ['never'] });
    for (const operation of ['getBatch', 'listBatchItems', 'cancelBatch', 'undoBatch'] as const)
      expect((await tom.refused(operation, { params: { id } })).status).toBe(404);
    expect(await root.ok('getBatch', { params: { id } })).toMatchObject({ state: 'queued' });
    expect(await mara.ok('cancelBatch', { params: { id } })).toMatchObject({ state: 'cancelled', done: 0 });
    await library.runJobs();
    expect(await tagsOf(ids[0] ?? '')).toEqual([]);
    expect((await mara.refused('cancelBatch', { params: { id } })).status).toBe(409);
    expect((await mara.refused('undoBatch', { params: { id } })).status).toBe(409);
  });

  // BATCH-6
  test('works in steps, and two on the same files both succeed', async () => {
    const [first = ''] = await make(1, { title: 'copied' });
    await sql`insert into assets (owner_user_ref, asset_type, file_hash, file_name, processing_status, status, sensitivity)
      select owner_user_ref, asset_type, file_hash, file_name, 'ready', 'active', 'org' from assets, generate_series(1, 1200)
      where id = ${first}`.execute(library.deps.db);
    const ids = await mineInOrg();
    const jobs = [
      await start(mara, ids, { kind: 'add_tags', tags: ['left'] }),
      await start(mara, [...ids].reverse(), { kind: 'add_tags', tags: ['right'] }),
    ];
    await Promise.all([library.runJobs(), library.runJobs()]);
    for (const id of jobs)
      expect(await mara.ok('getBatch', { params: { id } })).toMatchObject({
        state: 'done',
        changed: ids.length,
        refused: [],
      });
    const { rows: both } = await sql<{ count: number }>`select count(*) as count from (
      select asset_id from asset_tags where value in ('left', 'right') group by 1 having count(*) = 2) x`.execute(
      library.deps.db,
    );
    expect(both[0]?.count).toBe(ids.length);
    // So many files cannot become one post, neither at once nor in steps (BATCH-12).
    const body = { query: { owner_ref: mara.ref }, action: { kind: 'create_post' as const, draft: true } };
    for (const dry_run of [true, false])
      expect((await mara.refused('batchAssets', { body: { ...body, dry_run } })).status).toBe(400);
  });

  // BATCH-6
  test('that fails in a step keeps the steps before it, and continues there', async () => {
    const ids = await mineInOrg();
    const { db } = library.deps;
    await sql
      .raw(`create function fail() returns trigger language plpgsql as $$ begin raise 'out of order'; end $$;
      create trigger failing before update on assets for each row when (new.id = '${ids[700]}') execute function fail()`)
      .execute(db);
    const id = await start(mara, ids, { kind: 'set_status', status: 'archived' });
    await library.runJobs();
    expect(await mara.ok('getBatch', { params: { id } })).toMatchObject({ state: 'running', done: 500 });
    await sql.raw('drop trigger failing on assets; drop function fail()').execute(db);
    await sql`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), now())`.execute(
      db,
    );
    await library.runJobs();
    expect(await mara.ok('getBatch', { params: { id } })).toMatchObject({
      state: 'done',
      done: ids.length,
      refused: [],
    });
  });

  // BATCH-1
  test('selects by a query what matches when it is started', async () => {
    const ids = await make(3, { tags: ['chosen'] });
    const body = {
      query: { tag: ['chosen'] },
      action: { kind: 'set_status' as const, status: 'archived' as const },
    };
    const answer = await mara.ok('batchAssets', { body });
    await make(1, { tags: ['chosen'] });
    await library.runJobs();
    const id = 'job_id' in answer ? answer.job_id : '';
    const { items } = await mara.ok('listBatchItems', { params: { id }, query: {} });
    expect(items).toEqual(ids.map((one) => ({ id: one, outcome: 'changed' })));
  });

  // BATCH-6
  test('names everything that it refused once it has ended', async () => {
    const [mine = ''] = await make(1);
    const unknown = Array.from({ length: 120 }, () => randomUUID());
    const done = await run(mara, [mine, ...unknown], { kind: 'add_tags', tags: ['all'] });
    expect(done).toMatchObject({ total: 121, done: 121, changed: 1, unchanged: 0, refused_count: 120 });
    expect(done.refused).toEqual(unknown.map((id) => ({ id, reason: 'not found' })));
    expect((await mara.ok('listBatches', { query: {} })).items[0]?.refused).toHaveLength(100);
  });

  // BATCH-10
  test('is forgotten after 30 days', async () => {
    const [a = ''] = await make(1);
    const { id } = await run(mara, [a], { kind: 'add_tags', tags: ['kept'] });
    await sql`update batches set created_at = now() - interval '31 days' where id = ${id}`.execute(
      library.deps.db,
    );
    await expire(library.deps.db);
    expect((await mara.refused('getBatch', { params: { id } })).status).toBe(404);
  });

  // BATCH-8
  test('cannot be undone a day after its end', async () => {
    const [a = ''] = await make(1);
    const done = await run(mara, [a], { kind: 'add_tags', tags: ['old'] });
    await sql`update batches set finished_at = finished_at - interval '25 hours' where id = ${done.id}`.execute(
      library.deps.db,
    );
    expect((await mara.refused('undoBatch', { params: { id: done.id } })).status).toBe(409);
    expect((await mara.ok('listBatches', { query: {} })).items[0]?.id).toBe(done.id);
  });
});
