import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { pagesOf } from '../support/pages.ts';
import { actAs, grant } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { everyPost } from './people.ts';

const share = (who: Visitor, id: string, { ref }: { ref: number }) =>
  who.ok('putShare', { params: { id, user_ref: ref } });
const unshare = (who: Visitor, id: string, { ref }: { ref: number }) =>
  who.ok('deleteShare', { params: { id, user_ref: ref } });
const shared = () => publish(mara, [asset], { visibility: 'explicit-share' });

const eventsOf = (id: string) => auditEvents(library, { target_id: id });

/** Returns whether a caller can read the post, by every operation that would show it. */
async function reads(who: Visitor, id: string): Promise<boolean> {
  const single = (await who.send(`/posts/${id}`)).status === 200;
  const feed = (await everyPost(who)).includes(id);
  const featuring = await who.ok('listPostsByAsset', { params: { id: asset.id } });
  expect([feed, featuring.some((post) => post.id === id)]).toEqual([single, single]);
  return single;
}

const library = await openLibrary();
const [mara, ann, ben, editor] = await library.joinAll('mara', 'ann', 'ben', 'editor');
const root = await library.join('root', 'admin');
await grant(library, editor, 'posts.admin');
const asset = await upload(mara, plainFile());

// POST-2
describe('a post of visibility explicit-share is read by those it is shared with', () => {
  test('while they have a share', async () => {
    const { id } = await shared();
    expect(await reads(ann, id)).toBe(false);
    await share(mara, id, ann);
    expect([await reads(ann, id), await reads(ben, id)]).toEqual([true, false]);
    await unshare(mara, id, ann);
    expect(await reads(ann, id)).toBe(false);
  });

  // POST-8, POST-38
  test('a share has no effect on other visibilities and drafts', async () => {
    const { id } = await publish(mara, [asset], { visibility: 'private' });
    await share(mara, id, ann);
    const patch = (visibility: 'private' | 'followers' | 'explicit-share') =>
      mara.ok('updatePost', { params: { id }, body: { visibility } });
    expect(await reads(ann, id)).toBe(false);
    await patch('followers');
    expect(await reads(ann, id)).toBe(false);
    // The share remained, so it applies again.
    await patch('explicit-share');
    expect(await reads(ann, id)).toBe(true);
    await mara.ok('unpublishPost', { params: { id } });
    expect(await reads(ann, id)).toBe(false);
    await mara.ok('publishPost', { params: { id }, body: undefined });
    expect(await reads(ann, id)).toBe(true);
  });
});

// POST-38
describe('GET, PUT and DELETE /posts/{id}/shares/{user_ref}', () => {
  // POST-38
  test('PUT answers 201, then 200; DELETE answers 204, then 404', async () => {
    const { id } = await shared();
    const path = `/posts/${id}/shares/${ann.ref}`;
    expect(await mara.status('GET', path)).toBe(404);
    const put = () => mara.send(path, { method: 'PUT' });
    const [first, again] = [await put(), await put()];
    expect([first.status, again.status, again.text]).toEqual([201, 200, first.text]);
    const body = {
      user_ref: ann.ref,
      user: { ref: ann.ref, username: 'ann', display_name: 'ann', avatar_url: null },
      created_at: expect.any(String),
    };
    expect(JSON.parse(first.text)).toEqual(body);
    expect(await mara.ok('getShare', { params: { id, user_ref: ann.ref } })).toEqual(body);
    for (const status of [204, 404]) expect(await mara.status('DELETE', path)).toBe(status);
    const row = { actor_user_ref: mara.ref, subject_user_ref: ann.ref, impersonator_user_ref: null };
    expect(await eventsOf(id)).toMatchObject([
      { ...row, event: 'post.shared' },
      { ...row, event: 'post.unshared' },
    ]);
  });

  test('an unknown account is 404', async () => {
    const { id } = await shared();
    expect(await mara.refused('putShare', { params: { id, user_ref: 404_000 } })).toEqual({
      status: 404,
      error: 'user not found',
    });
    for (const ref of ['0', '-1', '9007199254740993', '9223372036854775807'])
      expect([ref, await mara.status('PUT', `/posts/${id}/shares/${ref}`)]).toEqual([ref, 404]);
  });

  test('administrators may share; the audit names impersonators', async () => {
    const { id } = await shared();
    await share(editor, id, ann);
    await share(await actAs(library, root, mara), id, ben);
    const event = 'post.shared';
    expect(await eventsOf(id)).toMatchObject([
      { event, actor_user_ref: editor.ref, subject_user_ref: ann.ref, impersonator_user_ref: null },
      { event, actor_user_ref: mara.ref, subject_user_ref: ben.ref, impersonator_user_ref: root.ref },
    ]);
  });

  test('several concurrent PUTs create one share and one event', async () => {
    const { id } = await shared();
    const path = `/posts/${id}/shares/${ann.ref}`;
    const statuses = async (method: string) => {
      const sent = Array.from({ length: 12 }, (_, i) => (i % 2 ? mara : editor).status(method, path));
      return (await Promise.all(sent)).sort();
    };
    expect(await statuses('PUT')).toEqual([...Array.from({ length: 11 }, () => 200), 201]);
    expect(await statuses('DELETE')).toEqual([204, ...Array.from({ length: 11 }, () => 404)]);
    expect((await eventsOf(id)).map(({ event }) => event)).toEqual(['post.shared', 'post.unshared']);
  });

  // POST-37
  test('shares of a deleted post are hidden until it is restored', async () => {
    const { id } = await shared();
    await share(mara, id, ann);
    await mara.ok('deletePost', { params: { id }, body: undefined });
    expect((await mara.refused('listShares', { params: { id } })).status).toBe(404);
    expect(await reads(ann, id)).toBe(false);
    await mara.ok('restorePost', { params: { id } });
    expect(await reads(ann, id)).toBe(true);
  });

  test('deleting an account deletes its shares', async () => {
    const gone = await library.join('gone');
    const { id } = await shared();
    await share(mara, id, gone);
    await library.deps.db.deleteFrom('users').where('ref', '=', gone.ref).execute();
    expect((await mara.ok('listShares', { params: { id } })).items).toEqual([]);
  });
});

test('pages of GET /posts/{id}/shares contain every share once', async () => {
  const { id } = await shared();
  const people = await Promise.all(Array.from({ length: 5 }, (_, i) => library.join(`person${i}`)));
  for (const person of people) await share(mara, id, person);
  const list = (query: object) => mara.ok('listShares', { params: { id }, query });
  const pages = await pagesOf((from) => list({ limit: 2, ...from }));
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  const refs = pages.flat().map(({ user_ref }) => user_ref);
  expect(refs.sort()).toEqual(people.map(({ ref }) => ref).sort());
  for (const bad of ['ref x', 'ref {"ref":-1}', 'ref {"ref":1.5}', 'ref null']) {
    const cursor = Buffer.from(bad).toString('base64url');
    expect(await mara.status('GET', `/posts/${id}/shares?cursor=${cursor}`)).toBe(400);
  }
});
