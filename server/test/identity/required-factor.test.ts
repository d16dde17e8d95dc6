import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { describe, expect, test } from 'vitest';
import { listen } from '../notifications/streams.ts';
import { softwarePasskey } from '../support/authenticator.ts';
import { openLibrary } from '../support/library.ts';
import { actAs, bearer, totpCode } from '../support/people.ts';

const library = await openLibrary();
const { address } = library;
const root = await library.join('root', 'admin');
const role = await root.ok('createRole', {
  body: {
    code: 'careful',
    name: 'Careful',
    parent: 'member',
    capabilities: [],
    requires_second_factor: true,
  },
});

/** An account that got the role while it was signed in. */
async function joinCareful(name: string) {
  const account = await library.join(name);
  await root.ok('setUserRole', { params: { ref: account.ref }, body: { role_id: role.id } });
  return account;
}

// ROLE-25
describe('an account whose role requires a second factor', () => {
  test('can do nothing but set one up, in sessions that it has already', async () => {
    const ada = await joinCareful('ada');
    expect(await ada.ok('getMe')).toMatchObject({ required_step: 'second_factor' });
    expect(await ada.refused('listPosts')).toEqual({ status: 403, error: 'second_factor_required' });
    const { secret_base32 } = await ada.ok('enrollTwoFactor');
    expect((await ada.refused('listPosts')).status).toBe(403);
    await ada.ok('confirmTwoFactor', { body: { code: totpCode(secret_base32) } });
    expect(await ada.ok('getMe')).not.toHaveProperty('required_step');
    await ada.ok('listPosts');
  });

  test('receives nothing more in the streams that it has open', async () => {
    const pia = await library.join('pia');
    const stream = await listen(address, { cookie: pia });
    expect(await stream.next()).toBe(0);
    await root.ok('setUserRole', { params: { ref: pia.ref }, body: { role_id: role.id } });
    await root.ok('followUser', { params: { ref: pia.ref } });
    await library.runJobs();
    await stream.ended;
    expect(stream.counts).toEqual([0]);
  });

  test('is admitted with a passkey, until it removes the last one', async () => {
    const lou = await joinCareful('lou');
    const passkey = softwarePasskey(address);
    const { id } = await lou.ok('addPasskey', {
      body: { credential: passkey.attest(await lou.ok('startPasskey')) },
    });
    await lou.ok('listPosts');
    await lou.ok('deletePasskey', { params: { id } });
    expect((await lou.refused('listPosts')).status).toBe(403);
  });

  test('gets 403 from every operation that is neither open nor needed for it', async () => {
    const max = await joinCareful('max');
    const all: readonly Operation[] = Object.values(operations);
    const allowed = all.filter((operation) => operation.beforeSecondFactor === true);
    expect(
      allowed.filter(({ path }) => !/^\/(me|auth\/(me|logout)|account\/(2fa|passkeys)(\/.*)?)$/.test(path)),
    ).toEqual([]);
    const admitted: string[] = [];
    for (const operation of all) {
      const { method, path, door } = operation;
      if (door === 'open' || allowed.includes(operation)) continue;
      const { status, text } = await max.send(path.replace(/\{\w+\}/g, '1'), { method });
      if (status !== 403 || !text.includes('second_factor_required'))
        admitted.push(`${method} ${path} ${status}`);
    }
    expect(admitted).toEqual([]);
  });

  test('is read by an administrator who acts as it, and by its tokens', async () => {
    const account = await library.join('kim');
    const script = await bearer(library, account, ['read']);
    await root.ok('setUserRole', { params: { ref: account.ref }, body: { role_id: role.id } });
    await script.ok('listPosts');
    await (await actAs(library, root, account)).ok('listPosts');
  });
});

// SESSION-19
test('a second factor that the library requires binds every account without one, in existing sessions', async () => {
  const [eva, script] = await Promise.all([library.join('eva'), library.join('eve')]);
  const token = await bearer(library, script, ['read']);
  const change = (second_factor: 'optional' | 'required') =>
    root.ok('updateAccountSettings', { body: { second_factor } });
  const { secret_base32 } = await root.ok('enrollTwoFactor');
  await root.ok('confirmTwoFactor', { body: { code: totpCode(secret_base32) } });
  expect(await change('required')).toMatchObject({ second_factor: 'required', registration: 'off' });
  expect(await eva.refused('listPosts')).toEqual({ status: 403, error: 'second_factor_required' });
  expect(await eva.ok('getMe')).toMatchObject({ required_step: 'second_factor' });
  await token.ok('listPosts');
  await change('optional');
  await eva.ok('listPosts');
  expect(await eva.refused('updateAccountSettings', { body: { second_factor: 'required' } })).toMatchObject({
    status: 403,
  });
});
