import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, password, publish, upload } from '../support/library.ts';
import { grant, setStatus } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

let made = 0;

const library = await openLibrary();
const root = await library.join('root', 'admin');
const mara = await library.join('mara');

const newcomer = (role: 'admin' | 'member' = 'member') => {
  made += 1;
  return library.join(`newcomer-${made}`, role);
};
const remove = (by: Account, ref: number) => by.status('DELETE', `/admin/users/${ref}`);
/** Returns all columns with a foreign key to accounts, each with the number of rows that name this account. */
async function rowsOf(ref: number): Promise<string[]> {
  const { rows: columns } = await library.database.pool.query<{ table: string; column: string }>(`
    select c.conrelid::regclass::text as table, a.attname as column from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid in ('users'::regclass, 'two_factor'::regclass)`);
  const left: string[] = [];
  for (const { table, column } of columns) {
    const query = `select from ${table} where ${column} = $1 limit 1`;
    const { rows } = await library.database.pool.query(query, [ref]);
    if (rows.length > 0) left.push(`${table}.${column}`);
  }
  return left;
}

// USER-12
describe('DELETE /admin/users/{ref}', () => {
  // USER-12
  test('keeps posts and comments without an identity and deletes everything personal', async () => {
    const leaver = await newcomer();
    const picture = await upload(leaver, plainFile('left'));
    const post = await publish(leaver, [picture], { visibility: 'public', title: 'Left behind' });
    const board = await leaver.ok('createCollection', { body: { name: 'Left shelf', visibility: 'public' } });
    const target = await publish(mara, [await upload(mara, plainFile('kept'))], { visibility: 'public' });
    const params = { id: target.id };
    const comment = await leaver.ok('createComment', { params, body: { body: 'So long' } });
    const own = await mara.ok('createComment', { params, body: { body: 'Stay' } });
    await leaver.ok('likePost', { params });
    await leaver.ok('likeComment', { params: { id: own.id } });
    await leaver.ok('followUser', { params: { ref: mara.ref } });
    await mara.ok('followUser', { params: { ref: leaver.ref } });
    await leaver.ok('createToken', { body: { name: 'script', scopes: ['read'] } });
    const { db } = library.deps;
    const bytes = Buffer.from('sealed');
    await db.insertInto('two_factor').values({ user_ref: leaver.ref, sealed_secret: bytes }).execute();
    await db.insertInto('recovery_codes').values({ user_ref: leaver.ref, code_hash: bytes }).execute();
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
    expect(await auditEvents(library, { event: 'user.deleted' })).toMatchObject([
      { actor_user_ref: root.ref, subject_user_ref: leaver.ref, metadata: { username: leaver.username } },
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

  // USER-13
  test('refuses unknown accounts, accounts with more rights, one’s own account and the last administrator', async () => {
    const [manager, chief, brief] = [await newcomer(), await newcomer('admin'), await newcomer()];
    await grant(library, manager, 'users.write');
    expect([await remove(manager, chief.ref), await remove(manager, 999_999)]).toEqual([403, 404]);
    expect([await remove(root, chief.ref), await remove(root, root.ref)]).toEqual([204, 400]);
    // An expiring grant does not make a permanent administrator.
    await grant(library, brief, 'system.admin');
    await library.deps.db
      .updateTable('user_capability_grants')
      .set({ expires_at: '2099-01-01T00:00:00Z' })
      .where('user_ref', '=', brief.ref)
      .execute();
    expect(await remove(brief, root.ref)).toBe(400);
    await root.ok('getPublicMode');
  });

  test('keeps one of two administrators who delete each other concurrently', async () => {
    const [one, two] = [await newcomer('admin'), await newcomer('admin')];
    await setStatus(library, root, 'disabled');
    const statuses = await Promise.all([remove(one, two.ref), remove(two, one.ref)]);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    const left = await Promise.all([one, two].map((account) => account.status('GET', '/auth/me')));
    expect(left.sort()).toEqual([200, 401]);
  });
});
