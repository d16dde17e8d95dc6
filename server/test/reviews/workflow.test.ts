import type { WorkflowRule } from '@vitrine/contract/workflow';
import { afterEach, describe, expect, test } from 'vitest';
import { told } from '../notifications/telling.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { plainText } from '../support/pictures.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const [mara, curator] = await library.joinAll('mara', 'curator');
await grant(library, curator, 'assets.admin');

const first = await root.ok('getWorkflow');
const change = (states: WorkflowRule[]) => root.ok('updateWorkflow', { body: { states } });
const path = '/admin/system/workflow';
const custom = {
  domain: 'asset' as const,
  code: 'printed',
  label: 'Printed',
  sort_order: 9,
  moves_to: ['wip'],
};
const edited = (code: string, to: Partial<WorkflowRule>) =>
  first.states.map((state) => (state.code === code ? { ...state, ...to } : state));
/** The states with one more, which may follow `approved` only. */
const extended = [...edited('approved', { moves_to: ['wip', 'review', 'printed'] }), custom];

const idOf = async (code: string) => {
  const states = await mara.ok('listWorkflowStates', { query: { domain: 'asset' } });
  return states.find((state) => state.code === code)?.id ?? '';
};
let count = 0;
const file = () => {
  count += 1;
  return upload(mara, plainText(`text ${count}`), { title: 'Print' }, 'a.txt');
};
const move = async (asset: { id: string }, code: string, who = mara) =>
  who.status('POST', `/assets/${asset.id}/state`, { state_id: await idOf(code) });

afterEach(async () => {
  await library.deps.db
    .updateTable('assets')
    .set({ state_id: await idOf('wip') })
    .execute();
  await change(first.states);
});

describe('the workflow', () => {
  // WORKFLOW-1
  test('has the seeded states, of which those of assets follow each other in any order', async () => {
    expect(first.states.map(({ domain, code }) => `${domain} ${code}`)).toEqual([
      'asset wip',
      'asset review',
      'asset approved',
      'post wip',
      'post published',
    ]);
    expect(first).toMatchObject({ reopen_on_change: true });
    expect(first.states[0]?.moves_to).toEqual(['review', 'approved']);
  });

  // WORKFLOW-2
  test('allows only the moves it lists, with the capability that the state needs', async () => {
    await change([...extended.slice(0, -1), { ...custom, capability: 'assets.admin' }]);
    const asset = await file();
    expect(await move(asset, 'printed')).toBe(409);
    expect([await move(asset, 'approved'), await move(asset, 'printed')]).toEqual([200, 403]);
    expect(await move(asset, 'printed', curator)).toBe(200);
    expect([await move(asset, 'review'), await move(asset, 'printed')]).toEqual([409, 200]);
    const batch = async (code: string, ids: string[]) =>
      JSON.parse(
        (
          await mara.send('/assets/batch', {
            method: 'POST',
            body: { ids, action: { kind: 'set_state', state_id: await idOf(code) }, dry_run: true },
          })
        ).text,
      );
    const other = await file();
    expect(await batch('review', [asset.id, other.id])).toMatchObject({
      changes: 1,
      refused: [{ reason: 'nothing moves from printed to review', ids: [asset.id] }],
    });
  });

  // WORKFLOW-2
  test('restricts publishing and withdrawing, too', async () => {
    const post = await publish(mara, [await file()]);
    await change(edited('published', { moves_to: [] }));
    expect(await mara.status('POST', `/posts/${post.id}/unpublish`)).toBe(409);
    await change(edited('published', { moves_to: ['wip'], capability: 'posts.admin' }));
    await mara.ok('unpublishPost', { params: { id: post.id } });
    expect(await mara.status('POST', `/posts/${post.id}/publish`)).toBe(403);
    expect(await root.status('POST', `/posts/${post.id}/publish`)).toBe(200);
  });

  // WORKFLOW-3
  test('keeps seeded states and states in use, and refuses contradictions', async () => {
    await change(extended);
    const asset = await file();
    await move(asset, 'approved');
    expect(await move(asset, 'printed')).toBe(200);
    const tries: [number, WorkflowRule[]][] = [
      [409, first.states],
      [409, extended.slice(1)],
      [409, [...extended, { ...custom, domain: 'post', code: 'review', moves_to: [] }]],
      [400, [...extended, custom]],
      [400, [...extended, { ...custom, code: 'other', moves_to: ['unknown'] }]],
      [400, [...extended, { ...custom, code: 'Not a code', moves_to: [] }]],
      [400, []],
    ];
    for (const [status, states] of tries) expect(await root.status('PATCH', path, { states })).toBe(status);
    expect((await root.ok('getWorkflow')).states).toHaveLength(6);
    expect([await mara.status('GET', path), await mara.status('PATCH', path, {})]).toEqual([403, 403]);
  });

  // WORKFLOW-4
  test('notifies the owner when somebody else moves their file', async () => {
    const asset = await file();
    await move(asset, 'review');
    await move(asset, 'approved', curator);
    const notices = (await told(library, mara)).filter(({ kind }) => kind === 'state_changed');
    expect(notices).toMatchObject([
      {
        actor: { username: 'curator' },
        asset: { id: asset.id, title: 'Print' },
        state: { label: 'Approved' },
      },
    ]);
  });
});
