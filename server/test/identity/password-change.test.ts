import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary, password } from '../support/library.ts';
import { actAs, anotherSession, bearer, signIn, storedHashOf } from '../support/people.ts';

const fresh = 'a new and better one';
const library = await openLibrary();

const bodyOf = (current_password: string, new_password: string) => ({ current_password, new_password });
const change = (visitor: Visitor, current: string, next: string) =>
  visitor.ok('changePassword', { body: bodyOf(current, next) });
const refusedChange = (visitor: Visitor, current: string, next: string) =>
  visitor.refused('changePassword', { body: bodyOf(current, next) });
const signsIn = async (username: string, given: string) =>
  (await signIn(library, username, given)).status === 200;

// SIGNIN-14
describe('POST /account/password', () => {
  // SIGNIN-14
  test('accepts the new password only, and ends every other session, impersonations included', async () => {
    const [nina, root] = [await library.join('Nina'), await library.join('root', 'admin')];
    const others = [await anotherSession(library, nina), await actAs(library, root, nina)];
    for (const other of others) await other.ok('getMe');
    await change(nina, password, fresh);
    for (const other of others) expect((await other.refused('getMe')).status).toBe(401);
    for (const own of [nina, root]) await own.ok('getMe');
    expect((await nina.ok('listSessions')).items).toHaveLength(1);
    expect([await signsIn('nina', password), await signsIn('nina', fresh)]).toEqual([false, true]);
    expect((await refusedChange(nina, password, 'yet another one')).status).toBe(403);
    await change(nina, fresh, 'yet another one');
  });

  // SIGNIN-14
  test('returns 403 for a wrong current password, also for the stored hash, and changes nothing', async () => {
    const olga = await library.join('olga');
    const other = await anotherSession(library, olga);
    const before = await storedHashOf(library, 'olga');
    for (const wrong of ['', 'wrong', `${password} `, before ?? ''])
      expect(await refusedChange(olga, wrong, fresh)).toEqual({ status: 403, error: 'wrong password' });
    expect(await storedHashOf(library, 'olga')).toBe(before);
    expect((await other.ok('getMe')).ref).toBe(olga.ref);
  });

  test('distinguishes passwords of 1000 characters by their last one', async () => {
    const sara = await library.join('sara');
    expect((await refusedChange(sara, password, 'x'.repeat(1001))).status).toBe(400);
    await change(sara, password, 'x'.repeat(1000));
    // bcrypt alone would read only 72 bytes.
    const ends = ['x', 'y'].map((end) => signsIn('sara', 'x'.repeat(999) + end));
    expect(await Promise.all(ends)).toEqual([true, false]);
  });

  test('applies concurrent changes one after the other', async () => {
    const tess = await library.join('tess');
    const nexts = ['the first of two', 'the second of two'];
    const callers = [tess, await anotherSession(library, tess)];
    const statuses = await Promise.all(
      callers.map((one, i) => one.status('POST', '/account/password', bodyOf(password, nexts[i] ?? ''))),
    );
    expect(statuses).toContain(204);
    const opened = await Promise.all([password, ...nexts].map((given) => signsIn('tess', given)));
    expect(opened.filter(Boolean)).toHaveLength(1);
    expect(opened[0]).toBe(false);
  });

  // TOKEN-10
  test('needs the current password from a token too, and ends the sessions', async () => {
    const uma = await library.join('uma');
    const script = await bearer(library, uma, ['admin']);
    expect((await refusedChange(script, 'not the password', fresh)).status).toBe(403);
    await change(script, password, fresh);
    expect([await signsIn('uma', password), await signsIn('uma', fresh)]).toEqual([false, true]);
    expect((await uma.refused('getMe')).status).toBe(401);
  });

  // SIGNIN-15
  test('returns 409 for an account of a directory', async () => {
    const wanda = await library.join('wanda');
    await library.deps.db
      .updateTable('users')
      .set({ provider: 'ldap', provider_subject: 'cn=wanda' })
      .where('ref', '=', wanda.ref)
      .execute();
    const before = await storedHashOf(library, 'wanda');
    expect((await refusedChange(wanda, password, fresh)).status).toBe(409);
    expect(await storedHashOf(library, 'wanda')).toBe(before);
  });
});
