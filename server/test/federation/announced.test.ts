import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { listSharesOf } from '../../src/exchange/federation/changes.ts';
import type { OutboxRow } from '../../src/exchange/federation/outbox-row.ts';
import { renderChange } from '../../src/exchange/federation/render.ts';
import { collect } from '../collections/shelves.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { identityOf, openPair, rowsOf, settle, titlesOf } from './installs.ts';

const { harbour, studio, peerOfOne } = await openPair();
const [alice, eve] = [await harbour.join('alice'), await harbour.join('eve')];
const bob = await studio.join('bob');
const peer_id = peerOfOne;

/** Delivers what is pending, and returns the envelopes that were written. */
async function deliver(): Promise<string> {
  await settle(harbour, studio);
  const rows = await rowsOf(harbour, sql<{ text: string }>`delete from seen_envelopes returning text`);
  return rows.map(({ text }) => text).join('\n');
}

beforeAll(async () => {
  const { db } = harbour.database;
  await sql`create table seen_envelopes (text text)`.execute(db);
  // Envelopes are deleted once they are delivered, so a trigger keeps a copy.
  await sql`create function keep_envelope() returns trigger language plpgsql as
    'begin insert into seen_envelopes select unnest(new.preludes || new.envelope); return null; end'`.execute(
    db,
  );
  await sql`create trigger keep_envelope after update of envelope on federation_outbox
    for each row when (new.envelope is not null) execute function keep_envelope()`.execute(db);
});

const newPost = async (title: string, fields: object = {}, author = alice) =>
  publish(author, [await upload(author, plainFile(title), { sensitivity: 'posts' })], { title, ...fields });

describe('no envelope names', () => {
  // FED-79
  test('private posts, drafts and posts of others in a collection, when it is shared or they are edited', async () => {
    const shown = await newPost('Shown');
    const hidden = await newPost('Hidden', { visibility: 'private' });
    const draft = await newPost('Draft', { draft: true });
    const { id } = await collect(alice, 'Mixed', [shown, hidden, draft]);
    await alice.ok('putCollectionPeer', { params: { id, peer_id }, body: {} });
    const first = await deliver();
    expect(first).toContain(shown.id);
    await alice.ok('updatePost', { params: { id: hidden.id }, body: { title: 'Still hidden' } });
    await alice.ok('updatePost', { params: { id: draft.id }, body: { title: 'Still a draft' } });
    await alice.ok('deletePost', { params: { id: hidden.id }, body: undefined });
    const asset = draft.members[0]?.asset_id ?? '';
    await alice.ok('updateAsset', { params: { id: asset }, body: { title: 'Unknown' } });
    const sent = first + (await deliver());
    for (const secret of [hidden.id, draft.id, asset]) expect(sent).not.toContain(secret);
    // What becomes visible is sent.
    await alice.ok('publishPost', { params: { id: draft.id }, body: undefined });
    expect(await deliver()).toContain(draft.id);
  });

  // FED-79
  test('restricted and mature members of shared posts, when they are edited or deleted', async () => {
    const plain = await upload(alice, plainFile('plain'), { sensitivity: 'posts' });
    const restricted = await upload(alice, plainFile('secret'), { sensitivity: 'restricted' });
    const mature = await upload(alice, plainFile('adult'), { sensitivity: 'posts', mature: 'true' });
    const { id } = await publish(alice, [plain, restricted, mature], { title: 'Partly' });
    await alice.ok('putPostPeer', { params: { id, peer_id }, body: {} });
    const first = await deliver();
    expect(first).toContain(plain.id);
    for (const one of [restricted, mature]) {
      await alice.ok('updateAsset', { params: { id: one.id }, body: { title: 'Edited' } });
      await alice.ok('deleteAsset', { params: { id: one.id }, body: undefined });
    }
    const sent = first + (await deliver());
    for (const one of [restricted, mature]) expect(sent).not.toContain(one.id);
  });

  // FED-79
  test('what is made private or whose share ends before the first delivery', async () => {
    const ended = await newPost('Ended');
    const withdrawn = await newPost('Withdrawn');
    for (const { id } of [ended, withdrawn])
      await alice.ok('putPostPeer', { params: { id, peer_id }, body: {} });
    await alice.ok('deletePostPeer', { params: { id: ended.id, peer_id } });
    await alice.ok('updatePost', { params: { id: withdrawn.id }, body: { visibility: 'private' } });
    const sent = await deliver();
    for (const { id } of [ended, withdrawn]) expect(sent).not.toContain(id);
    // The share arrives with the post once it is visible.
    await alice.ok('updatePost', { params: { id: withdrawn.id }, body: { visibility: 'org-only' } });
    const later = await deliver();
    expect(later).toContain('aa:Share');
    expect(later).toContain(withdrawn.id);
    expect(await titlesOf(bob)).toContain('Withdrawn');
  });

  // FED-79
  test('comments that were deleted but never sent', async () => {
    const { id } = await newPost('Discussed');
    const early = await alice.ok('createComment', { params: { id }, body: { body: 'Before' } });
    await alice.ok('putPostPeer', { params: { id, peer_id }, body: {} });
    await alice.ok('deleteComment', { params: { id: early.id } });
    expect(await deliver()).not.toContain(early.id);
    const late = await alice.ok('createComment', { params: { id }, body: { body: 'After' } });
    await deliver();
    await alice.ok('deleteComment', { params: { id: late.id } });
    expect(await deliver()).toContain(late.id);
  });
});

// FED-79
test('what a peer received is withdrawn once, and changes of it afterwards are not sent', async () => {
  const { id } = await newPost('Once');
  await alice.ok('putPostPeer', { params: { id, peer_id }, body: {} });
  await deliver();
  await alice.ok('updatePost', { params: { id }, body: { visibility: 'private' } });
  expect(await deliver()).toContain('"Delete"');
  await alice.ok('updatePost', { params: { id }, body: { title: 'Private now' } });
  expect(await deliver()).not.toContain(id);
  await alice.ok('updatePost', { params: { id }, body: { visibility: 'org-only' } });
  await deliver();
  expect(await titlesOf(bob)).toContain('Private now');
});

// FED-78, FED-79
test('a withdrawal is written again for a peer that asks for it', async () => {
  const { id } = await newPost('Again');
  await alice.ok('putPostPeer', { params: { id, peer_id }, body: {} });
  await deliver();
  await alice.ok('updatePost', { params: { id }, body: { visibility: 'private' } });
  await deliver();
  const [row] = await rowsOf(
    harbour,
    sql<OutboxRow>`select * from federation_outbox where object_id = ${id} order by seq desc limit 1`,
  );
  if (row === undefined) throw new Error('the change is recorded');
  const { envelope } = await renderChange(harbour.deps, await identityOf(harbour), row);
  expect(envelope).toContain('"Delete"');
});

// FED-79
test('the list of shares for a peer names only what it was sent', async () => {
  const { id } = await newPost('Unlisted', {}, eve);
  await eve.ok('putPostPeer', { params: { id, peer_id }, body: {} });
  await eve.ok('updatePost', { params: { id }, body: { visibility: 'private' } });
  await deliver();
  const { shares } = await listSharesOf(harbour.deps, { kind: 'peer', peerId: peer_id }, {});
  expect(JSON.stringify(shares)).not.toContain(id);
});
