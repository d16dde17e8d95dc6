import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { SessionUser } from '@vitrine/contract/identity';
import type { PasskeyAssertion } from '@vitrine/contract/passkey-assertion';
import { describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { auditEvents } from '../support/audit.ts';
import { type SoftwarePasskey, softwarePasskey, type Untruth } from '../support/authenticator.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, password } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { actAs, anotherSession, bearer, nowhere, setStatus, totpCode } from '../support/people.ts';

const library = await openLibrary();
const { address, deps } = library;
const root = await library.join('root', 'admin');
const { hostname } = new URL(address);
const wrong = { status: 401, error: 'wrong username or password' };

/** Adds a passkey to an account. */
async function addTo(account: Visitor, name?: string, passkey = softwarePasskey(address)) {
  const credential = passkey.attest(await account.ok('startPasskey'));
  const added = await account.ok('addPasskey', {
    body: { ...(name === undefined ? {} : { name }), credential },
  });
  return { passkey, added };
}

const options = () => library.anonymous().ok('startPasskeySignIn');

/** Signs a new challenge. */
async function signed(passkey: SoftwarePasskey, untruth?: Untruth): Promise<PasskeyAssertion> {
  return passkey.assert(await options(), untruth);
}

function present(credential: PasskeyAssertion, by: Visitor = library.anonymous()): Promise<SessionUser> {
  return by.ok('signInWithPasskey', { body: { credential } });
}

function refusal(credential: PasskeyAssertion, by: Visitor = library.anonymous()) {
  return by.refused('signInWithPasskey', { body: { credential } });
}

async function stored(account: Account) {
  return deps.db.selectFrom('passkeys').selectAll().where('user_ref', '=', account.ref).execute();
}

async function failuresOf(name: string): Promise<number> {
  const row = await deps.db
    .selectFrom('sign_in_failures')
    .select('failures')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.failures ?? 0;
}

async function turnOnCodes(account: Account): Promise<void> {
  const { secret_base32 } = await account.ok('enrollTwoFactor');
  await account.ok('confirmTwoFactor', { body: { code: totpCode(secret_base32) } });
}

const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const otherHandle = Buffer.from('another account').toString('base64url');

describe('adding a passkey', () => {
  // PASSKEY-2
  test('asks for a passkey that is found without a name and verifies its user, without attestation', async () => {
    const ada = await library.join('ada');
    const asked = await ada.ok('startPasskey');
    expect(asked).toMatchObject({
      rp: { id: hostname },
      user: { name: 'ada' },
      timeout: 300_000,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    });
    expect(Buffer.from(asked.challenge, 'base64url').length).toBeGreaterThanOrEqual(32);
    const { passkey, added } = await addTo(ada, 'Laptop');
    expect(added).toMatchObject({ name: 'Laptop', last_used_at: null });
    const again = await ada.ok('startPasskey');
    expect(again.excludeCredentials).toEqual([
      { id: passkey.id, type: 'public-key', transports: ['internal', 'hybrid'] },
    ]);
    // The authenticator recognises the account.
    expect(again.user.id).toBe(passkey.userHandle);
  });

  // PASSKEY-1, PASSKEY-8
  test('lists, renames and removes the passkeys of the account only', async () => {
    const [bea, eve] = await library.joinAll('bea', 'eve');
    const { added: first } = await addTo(bea);
    const { added: second } = await addTo(bea, 'Phone');
    expect(first.name).toBe('Passkey');
    expect(await bea.ok('listPasskeys')).toEqual({ items: [first, second] });
    expect(await eve.ok('listPasskeys')).toEqual({ items: [] });
    const params = { id: second.id };
    expect(await bea.ok('getPasskey', { params })).toEqual(second);
    expect(await bea.ok('updatePasskey', { params, body: { name: 'Old phone' } })).toEqual({
      ...second,
      name: 'Old phone',
    });
    expect((await eve.refused('getPasskey', { params })).status).toBe(404);
    expect((await eve.refused('updatePasskey', { params, body: { name: 'Mine' } })).status).toBe(404);
    expect((await eve.refused('deletePasskey', { params })).status).toBe(404);
    expect((await bea.refused('getPasskey', { params: { id: nowhere } })).status).toBe(404);
    await bea.ok('deletePasskey', { params });
    expect((await bea.ok('listPasskeys')).items).toEqual([first]);
    for (const name of ['', ' ', 'a\nb', 'x'.repeat(101)])
      expect(await bea.status('PATCH', `/account/passkeys/${first.id}`, { name }), name).toBe(400);
  });

  // PASSKEY-3
  test('accepts a challenge of this session once and for five minutes', async () => {
    const [cleo, mallory] = await library.joinAll('cleo', 'mallory');
    const asked = await cleo.ok('startPasskey');
    const credential = softwarePasskey(address).attest(asked);
    const unknown = expect.objectContaining({ status: 400, error: expect.stringContaining('start again') });
    expect(await mallory.refused('addPasskey', { body: { credential } })).toEqual(unknown);
    const elsewhere = await anotherSession(library, cleo);
    expect(await elsewhere.refused('addPasskey', { body: { credential } })).toEqual(unknown);
    await cleo.ok('addPasskey', { body: { credential } });
    expect(await cleo.refused('addPasskey', { body: { credential } })).toEqual(unknown);
    const late = softwarePasskey(address).attest(await cleo.ok('startPasskey'));
    await deps.db.updateTable('passkey_challenges').set({ expires_at: '2020-01-01T00:00:00Z' }).execute();
    expect(await cleo.refused('addPasskey', { body: { credential: late } })).toEqual(unknown);
    await expire(deps.db);
    expect(await deps.db.selectFrom('passkey_challenges').selectAll().execute()).toEqual([]);
    // A challenge for signing in is none for adding.
    const { challenge } = await options();
    const mixed = softwarePasskey(address).attest(await cleo.ok('startPasskey'), { challenge });
    expect(await cleo.refused('addPasskey', { body: { credential: mixed } })).toEqual(unknown);
  });

  // PASSKEY-2, PASSKEY-4
  test('refuses responses of other sites, without user verification, or that are no responses', async () => {
    const dora = await library.join('dora');
    const untruths: Untruth[] = [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { userVerified: false },
      { type: 'webauthn.get' },
    ];
    for (const untruth of untruths) {
      const credential = softwarePasskey(address).attest(await dora.ok('startPasskey'), untruth);
      const outcome = await dora.refused('addPasskey', { body: { credential } });
      expect(outcome, JSON.stringify(untruth)).toEqual({
        status: 400,
        error: 'this passkey could not be verified',
      });
    }
    const nonsense = ['', '????', 'AAAA', Buffer.from('{"a":1}').toString('base64url')];
    for (const attestationObject of nonsense) {
      const credential = softwarePasskey(address).attest(await dora.ok('startPasskey'));
      credential.response.attestationObject = attestationObject;
      expect((await dora.refused('addPasskey', { body: { credential } })).status).toBe(400);
    }
    for (const clientDataJSON of ['', '????', 'bnVsbA', 'W10'])
      expect(
        await dora.status('POST', '/account/passkeys', {
          credential: {
            id: 'a',
            rawId: 'a',
            type: 'public-key',
            response: { clientDataJSON, attestationObject: '' },
          },
        }),
      ).toBe(400);
    expect(await stored(dora)).toEqual([]);
  });

  // PASSKEY-2
  test('refuses certificates, which the service would otherwise look up at addresses that they name', async () => {
    const fay = await library.join('fay');
    const credential = softwarePasskey(address).attest(await fay.ok('startPasskey'));
    const statement = isoCBOR.decodeFirst<Map<string, unknown>>(
      new Uint8Array(Buffer.from(credential.response.attestationObject, 'base64url')),
    );
    const certificates = new Map([['x5c', [new Uint8Array([48, 0])]]]);
    const forged = new Map<string, string | Map<string, Uint8Array<ArrayBuffer>[]> | Uint8Array<ArrayBuffer>>(
      [
        ['fmt', 'packed'],
        ['attStmt', certificates],
        // The bytes that the authenticator made.
        ['authData', statement.get('authData') as Uint8Array<ArrayBuffer>],
      ],
    );
    credential.response.attestationObject = Buffer.from(isoCBOR.encode(forged)).toString('base64url');
    expect((await fay.refused('addPasskey', { body: { credential } })).status).toBe(400);
  });

  // PASSKEY-1
  test('refuses a passkey that is known, also of another account', async () => {
    const [gil, hal] = await library.joinAll('gil', 'hal');
    const { passkey } = await addTo(gil);
    for (const account of [gil, hal]) {
      const credential = passkey.attest(await account.ok('startPasskey'));
      expect(await account.refused('addPasskey', { body: { credential } })).toEqual({
        status: 409,
        error: 'this passkey has been added already',
      });
    }
  });

  // PASSKEY-1
  test('stops at 50 passkeys', async () => {
    const ian = await library.join('ian');
    for (let count = 0; count < 50; count += 1) await addTo(ian);
    const credential = softwarePasskey(address).attest(await ian.ok('startPasskey'));
    expect((await ian.refused('addPasskey', { body: { credential } })).status).toBe(409);
  });

  // PASSKEY-8
  test('is for sessions, and not while impersonating', async () => {
    const jon = await library.join('jon');
    const { added } = await addTo(jon);
    const token = await bearer(library, jon, ['admin']);
    const mask = await actAs(library, root, jon);
    const path = `/account/passkeys/${added.id}`;
    for (const visitor of [token, mask]) {
      expect(await visitor.status('POST', '/account/passkeys/options')).toBe(403);
      expect(await visitor.status('POST', '/account/passkeys', {})).toBe(403);
      expect(await visitor.status('PATCH', path, { name: 'x' })).toBe(403);
      expect(await visitor.status('DELETE', path)).toBe(403);
      expect((await visitor.ok('listPasskeys')).items).toEqual([added]);
    }
    expect(await library.anonymous().status('GET', '/account/passkeys')).toBe(401);
  });
});

describe('signing in with a passkey', () => {
  // PASSKEY-5
  test('needs no name and no password, and starts a session', async () => {
    const kim = await library.join('kim');
    const { passkey, added } = await addTo(kim);
    const asked = await options();
    expect(asked).toEqual({
      challenge: expect.any(String),
      timeout: 300_000,
      rpId: hostname,
      userVerification: 'required',
    });
    const browser = visit(address);
    const user = await present(passkey.assert(asked), browser);
    expect(user).toMatchObject({ username: 'kim', auth_method: 'session' });
    expect(await browser.ok('getMe')).toEqual(user);
    const [used] = (await kim.ok('listPasskeys')).items;
    expect(used).toEqual({ ...added, last_used_at: expect.any(String) });
    expect(await auditEvents(library, { event: 'auth.signed_in', subject_user_ref: kim.ref })).toMatchObject([
      { metadata: { provider: 'passkey', two_factor: true } },
    ]);
  });

  // SIGNIN-13
  test('ends the session that the browser had before', async () => {
    const lea = await library.join('lea');
    const { passkey } = await addTo(lea);
    const before = lea.cookie();
    await present(await signed(passkey), lea);
    expect(lea.cookie()).not.toBe(before);
    expect(await visit(address, {}, before).status('GET', '/auth/me')).toBe(401);
  });

  // PASSKEY-3, PASSKEY-4, PASSKEY-5, PASSKEY-7
  test('refuses everything that is not exactly right with the 401 of a wrong password', async () => {
    const [max, nia] = await library.joinAll('max', 'nia');
    const passkey = softwarePasskey(address, { multiDevice: false });
    passkey.counter = 5;
    await addTo(max, undefined, passkey);
    const { passkey: other } = await addTo(nia);
    const untruths: Untruth[] = [
      { key: otherKey },
      { key: other.key },
      { origin: 'https://evil.example' },
      { origin: `${address}.evil.example` },
      { rpId: 'evil.example' },
      { type: 'webauthn.create' },
      { crossOrigin: true },
      { userVerified: false },
      { userHandle: other.userHandle },
      { userHandle: otherHandle },
      { counter: 5 },
      { counter: 4 },
      { counter: 0 },
      { counter: 9, multiDevice: true },
      { counter: 9, challenge: 'a challenge of nobody' },
      { counter: 9, challenge: (await max.ok('startPasskey')).challenge },
    ];
    for (const untruth of untruths) {
      const credential = await signed(passkey, { counter: 6, ...untruth });
      expect(await refusal(credential), JSON.stringify(untruth)).toEqual(wrong);
      await deps.db.deleteFrom('sign_in_failures').execute();
    }
    // The credential of another account with this one's signature.
    expect(
      await refusal({ ...(await signed(passkey, { counter: 6 })), id: other.id, rawId: other.id }),
    ).toEqual(wrong);
    expect(await refusal(await signed(softwarePasskey(address)))).toEqual(wrong);
    const right = await signed(passkey, { counter: 6 });
    for (const part of ['clientDataJSON', 'authenticatorData', 'signature'] as const)
      for (const text of ['', '????', 'AAAA', 'bnVsbA'])
        expect(
          await refusal({ ...right, response: { ...right.response, [part]: text } }),
          `${part} ${text}`,
        ).toEqual(wrong);
    await deps.db.deleteFrom('sign_in_failures').execute();
    await present(await signed(passkey, { counter: 7 }));
    expect(await refusal(await signed(passkey, { counter: 7 }))).toEqual(wrong);
    expect((await stored(max))[0]).toMatchObject({ counter: 7, multi_device: false, backed_up: false });
  });

  // PASSKEY-3
  test('uses a challenge up, whether or not the response is right', async () => {
    const ole = await library.join('ole');
    const { passkey } = await addTo(ole);
    const asked = await options();
    await present(passkey.assert(asked));
    expect(await refusal(passkey.assert(asked))).toEqual(wrong);
    const failing = await options();
    expect(await refusal(passkey.assert(failing, { key: otherKey }))).toEqual(wrong);
    expect(await refusal(passkey.assert(failing))).toEqual(wrong);
    const late = await options();
    await deps.db.updateTable('passkey_challenges').set({ expires_at: '2020-01-01T00:00:00Z' }).execute();
    expect(await refusal(passkey.assert(late))).toEqual(wrong);
  });

  // PASSKEY-3, PASSKEY-7
  test('lets one of several concurrent responses in, with one challenge or one count', async () => {
    const pia = await library.join('pia');
    const passkey = softwarePasskey(address);
    passkey.counter = 1;
    await addTo(pia, undefined, passkey);
    const outcomes = async (credentials: PasskeyAssertion[]) => {
      const answers = await Promise.all(
        credentials.map((credential) => library.anonymous().status('POST', '/auth/passkey', { credential })),
      );
      return answers.sort();
    };
    const once = await signed(passkey, { counter: 2 });
    expect(await outcomes([once, once, once])).toEqual([200, 401, 401]);
    const sameCount = [await signed(passkey, { counter: 3 }), await signed(passkey, { counter: 3 })];
    // Both verify the count before one of them records it.
    const answers = await deps.db.transaction().execute(async (tx) => {
      await tx.selectFrom('passkeys').where('user_ref', '=', pia.ref).forUpdate().execute();
      const pending = outcomes(sameCount);
      expect(await comeToWait(deps.db, 2)).toBe(true);
      return { pending };
    });
    expect(await answers.pending).toEqual([200, 401]);
  });

  // PASSKEY-7
  test('records whether the passkey has been copied', async () => {
    const quy = await library.join('quy');
    const { passkey } = await addTo(quy);
    expect((await stored(quy))[0]).toMatchObject({ counter: 0, multi_device: true, backed_up: true });
    await present(await signed(passkey, { backedUp: false }));
    expect((await stored(quy))[0]).toMatchObject({ backed_up: false });
  });

  // PASSKEY-5, SIGNIN-3
  test('keeps accounts out that are not active', async () => {
    const ray = await library.join('ray');
    const { passkey } = await addTo(ray);
    for (const status of ['disabled', 'pending', 'archived'] as const) {
      await setStatus(library, ray, status);
      expect(await refusal(await signed(passkey)), status).toEqual(wrong);
    }
    await setStatus(library, ray, 'active');
    await present(await signed(passkey));
  });

  // PASSKEY-5, SIGNIN-10
  test('counts failures towards the lock of the account, which keeps passkeys and passwords out', async () => {
    const sam = await library.join('sam');
    const { passkey } = await addTo(sam);
    const forge = async () => refusal(await signed(passkey, { key: otherKey }));
    for (let count = 0; count < 4; count += 1) await forge();
    await present(await signed(passkey));
    expect(await failuresOf('sam')).toBe(0);
    for (let count = 0; count < 5; count += 1) await forge();
    expect(await refusal(await signed(passkey))).toEqual(wrong);
    expect(await library.anonymous().refused('login', { body: { username: 'sam', password } })).toEqual(
      wrong,
    );
  });

  // PASSKEY-4
  test('belongs to the host of the public address', async () => {
    const tea = await library.join('tea');
    const atHome = await addTo(tea);
    const origin = 'https://media.example';
    await root.ok('updateSite', { body: { base_url: origin } });
    try {
      const asked = await options();
      expect(asked.rpId).toBe('media.example');
      expect(await refusal(atHome.passkey.assert(asked))).toEqual(wrong);
      const there = softwarePasskey(origin);
      await addTo(tea, undefined, there);
      expect((await present(await signed(there))).username).toBe('tea');
    } finally {
      await root.ok('updateSite', { body: { clear_base_url: true } });
    }
  });

  // PASSKEY-5
  test('answers a host that is no host', async () => {
    const { status } = await library.anonymous().send('/auth/passkey/options', {
      method: 'POST',
      headers: { host: 'a%b' },
    });
    expect(status).toBeLessThan(500);
  });

  // RATE-2
  test('counts attempts by address and passkey', async () => {
    const limited = await openLibrary({ VITRINE_RATE_LIMITS: 'on', VITRINE_SIGN_IN_LIMIT: '3' });
    const attempt = async (id: string) => {
      const credential = {
        ...softwarePasskey(limited.address).assert({
          challenge: randomUUID(),
          timeout: 1,
          rpId: 'x',
          userVerification: 'required',
        }),
        id,
        rawId: id,
      };
      return limited.anonymous().status('POST', '/auth/passkey', { credential });
    };
    expect([await attempt('a'), await attempt('a'), await attempt('a'), await attempt('a')]).toEqual([
      401, 401, 401, 429,
    ]);
    expect(await attempt('b')).toBe(401);
  });
});

describe('a passkey as the second factor', () => {
  const login = (username: string, passkey: PasskeyAssertion) => ({ body: { username, password, passkey } });

  // PASSKEY-6
  test('takes the place of the code after the password', async () => {
    const una = await library.join('una');
    await turnOnCodes(una);
    const { passkey } = await addTo(una);
    const visitor = library.anonymous();
    expect(await visitor.refused('login', { body: { username: 'una', password } })).toEqual({
      status: 401,
      error: '2fa_required',
    });
    expect(await visitor.ok('login', login('una', await signed(passkey)))).toMatchObject({ username: 'una' });
    expect(await auditEvents(library, { event: 'auth.signed_in', subject_user_ref: una.ref })).toMatchObject([
      { metadata: { provider: 'password', two_factor: true } },
    ]);
  });

  // PASSKEY-6
  test('is not asked for if the account has no codes', async () => {
    const van = await library.join('van');
    await addTo(van);
    await library.anonymous().ok('login', { body: { username: 'van', password } });
  });

  // PASSKEY-6, TWOFACTOR-4
  test('is refused like a wrong code, and counts, if it is wrong or of another account', async () => {
    const [wes, xia] = await library.joinAll('wes', 'xia');
    await turnOnCodes(wes);
    const [{ passkey }, { passkey: other }] = [await addTo(wes), await addTo(xia)];
    const used = await signed(passkey);
    await library.anonymous().ok('login', login('wes', used));
    const wrongOnes = [
      await signed(other),
      await signed(passkey, { key: otherKey }),
      await signed(passkey, { userVerified: false }),
      used,
    ];
    for (const [turn, credential] of wrongOnes.entries()) {
      expect(await library.anonymous().refused('login', login('wes', credential))).toEqual({
        status: 401,
        error: 'invalid_2fa_code',
      });
      expect(await failuresOf('wes')).toBe(turn + 1);
    }
  });

  // TWOFACTOR-5
  test('is not used up by a wrong password', async () => {
    const yan = await library.join('yan');
    await turnOnCodes(yan);
    const { passkey } = await addTo(yan);
    const credential = await signed(passkey);
    const body = { username: 'yan', password: 'not it', passkey: credential };
    expect(await library.anonymous().refused('login', { body })).toEqual(wrong);
    await library.anonymous().ok('login', login('yan', credential));
  });
});

describe('losing passkeys', () => {
  // TWOFACTOR-8
  test('an operator removes codes and passkeys of an account together', async () => {
    const zoe = await library.join('zoe');
    const { passkey } = await addTo(zoe, 'Stolen laptop');
    const params = { ref: zoe.ref };
    await turnOnCodes(zoe);
    await root.ok('removeUserTwoFactor', { params });
    await library.anonymous().ok('login', { body: { username: 'zoe', password } });
    expect(await refusal(await signed(passkey))).toEqual(wrong);
    const removal = { event: 'auth.passkey.removed', subject_user_ref: zoe.ref };
    expect(await auditEvents(library, removal)).toMatchObject([
      { actor_user_ref: root.ref, metadata: { name: 'Stolen laptop' } },
    ]);
    expect((await root.refused('removeUserTwoFactor', { params })).status).toBe(404);
  });

  // PASSKEY-8
  test('an account keeps its last way to sign in', async () => {
    const last = await library.join('last');
    const [{ added: first }, { added: second }] = [await addTo(last), await addTo(last)];
    await deps.db.updateTable('users').set({ password_hash: null }).where('ref', '=', last.ref).execute();
    const remove = (id: string) => last.status('DELETE', `/account/passkeys/${id}`);
    expect((await Promise.all([remove(first.id), remove(second.id)])).sort()).toEqual([204, 409]);
    expect((await last.ok('listPasskeys')).items).toHaveLength(1);
  });
});
