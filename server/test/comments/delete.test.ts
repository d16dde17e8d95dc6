import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { grant, nowhere } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

let library: Library;
let mara: Account;
let ines: Account;
let olga: Account;
let moderator: Account;
let teamModerator: Account;
let root: Account;
let picture: { id: string };
let post: string;
let team: string;
let otherTeam: string;

beforeAll(async () => {
  library = await openLibrary();
  [mara, ines, olga, moderator, teamModerator, root] = await Promise.all([
    library.join('mara'),
    library.join('ines'),
    library.join('olga'),
    library.join('moderator'),
    library.join('teammoderator'),
    library.join('root', 'admin'),
  ]);
  [team, otherTeam] = [await addTeam(library, 'press'), await addTeam(library, 'print')];
  await grant(library, moderator, 'posts.admin');
  await grant(library, teamModerator, 'posts.admin', team);
  // Many capabilities, but not posts.admin.
  await grant(library, olga, [
    'assets.admin',
    'content.read.all',
    'users.write',
    'share.grant',
    'teams.write',
  ]);
  picture = await upload(mara, plainFile());
});

beforeEach(async () => {
  post = (await publish(mara, [picture], { visibility: 'public' })).id;
});

const say = (caller: Visitor, body = 'x', parentId?: string) =>
  caller.ok('createComment', {
    params: { id: post },
    body: { body, ...(parentId === undefined ? {} : { parent_id: parentId }) },
  });
const remove = (caller: Visitor, id: string) => caller.ok('deleteComment', { params: { id } });
const removeRefused = async (caller: Visitor, id: string) =>
  (await caller.refused('deleteComment', { params: { id } })).status;
const threadOf = async () => (await ines.ok('listComments', { params: { id: post } })).items;
const countOf = async () => (await mara.ok('getPost', { params: { id: post } })).comment_count;

describe('DELETE /comments/{id}', () => {
  // COMMENT-8
  test('is 204 for its author, the post’s author, posts.admin and system.admin', async () => {
    for (const caller of [ines, mara, moderator, root]) {
      const comment = await say(ines);
      const answer = await caller.send(`/comments/${comment.id}`, { method: 'DELETE' });
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(await threadOf()).toEqual([]);
      expect(await countOf()).toBe(0);
    }
  });

  test('answers 403 to the author of the root for a reply of another account', async () => {
    const comment = await say(ines);
    const reply = await say(olga, 'reply', comment.id);
    expect(await removeRefused(ines, reply.id)).toBe(403);
    await remove(olga, reply.id);
    expect(await threadOf()).toMatchObject([{ id: comment.id, reply_count: 0 }]);
  });

  // COMMENT-8
  test('returns 403 to other readers, regardless of their capabilities', async () => {
    const comment = await say(ines);
    const reply = await say(mara, 'reply', comment.id);
    for (const id of [comment.id, reply.id]) expect(await removeRefused(olga, id)).toBe(403);
    expect(await threadOf()).toMatchObject([{ id: comment.id, replies: [{ id: reply.id }] }]);
    expect(await countOf()).toBe(2);
  });

  test('is open to posts.admin of a team only for posts of that team', async () => {
    const comment = await say(ines);
    const setTeam = (teamId: string | null) =>
      library.deps.db.updateTable('posts').set({ team_id: teamId }).where('id', '=', post).execute();
    for (const teamId of [null, otherTeam]) {
      await setTeam(teamId);
      expect(await removeRefused(teamModerator, comment.id)).toBe(403);
    }
    await setTeam(team);
    await remove(teamModerator, comment.id);
    expect(await countOf()).toBe(0);
  });

  // COMMENT-8
  test('deletes its replies too, and counts them off', async () => {
    const kept = await say(mara, 'kept');
    const keptReply = await say(ines, 'kept reply', kept.id);
    const gone = await say(ines, 'gone');
    const replies = [
      await say(mara, 'a', gone.id),
      await say(olga, 'b', gone.id),
      await say(ines, 'c', gone.id),
    ];
    const [early] = replies;
    // A reply that was deleted before is not subtracted twice.
    await remove(mara, early?.id ?? nowhere);
    expect(await countOf()).toBe(5);
    await remove(ines, gone.id);
    expect(await countOf()).toBe(2);
    expect(await threadOf()).toMatchObject([
      { id: kept.id, reply_count: 1, replies: [{ id: keptReply.id }] },
    ]);
    for (const { id } of replies) {
      expect(await removeRefused(root, id)).toBe(404);
      expect((await ines.refused('likeComment', { params: { id } })).status).toBe(404);
      expect((await ines.refused('updateComment', { params: { id }, body: { body: 'x' } })).status).toBe(404);
      expect((await ines.refused('listReplies', { params: { id } })).status).toBe(404);
    }
  });

  test('of a reply keeps the root and the other replies', async () => {
    const parent = await say(mara, 'parent');
    const first = await say(ines, 'first', parent.id);
    const second = await say(ines, 'second', parent.id);
    await remove(ines, first.id);
    expect(await threadOf()).toEqual([{ ...parent, reply_count: 1, replies: [second] }]);
    expect(await countOf()).toBe(2);
  });

  // COMMENT-8
  test('keeps the rows, with the time and the account', async () => {
    const comment = await say(ines);
    const reply = await say(olga, 'reply', comment.id);
    await remove(mara, comment.id);
    const rows = await library.deps.db
      .selectFrom('comments')
      .select(['id', 'body', 'deleted_by_user_ref', 'deleted_at'])
      .where('post_id', '=', post)
      .orderBy('created_at')
      .execute();
    expect(rows).toEqual([
      { id: comment.id, body: 'x', deleted_by_user_ref: mara.ref, deleted_at: expect.any(String) },
      { id: reply.id, body: 'reply', deleted_by_user_ref: mara.ref, deleted_at: expect.any(String) },
    ]);
  });

  test('answers 404 the second time and for an unknown comment, and counts once', async () => {
    const comment = await say(ines);
    await say(mara, 'another');
    await remove(ines, comment.id);
    for (const id of [comment.id, nowhere]) expect(await removeRefused(ines, id)).toBe(404);
    expect(await countOf()).toBe(1);
    expect((await ines.send('/comments/7', { method: 'DELETE' })).status).toBe(400);
  });

  // COMMENT-10
  test('answers 404 to accounts that can no longer read the post, also for their own comments', async () => {
    const comment = await say(ines);
    await mara.ok('updatePost', { params: { id: post }, body: { visibility: 'private' } });
    expect(await removeRefused(ines, comment.id)).toBe(404);
    expect(await removeRefused(olga, comment.id)).toBe(404);
    await remove(mara, comment.id);
  });

  // COMMENT-9
  test('works in drafts and in posts with comments disabled', async () => {
    const [first, second] = [await say(ines), await say(ines)];
    await mara.ok('updatePost', { params: { id: post }, body: { comments_enabled: false } });
    await remove(ines, first.id);
    await mara.ok('unpublishPost', { params: { id: post } });
    expect(await removeRefused(ines, second.id)).toBe(404);
    await remove(mara, second.id);
    expect(await countOf()).toBe(0);
  });

  test('works for comments from other servers and of removed accounts', async () => {
    const nina = await library.join('nina');
    const orphan = await say(nina);
    await library.deps.db.deleteFrom('users').where('ref', '=', nina.ref).execute();
    const { id: remote } = await library.deps.db
      .insertInto('comments')
      .values({ post_id: post, body: 'from a peer', remote_display_name: 'Ada', author_user_ref: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    for (const id of [orphan.id, remote]) {
      expect(await removeRefused(ines, id)).toBe(403);
      await remove(mara, id);
    }
    expect(await countOf()).toBe(0);
  });
});

describe('the audit log', () => {
  async function eventsOf(act: () => Promise<unknown>) {
    const all = () => library.deps.db.selectFrom('audit_events').selectAll().execute();
    const before = new Set((await all()).map(({ id }) => id));
    await act();
    return (await all()).filter(({ id }) => !before.has(id));
  }

  // COMMENT-11
  test('records the deletion of another account’s comment, with its author', async () => {
    const comment = await say(ines);
    const events = await eventsOf(() => remove(mara, comment.id));
    expect(events).toMatchObject([
      {
        event: 'comment.removed',
        actor_user_ref: mara.ref,
        subject_user_ref: ines.ref,
        target_kind: 'post',
        target_id: post,
        metadata: { comment_id: comment.id },
      },
    ]);
  });

  // COMMENT-11
  test('records neither the deletion of the caller’s own comment nor a refusal', async () => {
    const comment = await say(ines);
    expect(await eventsOf(() => removeRefused(olga, comment.id))).toEqual([]);
    expect(await eventsOf(() => remove(ines, comment.id))).toEqual([]);
  });

  test('names the impersonator and the impersonated account', async () => {
    const comment = await say(ines);
    const mask = visit(library.address, {}, root.cookie());
    await mask.ok('impersonate', { params: { ref: mara.ref }, body: {} });
    const events = await eventsOf(() => remove(mask, comment.id));
    expect(events).toMatchObject([
      { event: 'comment.removed', actor_user_ref: mara.ref, impersonator_user_ref: root.ref },
    ]);
  });
});

test('deleting a comment with many replies updates the count of the post once', async () => {
  const { db } = library.deps;
  const comment = await say(ines);
  await sql`insert into comments (post_id, parent_id, author_user_ref, body)
    select ${post}, ${comment.id}, ${ines.ref}, 'x' from generate_series(1, 300)`.execute(db);
  await sql`create table touched (at timestamptz default clock_timestamp())`.execute(db);
  await sql`create function touch() returns trigger language plpgsql as
    $$ begin insert into touched default values; return null; end $$`.execute(db);
  await sql`create trigger posts_touched after update on posts for each row execute function touch()`.execute(
    db,
  );
  await remove(ines, comment.id);
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from touched`.execute(db);
  await sql`drop trigger posts_touched on posts`.execute(db);
  expect(await countOf()).toBe(0);
  // Writing one row 10,000 times in one transaction takes 15 s, during which the post is locked.
  expect(rows[0]?.count).toBeLessThan(5);
});
