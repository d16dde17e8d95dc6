import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, type Library, openLibrary, password, publish, upload } from '../support/library.ts';
import { actAs, grant } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

let library: Library;
let root: Account;
let mara: Account;
let made = 0;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  mara = await library.join('mara');
});

const newcomer = (role: 'admin' | 'member' = 'member') => {
  made += 1;
  return library.join(`newcomer-${made}`, role);
};
const remove = async (by: Account, ref: number) =>
  (await by.send(`/admin/users/${ref}`, { method: 'DELETE' })).status;
const eventsAbout = (ref: number) =>
  library.deps.db
    .selectFrom('audit_events')
    .select(['event', 'actor_user_ref', 'metadata'])
    .where('subject_user_ref', '=', ref)
    .where('event', '=', 'user.deleted')
    .execute();

/** Returns all columns with a foreign key to accounts, each with the number of rows that name this account. */
async function rowsOf(ref: number): Promise<string[]> {
  const { rows: columns } = await library.database.pool.query<{ table: string; column: string }>(`
    select c.conrelid::regclass::text as table, a.attname as column from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid in ('users'::regclass, 'two_factor'::regclass)`);
  const left: string[] = [];
  for (const { table, column } of columns) {
    const { rows } = await library.database.pool.query(`select from ${table} where ${column} = $1 limit 1`, [
      ref,
    ]);
    if (rows.length > 0) left.push(`${table}.${column}`);
  }
  return left;
}

// USER-12
describe('DELETE /admin/users/{ref}', () => {
  // USER-12
  test('keeps posts and comments without an identity and deletes everything personal', async () => {
    const leaver = await newcomer();
    const picture = await upload(leaver, await jpeg(60, 40));
    const post = await publish(leaver, [picture], { visibility: 'public', title: 'Left behind' });
    const board = await leaver.ok('createCollection', { body: { name: 'Left shelf', visibility: 'public' } });
    const target = await publish(mara, [await upload(mara, await jpeg(50, 40))], { visibility: 'public' });
    const params = { id: target.id };
    const comment = await leaver.ok('createComment', { params, body: { body: 'So long' } });
    const own = await mara.ok('createComment', { params, body: { body: 'Stay' } });
    await leaver.ok('likePost', { params });
    await leaver.ok('likeComment', { params: { id: own.id } });
    await leaver.ok('followUser', { params: { ref: mara.ref } });
    await mara.ok('followUser', { params: { ref: leaver.ref } });
    await leaver.ok('createToken', { body: { name: 'script', scopes: ['read'] } });
    await library.deps.db
      .insertInto('two_factor')
      .values({ user_ref: leaver.ref, sealed_secret: Buffer.from('sealed') })
      .execute();
    await library.deps.db
      .insertInto('recovery_codes')
      .values({ user_ref: leaver.ref, code_hash: Buffer.from('code') })
      .execute();
    await grant(library, leaver, 'jobs.read');
    await addTeam(library, `team-of-${leaver.username}`, [leaver]);
    await mara.ok('putShare', { params: { id: target.id, user_ref: leaver.ref } });
    await library.runJobs();
    expect((await mara.ok('getPost', { params })).like_count).toBe(1);
    expect((await rowsOf(leaver.ref)).length).toBeGreaterThan(6);

    expect(await remove(root, leaver.ref)).toBe(204);

    expect(await rowsOf(leaver.ref)).toEqual([]);
    expect((await leaver.send('/account/profile')).status).toBe(401);
    expect((await mara.refused('getUser', { params: { ref: leaver.ref } })).status).toBe(404);
    expect(await remove(root, leaver.ref)).toBe(404);
    expect(await eventsAbout(leaver.ref)).toEqual([
      { event: 'user.deleted', actor_user_ref: root.ref, metadata: { username: leaver.username } },
    ]);

    const shown = await mara.ok('getPost', { params: { id: post.id } });
    expect(shown).toMatchObject({ author_user_ref: leaver.ref, title: 'Left behind' });
    expect(shown).not.toHaveProperty('author');
    const asset = await mara.ok('getAsset', { params: { id: picture.id } });
    expect(asset).toMatchObject({ restricted: false, owner_user_ref: leaver.ref });
    expect(asset).not.toHaveProperty('owner');
    expect(await mara.ok('getCollection', { params: { id: board.id } })).not.toHaveProperty('owner');
    const { items } = await mara.ok('listComments', { params });
    const left = items.find(({ id }) => id === comment.id);
    expect(left).toMatchObject({ body: 'So long' });
    expect(left).not.toHaveProperty('author');
    expect(items.find(({ id }) => id === own.id)?.like_count).toBe(0);
    expect(await mara.ok('getPost', { params })).toMatchObject({ like_count: 0, comment_count: 2 });
    expect(await mara.ok('getUser', { params: { ref: mara.ref } })).toMatchObject({
      follower_count: 0,
      following_count: 0,
    });
    // Notifications of others do not name deleted accounts.
    expect(JSON.stringify(await mara.ok('listNotifications'))).not.toContain(leaver.username);
  });

  // USER-12
  test('frees the name without passing the old content to a new account', async () => {
    const { ref, username } = await newcomer();
    expect(await remove(root, ref)).toBe(204);
    const again = await root.ok('createUser', { body: { username, password } });
    expect(again.ref).not.toBe(ref);
  });

  test('needs users.write, and is 403 for an account that may do more', async () => {
    const [manager, victim, chief] = [await newcomer(), await newcomer(), await newcomer('admin')];
    expect(await remove(manager, victim.ref)).toBe(403);
    expect((await library.anonymous().send(`/admin/users/${victim.ref}`, { method: 'DELETE' })).status).toBe(
      401,
    );
    await grant(library, manager, 'users.write');
    expect(await remove(manager, chief.ref)).toBe(403);
    expect(await remove(manager, victim.ref)).toBe(204);
    expect(await remove(manager, 999_999)).toBe(404);
    expect(await remove(root, chief.ref)).toBe(204);
  });

  // USER-13
  test('is refused during an impersonation', async () => {
    const [manager, victim] = [await newcomer(), await newcomer()];
    await grant(library, manager, 'users.write');
    const mask = await actAs(library, root, manager);
    expect((await mask.send(`/admin/users/${victim.ref}`, { method: 'DELETE' })).status).toBe(403);
  });

  // USER-13
  test('answers 400 for the own account and for the last administrator', async () => {
    expect(await remove(root, root.ref)).toBe(400);
    const brief = await newcomer();
    await library.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: brief.ref, capability: 'system.admin', expires_at: '2099-01-01T00:00:00Z' })
      .execute();
    // An expiring grant does not make a permanent administrator.
    expect(await remove(brief, root.ref)).toBe(400);
    expect(await eventsAbout(root.ref)).toEqual([]);
    await root.ok('getPublicMode');
  });

  test('keeps one of two administrators who delete each other concurrently', async () => {
    const other = await openLibrary();
    const [one, two] = [await other.join('one', 'admin'), await other.join('two', 'admin')];
    const statuses = await Promise.all([remove(one, two.ref), remove(two, one.ref)]);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    const left = await other.deps.db.selectFrom('users').select('ref').execute();
    expect(left).toHaveLength(1);
  });
});
