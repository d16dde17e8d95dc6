import type { TokenScope } from '@vitrine/contract/capabilities';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSession } from '../../src/identity/sessions.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';
import { storedHashOf } from '../support/people.ts';

const fresh = 'a new and better one';

let library: Library;

beforeAll(async () => {
  library = await openLibrary();
});

const change = (visitor: Visitor, current: string, next: string) =>
  visitor.ok('changePassword', { body: { current_password: current, new_password: next } });
const refusedChange = (visitor: Visitor, current: string, next: string) =>
  visitor.refused('changePassword', { body: { current_password: current, new_password: next } });

async function signsIn(username: string, given: string): Promise<number> {
  const body = { username, password: given };
  return (await library.anonymous().send('/auth/login', { method: 'POST', body })).status;
}

async function anotherSession(account: Account): Promise<Visitor> {
  const start = { userRef: account.ref, days: 30, address: '', userAgent: 'another browser' };
  return visit(library.address, {}, await startSession(library.deps.db, start));
}

// SIGNIN-14
describe('POST /account/password', () => {
  test('accepts the new password and refuses the old one', async () => {
    const mara = await library.join('Mara');
    expect(await change(mara, password, fresh)).toBeUndefined();
    expect(await signsIn('mara', password)).toBe(401);
    expect(await signsIn('mara', fresh)).toBe(200);
    expect((await refusedChange(mara, password, 'yet another one')).status).toBe(403);
    await change(mara, fresh, 'yet another one');
    expect(await signsIn('mara', 'yet another one')).toBe(200);
  });

  // SIGNIN-14
  test('ends every other session of the account, impersonations included', async () => {
    const nina = await library.join('nina');
    const other = await anotherSession(nina);
    const stranger = await library.join('stranger');
    const admin = await library.join('root', 'admin');
    await admin.ok('impersonate', { params: { ref: nina.ref }, body: {} });
    await Promise.all([other.ok('getMe'), admin.ok('getMe')]);
    await change(nina, password, fresh);
    expect((await nina.ok('getMe')).ref).toBe(nina.ref);
    expect((await other.refused('getMe')).status).toBe(401);
    expect((await admin.refused('getMe')).status).toBe(401);
    expect((await stranger.ok('getMe')).ref).toBe(stranger.ref);
    expect((await nina.ok('listSessions')).items).toHaveLength(1);
  });

  // SIGNIN-14
  test('returns 403 for a wrong current password and changes nothing', async () => {
    const olga = await library.join('olga');
    const other = await anotherSession(olga);
    const before = await storedHashOf(library, olga.username);
    for (const wrong of ['', 'wrong', `${password} `]) {
      expect(await refusedChange(olga, wrong, fresh)).toEqual({ status: 403, error: 'wrong password' });
    }
    expect(await storedHashOf(library, olga.username)).toBe(before);
    expect((await other.ok('getMe')).ref).toBe(olga.ref);
  });

  test('does not accept the stored hash as the password', async () => {
    const pia = await library.join('pia');
    expect((await refusedChange(pia, (await storedHashOf(library, pia.username)) ?? '', fresh)).status).toBe(
      403,
    );
  });

  // SIGNIN-14
  test('counts wrong current passwords as failed sign-ins and locks after five', async () => {
    const rita = await library.join('rita');
    for (let i = 0; i < 5; i += 1) expect((await refusedChange(rita, 'wrong', fresh)).status).toBe(403);
    expect((await refusedChange(rita, password, fresh)).status).toBe(403);
    expect(await signsIn('rita', password)).toBe(401);
    expect((await rita.ok('getMe')).ref).toBe(rita.ref);
  });

  // SIGNIN-14
  test('returns 400 unless the new password has 8 to 1000 characters', async () => {
    const sara = await library.join('sara');
    for (const next of ['', '1234567', 'x'.repeat(1001), 'correct\u0000horse']) {
      expect((await refusedChange(sara, password, next)).status).toBe(400);
    }
    expect(await signsIn('sara', password)).toBe(200);
    await change(sara, password, 'x'.repeat(1000));
    expect(await signsIn('sara', 'x'.repeat(1000))).toBe(200);
    // bcrypt alone would read only 72 bytes.
    expect(await signsIn('sara', 'x'.repeat(999))).toBe(401);
  });

  test('applies concurrent changes one after the other', async () => {
    const tess = await library.join('tess');
    const other = await anotherSession(tess);
    const body = (next: string) => ({ current_password: password, new_password: next });
    const answers = await Promise.all([
      tess.send('/account/password', { method: 'POST', body: body('the first of two') }),
      other.send('/account/password', { method: 'POST', body: body('the second of two') }),
    ]);
    expect(answers.map(({ status }) => status)).toContain(204);
    expect(await signsIn('tess', password)).toBe(401);
    const opened = [await signsIn('tess', 'the first of two'), await signsIn('tess', 'the second of two')];
    expect(opened.sort()).toEqual([200, 401]);
  });

  // TOKEN-10
  test('requires the scope `admin` of a token, and the current password', async () => {
    const uma = await library.join('uma');
    const tokenWith = async (scopes: TokenScope[]) => {
      const { token } = await uma.ok('createToken', { body: { name: 'script', scopes } });
      return visit(library.address, { authorization: `Bearer ${token}` });
    };
    const others = await tokenWith(['read', 'posts.write', 'assets.write', 'comments.write', 'fields.admin']);
    expect(await refusedChange(others, password, fresh)).toEqual({
      status: 403,
      error: 'missing scope admin',
    });
    const script = await tokenWith(['admin']);
    expect((await refusedChange(script, 'not the password', fresh)).status).toBe(403);
    expect(await signsIn('uma', password)).toBe(200);
    await script.ok('changePassword', { body: { current_password: password, new_password: fresh } });
    expect([await signsIn('uma', password), await signsIn('uma', fresh)]).toEqual([401, 200]);
    expect((await uma.refused('getMe')).status).toBe(401);
  });

  test('returns 403 while impersonating', async () => {
    const vera = await library.join('vera');
    const masked = await library.join('masked', 'admin');
    await masked.ok('impersonate', { params: { ref: vera.ref }, body: {} });
    expect(await refusedChange(masked, password, fresh)).toEqual({
      status: 403,
      error: 'not allowed while acting as another user',
    });
    expect(await signsIn('vera', password)).toBe(200);
  });

  // SIGNIN-15
  test('returns 409 for an account of a directory', async () => {
    const wanda = await library.join('wanda');
    await library.deps.db
      .updateTable('users')
      .set({ provider: 'ldap', provider_subject: 'cn=wanda' })
      .where('ref', '=', wanda.ref)
      .execute();
    const before = await storedHashOf(library, wanda.username);
    expect((await refusedChange(wanda, password, fresh)).status).toBe(409);
    expect(await storedHashOf(library, wanda.username)).toBe(before);
    expect((await wanda.ok('getMe')).ref).toBe(wanda.ref);
  });

  // AUDIT-2
  test('records an audit event without the passwords', async () => {
    const xena = await library.join('xena');
    await change(xena, password, fresh);
    const events = await library.deps.db
      .selectFrom('audit_events')
      .selectAll()
      .where('subject_user_ref', '=', xena.ref)
      .execute();
    expect(events).toMatchObject([{ event: 'auth.password.changed', actor_user_ref: xena.ref }]);
    expect(JSON.stringify(events)).not.toContain(fresh);
    expect(JSON.stringify(events)).not.toContain(password);
  });
});
