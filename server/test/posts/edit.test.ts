import type { Post, PostUpdate } from '@vitrine/contract/posts';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { comparable, type Visitor } from '../support/client.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { actAs, bearer, grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

const another = (owner: Account, fields: Record<string, string> = {}) => upload(owner, plainFile(), fields);
const patch = (who: Visitor, id: string, body: PostUpdate) => who.ok('updatePost', { params: { id }, body });
const refusal = (who: Visitor, id: string, body: PostUpdate) =>
  who.refused('updatePost', { params: { id }, body });
const send = (who: Visitor, id: string, body: unknown) => who.send(`/posts/${id}`, { method: 'PATCH', body });
const read = (who: Visitor, id: string) => who.ok('getPost', { params: { id } });
const idsOf = (post: Post) => post.members.map(({ asset_id }) => asset_id);
const placesOf = (post: Post) => post.members.map(({ asset_id, sort_order }) => [asset_id, sort_order]);
const named = (...assets: { id: string }[]) => assets.map(({ id }) => ({ asset_id: id }));
/** The body of a 409 for a post that was last changed at this time. */
const changedAt = (updated_at: string) => ({ error: 'it has changed; reload it', updated_at });

const library = await openLibrary();
const { db } = library.deps;
const [mara, stranger, editor, other] = await library.joinAll('mara', 'stranger', 'editor', 'other');
const root = await library.join('root', 'admin');
await grant(library, editor, 'posts.admin');
const [one, two, three] = [await another(mara), await another(mara), await another(mara)];

// HTTP-17
describe('PATCH /posts/{id} changes the given properties', () => {
  // POST-46
  test('and nothing else but updated_at', async () => {
    let before = await publish(mara, [one, two], { title: 'old', description: 'old', tags: ['a'] });
    const changes: PostUpdate[] = [
      { title: '' },
      { title: 'x'.repeat(500) },
      { description: '' },
      { description: 'x'.repeat(20_000) },
      { visibility: 'followers' },
      { comments_enabled: false },
      { tags: [] },
      { tags: Array.from({ length: 50 }, (_, i) => `${i}`.padStart(64, 't')) },
      { cover_focal_x: 0, cover_focal_y: 1 },
    ];
    for (const body of changes) {
      const after = await patch(mara, before.id, body);
      expect(after).toEqual({ ...before, ...body, updated_at: after.updated_at });
      expect(await read(mara, before.id)).toEqual(after);
      expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
      before = after;
    }
    expect((await patch(mara, before.id, { tags: ['b', 'a', 'b'] })).tags).toEqual(['b', 'a']);
  });

  // HTTP-18
  test('absent and null properties, and flags that are false, change nothing', async () => {
    const before = await mara.ok('createPost', {
      body: {
        members: named(one, two),
        title: 'kept',
        description: 'kept',
        visibility: 'private',
        cover_asset_id: two.id,
        cover_thumbnail_asset_id: three.id,
        cover_focal_x: 0.25,
        cover_focal_y: 0.75,
        comments_enabled: false,
        tags: ['kept'],
        team_id: await addTeam(library, 'kept', [mara]),
      },
    });
    const nothing: PostUpdate[] = [
      {},
      { if_unchanged_since: before.updated_at },
      { clear_cover: false, clear_cover_focal: false, clear_cover_thumbnail: false, clear_team: false },
      { clear_cover: null, clear_cover_focal: null, clear_cover_thumbnail: null, clear_team: null },
      {
        members: null,
        title: null,
        description: null,
        visibility: null,
        cover_asset_id: null,
        cover_thumbnail_asset_id: null,
        cover_focal_x: null,
        cover_focal_y: null,
        draft: null,
        comments_enabled: null,
        tags: null,
        team_id: null,
        if_unchanged_since: null,
      },
    ];
    for (const body of nothing) expect(await patch(mara, before.id, body)).toEqual(before);
    expect(await read(mara, before.id)).toEqual(before);
  });

  // POST-6
  test('accepts draft with its current value, and does not change it', async () => {
    const draft = await publish(mara, [one], { draft: true });
    expect(await patch(mara, draft.id, { draft: true, title: 'still' })).toMatchObject({ draft: true });
    expect((await refusal(mara, draft.id, { draft: false, title: 'no' })).status).toBe(400);
    expect(await read(mara, draft.id)).toMatchObject({ draft: true, title: 'still' });
    const post = await publish(mara, [one], { title: 'out' });
    expect((await refusal(mara, post.id, { draft: true, title: 'no' })).status).toBe(400);
    expect(await patch(mara, post.id, { draft: false })).toMatchObject({ draft: false, title: 'out' });
  });
});

describe('PATCH /posts/{id} refuses invalid changes and writes nothing', () => {
  // POST-6
  test('properties that the server sets are 400, by their names', async () => {
    const before = await publish(mara, [one], { title: 'as it was' });
    const unknown = ['state_id', 'ai_provenance', 'author_user_ref', 'posted_at', 'like_count', 'liked'];
    for (const key of [...unknown, 'comment_count', 'comments_preview', 'deleted_at']) {
      const sent = await send(mara, before.id, { title: 'changed', [key]: null });
      expect([sent.status, JSON.parse(sent.text)]).toEqual([400, { error: `unknown property ${key}` }]);
    }
    expect(await read(mara, before.id)).toEqual(before);
  });

  test('changes that contradict each other are 400', async () => {
    const before = await publish(mara, [one], { title: 'as it was', cover_focal_x: 0.5, cover_focal_y: 0.5 });
    const bad: Record<string, PostUpdate> = {
      'the same member twice': { members: named(one, two, one) },
      'the same member twice in another case': { members: named(one, { id: one.id.toUpperCase() }) },
      'a cover that is no member': { cover_asset_id: two.id },
      'a cover that is a member no longer': { members: named(two), cover_asset_id: one.id },
      'only the first coordinate': { cover_focal_x: 0.5 },
      'only the second coordinate': { cover_focal_y: 0.5 },
      'a coordinate beside null': { cover_focal_x: null, cover_focal_y: 0.5 },
      'a coordinate beside clear_cover_focal': { cover_focal_x: 0.1, clear_cover_focal: true },
      'clear_cover beside a cover': { clear_cover: true, cover_asset_id: one.id },
      'clear_cover_thumbnail beside one': { clear_cover_thumbnail: true, cover_thumbnail_asset_id: two.id },
      'clear_cover_focal beside a pair': { clear_cover_focal: true, cover_focal_x: 0.5, cover_focal_y: 0.5 },
    };
    for (const [name, body] of Object.entries(bad))
      expect([name, (await send(mara, before.id, { title: 'no', ...body })).status]).toEqual([name, 400]);
    expect(await read(mara, before.id)).toEqual(before);
  });
});

// POST-5
describe('the editor of a post', () => {
  // POST-3, POST-5, TOKEN-9
  test('does not become its author; a stranger’s token with the scope `admin` does not edit', async () => {
    const draft = await publish(mara, [one], { visibility: 'private', draft: true });
    const mask = await actAs(library, root, mara);
    const script = await bearer(library, mara, ['posts.write']);
    for (const [title, who] of Object.entries({ mara, editor, root, mask, script }))
      expect(await patch(who, draft.id, { title })).toMatchObject({ title, author_user_ref: mara.ref });
    const post = await publish(mara, [one], { visibility: 'public' });
    const foreign = await bearer(library, stranger, ['admin']);
    expect((await refusal(foreign, post.id, { title: 'x' })).status).toBe(403);
  });

  // POST-4
  test('hides a post from its readers immediately, behind the 404 of a missing post', async () => {
    const post = await publish(mara, [one], { visibility: 'org-only' });
    await read(stranger, post.id);
    await patch(mara, post.id, { visibility: 'private' });
    expect(comparable(await stranger.send(`/posts/${post.id}`))).toEqual(
      comparable(await stranger.send(`/posts/${nowhere}`)),
    );
  });
});

// POST-32
test('comments_enabled is set by those who may edit the post, and never null', async () => {
  const { id } = await publish(mara, [one], { comments_enabled: false });
  expect((await stranger.ok('getMyCapabilities')).capabilities).toContain('posts.comment');
  expect((await refusal(stranger, id, { comments_enabled: true })).status).toBe(403);
  expect((await patch(editor, id, { comments_enabled: true })).comments_enabled).toBe(true);
  await expect(sql`update posts set comments_enabled = null where id = ${id}`.execute(db)).rejects.toThrow(
    /not-null/,
  );
});

// HTTP-19
describe('if_unchanged_since', () => {
  test('accepts an edit when the post has not changed since', async () => {
    let post = await publish(mara, [one]);
    post = await patch(mara, post.id, { title: 'a', if_unchanged_since: post.updated_at });
    const inParis = `${new Date(Date.parse(post.updated_at) + 7_200_000).toISOString().slice(0, -1)}+02:00`;
    post = await patch(mara, post.id, { title: 'b', if_unchanged_since: inParis });
    post = await patch(mara, post.id, { title: 'c', if_unchanged_since: '2999-01-01T00:00:00Z' });
    expect(post.title).toBe('c');
  });

  test('answers 409 with the current updated_at when the post has changed, and writes nothing', async () => {
    const post = await publish(mara, [one, two]);
    const first = await patch(mara, post.id, { title: 'first' });
    for (const if_unchanged_since of [post.updated_at, '1970-01-01T00:00:00Z']) {
      const body = { title: 'second', members: named(two), tags: ['x'], if_unchanged_since };
      const sent = await send(mara, post.id, body);
      expect([sent.status, JSON.parse(sent.text)]).toEqual([409, changedAt(first.updated_at)]);
    }
    expect(await read(mara, post.id)).toEqual(first);
    // Callers who may not edit do not learn that it has changed.
    expect((await refusal(stranger, post.id, { if_unchanged_since: post.updated_at })).status).toBe(403);
  });

  // HTTP-19
  test('lets exactly one of several concurrent editors through', async () => {
    for (const editors of [2, 10]) {
      const post = await publish(mara, [one, two]);
      const answers = await Promise.all(
        Array.from({ length: editors }, (_, i) =>
          send(i % 2 ? mara : editor, post.id, { title: `by ${i}`, if_unchanged_since: post.updated_at }),
        ),
      );
      const won = answers.flatMap(({ status, text }) => (status === 200 ? [text] : []));
      expect(won).toHaveLength(1);
      const winner: Post = JSON.parse(won[0] ?? '');
      expect((await read(mara, post.id)).title).toBe(winner.title);
      for (const { status, text } of answers.filter((answer) => answer.status !== 200))
        expect([status, JSON.parse(text)]).toEqual([409, changedAt(winner.updated_at)]);
    }
  });

  // HTTP-18
  test('every edit increases updated_at, also when the clock is behind', async () => {
    const post = await publish(mara, [one]);
    // Simulates a server whose clock was ahead.
    await sql`update posts set updated_at = now() + interval '1 hour' where id = ${post.id}`.execute(db);
    let before = await read(mara, post.id);
    for (let i = 0; i < 3; i += 1) {
      const after = await patch(mara, post.id, { title: `edit ${i}` });
      expect(Date.parse(after.updated_at)).toBe(Date.parse(before.updated_at) + 1);
      expect((await refusal(mara, post.id, { if_unchanged_since: before.updated_at })).status).toBe(409);
      before = after;
    }
  });

  // POST-34
  test('likes and comments do not cause a 409; publishing does for those who read the draft', async () => {
    const draft = await publish(mara, [one], { draft: true });
    const post = await mara.ok('publishPost', { params: { id: draft.id }, body: undefined });
    await stranger.ok('likePost', { params: { id: post.id } });
    await stranger.ok('createComment', { params: { id: post.id }, body: { body: 'nice' } });
    const sent = await send(mara, draft.id, { title: 'x', if_unchanged_since: draft.updated_at });
    expect([sent.status, JSON.parse(sent.text).updated_at]).toEqual([409, post.updated_at]);
    const mine = await patch(mara, post.id, { title: 'mine', if_unchanged_since: post.updated_at });
    expect(mine).toMatchObject({ title: 'mine', like_count: 1, comment_count: 1 });
  });
});

// POST-18
describe('members are replaced', () => {
  // POST-18
  test('in order of sort_order, then of the request', async () => {
    const post = await publish(mara, [one, two, three]);
    expect(idsOf(await patch(mara, post.id, { members: named(three, one) }))).toEqual([three.id, one.id]);
    const members = [
      { asset_id: one.id, sort_order: 7 },
      { asset_id: two.id.toUpperCase(), sort_order: 3 },
    ];
    expect(placesOf(await patch(mara, post.id, { members }))).toEqual([
      [two.id, 3],
      [one.id, 7],
    ]);
  });

  // POST-18
  test('members of equal sort_order keep the order of the request', async () => {
    const [first, second] = one.id < two.id ? [two, one] : [one, two];
    const members = [first, second, three].map(({ id }) => ({ asset_id: id, sort_order: 4 }));
    const made = await mara.ok('createPost', { body: { members, cover_focal_x: 0.1, cover_focal_y: 0.2 } });
    const there = [first.id, second.id, three.id].map((id, i) => [id, 4 + i]);
    expect(placesOf(made)).toEqual(there);
    expect([made.cover_asset_id, made.cover_focal_x]).toEqual([first.id, 0.1]);
    const post = await publish(mara, [three]);
    expect(placesOf(await patch(mara, post.id, { members }))).toEqual(there);
    // At the end of the positions they move forward, so that the answer may be sent back.
    const last = members.map(({ asset_id }) => ({ asset_id, sort_order: 1_000_000 }));
    const edited = await patch(mara, post.id, { members: last });
    expect(placesOf(edited)).toEqual(members.map(({ asset_id }, i) => [asset_id, 999_998 + i]));
    const again = edited.members.map(({ asset_id, sort_order }) => ({ asset_id, sort_order }));
    expect(placesOf(await patch(mara, post.id, { members: again }))).toEqual(placesOf(edited));
  });

  // POST-16
  test('accepts 200 members, including those in the trash', async () => {
    const { rows } = await sql<{ id: string }>`
      insert into assets (owner_user_ref, asset_type, file_hash, file_name, processing_status)
      select owner_user_ref, asset_type, file_hash, file_name, 'ready' from assets, generate_series(1, 200)
      where id = ${one.id} returning id`.execute(db);
    const post = await publish(mara, [one]);
    expect(idsOf(await patch(mara, post.id, { members: named(...rows) }))).toEqual(rows.map(({ id }) => id));
    const [first = { id: '' }, ...others] = rows;
    await mara.ok('deleteAsset', { params: { id: first.id }, body: undefined });
    expect(await refusal(mara, post.id, { members: named(one, ...others) })).toMatchObject({ status: 409 });
    expect(idsOf(await patch(mara, post.id, { members: named(...others) }))).toHaveLength(199);
    const replaced = await patch(mara, post.id, { members: named(one, ...others.slice(1)) });
    expect(idsOf(replaced)).toHaveLength(199);
  });

  // POST-20
  test('a deleted asset keeps its place, may be named, and returns when it is restored', async () => {
    const b = await another(mara);
    const at = (asset: { id: string }, sort_order: number) => ({ asset_id: asset.id, sort_order });
    const post = await mara.ok('createPost', { body: { members: [at(one, 0), at(b, 5), at(two, 10)] } });
    await mara.ok('deleteAsset', { params: { id: b.id }, body: undefined });
    expect(idsOf(await read(mara, post.id))).toEqual([one.id, two.id]);
    const members = [at(two, 1), at(three, 9)];
    expect(idsOf(await patch(mara, post.id, { members }))).toEqual([two.id, three.id]);
    await mara.ok('restoreAsset', { params: { id: b.id } });
    expect((await read(mara, post.id)).members).toMatchObject([at(two, 1), at(b, 5), at(three, 9)]);
    await mara.ok('deleteAsset', { params: { id: b.id }, body: undefined });
    expect(idsOf(await patch(mara, post.id, { members: named(b, one) }))).toEqual([one.id]);
    await mara.ok('restoreAsset', { params: { id: b.id } });
    expect(idsOf(await read(mara, post.id))).toEqual([b.id, one.id]);
  });

  // POST-17, POST-19
  test('an asset that the editor cannot read is 404, and nothing is written', async () => {
    const hidden = await another(other, { status: 'draft' });
    const withheld = await another(other, { sensitivity: 'restricted', title: 'secret' });
    const deleted = await another(mara);
    await mara.ok('deleteAsset', { params: { id: deleted.id }, body: undefined });
    const post = await publish(mara, [one], { title: 'as it was' });
    for (const asset of [hidden, withheld, deleted, { id: nowhere }]) {
      const missing = { status: 404, error: `asset ${asset.id} not found` };
      for (const body of [{ members: named(one, asset) }, { cover_thumbnail_asset_id: asset.id }])
        expect(await refusal(mara, post.id, { ...body, title: 'no' })).toEqual(missing);
    }
    expect(await read(mara, post.id)).toEqual(post);
  });

  // POST-19
  test('new members must be readable by the editor, not by the author', async () => {
    const own = await another(mara, { status: 'draft' });
    const post = await publish(mara, [one]);
    expect((await refusal(editor, post.id, { members: named(one, own) })).status).toBe(404);
    expect(idsOf(await patch(root, post.id, { members: named(one, own) }))).toEqual([one.id, own.id]);
    // It is a member now, so posts.admin may keep it without being able to read it.
    const { members } = await patch(editor, post.id, { members: named(own, one) });
    const placeholder = { restricted: true, owner_display_name: 'mara' };
    expect(members[0]).toEqual({ asset_id: own.id, sort_order: 0, ...placeholder });
  });

  // POST-24
  test('the standalone thumbnail cannot be a member', async () => {
    const post = await publish(mara, [one], { cover_thumbnail_asset_id: two.id });
    const told = { status: 400, error: 'cover_thumbnail_asset_id is one of the members' };
    expect(await refusal(mara, post.id, { members: named(one, two) })).toEqual(told);
    expect(await refusal(mara, post.id, { cover_thumbnail_asset_id: one.id.toUpperCase() })).toEqual(told);
    const swapped = await patch(mara, post.id, { members: named(two), cover_thumbnail_asset_id: one.id });
    expect([idsOf(swapped), swapped.cover_thumbnail_asset_id]).toEqual([[two.id], one.id]);
    await patch(mara, post.id, { members: named(one, two), clear_cover_thumbnail: true });
  });

  // POST-19
  test('members that are no longer readable may be kept, but not added again', async () => {
    const borrowed = await another(other);
    const cover = await another(other);
    const post = await publish(mara, [one, borrowed], { cover_thumbnail_asset_id: cover.id });
    for (const { id } of [borrowed, cover])
      await other.ok('updateAsset', { params: { id }, body: { status: 'draft' } });
    const body = { members: named(borrowed, one, two), cover_thumbnail_asset_id: cover.id };
    expect(idsOf(await patch(mara, post.id, body))).toEqual([borrowed.id, one.id, two.id]);
    const swaps = [
      { members: named(one, cover), clear_cover_thumbnail: true },
      { members: named(one), cover_thumbnail_asset_id: borrowed.id },
    ];
    for (const swap of swaps) expect((await refusal(mara, post.id, swap)).status).toBe(404);
    await patch(mara, post.id, { members: named(one), clear_cover_thumbnail: true });
    expect((await refusal(mara, post.id, { members: named(one, borrowed) })).status).toBe(404);
  });

  test('one of several concurrent replacements wins entirely', async () => {
    const sets = [named(one), named(two, one), named(three, two, one), named(two, three), named(one, three)];
    const post = await publish(mara, [one]);
    const answers = await Promise.all(
      [...sets, ...sets].map((members, i) => send(i % 2 ? mara : editor, post.id, { members })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const final = named(...idsOf(await read(mara, post.id)).map((id) => ({ id })));
    expect(sets).toContainEqual(final);
  });

  test('an asset deleted while it is added is refused or omitted', async () => {
    for (let round = 0; round < 4; round += 1) {
      const asset = await another(mara);
      const post = await publish(mara, [one]);
      const [edited, deleted] = await Promise.all([
        send(mara, post.id, { members: named(one, asset) }),
        mara.send(`/assets/${asset.id}`, { method: 'DELETE' }),
      ]);
      expect([deleted.status, [200, 404].includes(edited.status)]).toEqual([204, true]);
      expect(idsOf(await read(mara, post.id))).toEqual([one.id]);
    }
  });
});

// POST-35
describe('a post moves between teams', () => {
  // POST-35
  test('to a team of the editor, or to any with teams.write; others are 404', async () => {
    const mine = await addTeam(library, 'mine', [mara]);
    const theirs = await addTeam(library, 'theirs', [other]);
    const gone = await addTeam(library, 'gone', [mara]);
    await root.ok('deleteTeam', { params: { id: gone } });
    const post = await publish(mara, [one], { title: 'still' });
    expect(await patch(mara, post.id, { team_id: mine })).toMatchObject({ team_id: mine });
    const missing = { status: 404, error: 'team not found' };
    for (const team_id of [theirs, gone, nowhere])
      expect(await refusal(mara, post.id, { team_id, title: 'no' })).toEqual(missing);
    expect(await read(mara, post.id)).toMatchObject({ team_id: mine, title: 'still' });
    expect(await patch(root, post.id, { team_id: theirs })).toMatchObject({ team_id: theirs });
    // It is already a member, so naming it again requires no right.
    for (const team_id of [theirs, theirs.toUpperCase()])
      expect(await patch(mara, post.id, { team_id, title: 'moved' })).toMatchObject({ title: 'moved' });
    expect((await patch(mara, post.id, { team_id: null })).team_id).toBe(theirs);
  });

  // POST-35, POST-36
  test('to no team with clear_team; its lead loses the post with the team, also by moving it', async () => {
    const team = await addTeam(library, 'left', [mara]);
    const there = await addTeam(library, 'there', [mara]);
    const lead = await library.join('leftlead');
    await grant(library, lead, 'posts.admin', team);
    for (const who of [mara, editor, lead]) {
      const post = await publish(mara, [one], { title: 'still', team_id: team });
      const contradiction = { clear_team: true, team_id: team, title: 'no' };
      expect((await refusal(who, post.id, contradiction)).status).toBe(400);
      expect(await read(mara, post.id)).toMatchObject({ team_id: team, title: 'still' });
      for (const editing of [who, mara])
        expect(Object.keys(await patch(editing, post.id, { clear_team: true }))).not.toContain('team_id');
    }
    const hidden = await publish(mara, [one], { visibility: 'private', team_id: team, title: 'still' });
    // Outside the team, its lead could no longer read it.
    expect((await refusal(lead, hidden.id, { clear_team: true, title: 'no' })).status).toBe(404);
    expect(await read(mara, hidden.id)).toMatchObject({ team_id: team, title: 'still' });
    await patch(lead, hidden.id, { title: 'by the lead' });
    await patch(mara, hidden.id, { team_id: there });
    expect((await refusal(lead, hidden.id, { title: 'again' })).status).toBe(404);
  });

  // POST-36
  test('a refused edit writes nothing, also when it would move the post', async () => {
    const from = await addTeam(library, 'from', [mara]);
    const lead = await library.join('fromlead');
    const to = await addTeam(library, 'to', [lead]);
    await grant(library, lead, 'posts.admin', from);
    const post = await publish(mara, [one], { visibility: 'private', team_id: from, title: 'here' });
    expect((await refusal(lead, post.id, { team_id: to, title: 'there' })).status).toBe(404);
    expect(await read(mara, post.id)).toMatchObject({ title: 'here', team_id: from });
  });
});
