import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { expire } from '../../src/operate/expire.ts';
import { auditEvents, auditEventsDuring } from '../support/audit.ts';
import { softwarePasskey } from '../support/authenticator.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, password, publish, upload } from '../support/library.ts';
import { actAs, anotherSession, grant, revoke, sessionIdOf, totpCode } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';

const UNKNOWN_USER = 404_000;

/** The current code of an authenticator app, or one that is `steps` of 30 s later, because each is accepted once. */
const code = (secret: string, steps = 0) => totpCode(secret, Date.now() + steps * 30_000);

const library = await openLibrary();
/** An account whose only extra capability is `users.write`. */
const [root, clerk] = [await library.join('root', 'admin'), await library.join('clerk', 'viewer')];
await grant(library, clerk, 'users.write');
const roles = await library.deps.db.selectFrom('roles').select(['code', 'id']).execute();
const roleIds = new Map(roles.map(({ code, id }) => [code, id]));

const script = { name: 'script', scopes: ['read' as const] };
/** Confirms an act with the password. */
const current = { body: { current_password: password } };

/** Turns two-factor sign-in on and returns the secret. */
async function withTwoFactor(account: Visitor): Promise<string> {
  const { secret_base32 } = await account.ok('enrollTwoFactor');
  await account.ok('confirmTwoFactor', { body: { code: code(secret_base32) } });
  return secret_base32;
}

/** Adds a passkey and returns its part of the request. */
async function addPasskey(account: Visitor, name: string) {
  const credential = softwarePasskey(library.address).attest(await account.ok('startPasskey'));
  await account.ok('addPasskey', { body: { name, credential } });
  return credential;
}

/** Attempts to sign in with wrong passwords. */
async function guess(username: string, attempts: number): Promise<void> {
  for (let i = 0; i < attempts; i += 1)
    await library.anonymous().refused('login', { body: { username, password: `wrong ${i}` } });
}

interface Act {
  event: string;
  /** The account itself, unless stated; null for an anonymous caller and for the server. */
  actor?: Account | null;
  /** The account, unless null. */
  subject?: null;
  metadata?: Record<string, unknown>;
  target?: { kind: string; id: string };
  /** Performs the act. Texts that must not occur in the event are returned in an array. */
  run(): Promise<unknown>;
}

type Acts = Record<string, (account: Account) => Promise<Act> | Act>;

/** The acts on a grant or a revoke of a capability. `give` creates one in the database. */
function actsOn(
  kind: 'grant' | 'revoke',
  add: 'grantCapability' | 'revokeCapability',
  remove: 'removeGrant' | 'removeRevoke',
  give: typeof grant,
): Acts {
  const body = { capability: 'jobs.read' } as const;
  const metadata = { ...body, team_id: null };
  const more = { note: 'on call', expires_at: '2099-01-01T00:00:00Z' };
  return {
    [`a ${kind} made`]: ({ ref }) => ({
      event: `capability.${kind}.added`,
      actor: root,
      metadata: { ...metadata, ...more },
      run: () => root.ok(add, { params: { ref }, body: { ...body, ...more } }),
    }),
    [`a ${kind} taken back`]: async (account) => {
      await give(library, account, body.capability);
      return {
        event: `capability.${kind}.removed`,
        actor: root,
        metadata,
        run: () => root.ok(remove, { params: { ref: account.ref }, body }),
      };
    },
    [`a ${kind} that ran out`]: async (account) => {
      await give(library, account, body.capability);
      await sql`update ${sql.table(`user_capability_${kind}s`)} set expires_at = now() - interval '1 s'
        where user_ref = ${account.ref}`.execute(library.deps.db);
      const run = () => expire(library.deps.db);
      return { event: `capability.${kind}.expired`, actor: null, metadata, run };
    },
  };
}

/** Returns an act of the administrator on the whole library. */
function onLibrary<T extends Record<string, unknown>>(
  event: string,
  metadata: T,
  act: (metadata: T) => Promise<unknown>,
): Act {
  return { event, actor: root, subject: null, metadata, run: () => act(metadata) };
}

/** All acts and their preparations. Each has an account of its own, which acts on itself unless stated otherwise. */
const acts: Acts = {
  'a sign-in': ({ username }) => {
    const browser = visit(library.address, { 'user-agent': 'Browser' });
    return {
      event: 'auth.signed_in',
      metadata: { provider: 'password', two_factor: false, address: '127.0.0.1', user_agent: 'Browser' },
      run: async () => {
        await browser.ok('login', { body: { username, password } });
        return [password, browser.cookie()];
      },
    };
  },
  'a sign-in with a second factor': async (account) => {
    const secret = await withTwoFactor(account);
    const body = { username: account.username, password, totp_code: code(secret, 1) };
    return {
      event: 'auth.signed_in',
      metadata: expect.objectContaining({ two_factor: true }),
      run: async () => {
        await library.anonymous().ok('login', { body });
        return [body.totp_code, secret];
      },
    };
  },
  'a sign-out': (account) => ({ event: 'auth.signed_out', run: () => account.ok('logout') }),
  'five wrong passwords for one name': ({ username }) => ({
    event: 'auth.locked',
    actor: null,
    metadata: { address: '127.0.0.1' },
    run: async () => {
      await guess(username.toUpperCase(), 7);
      return ['wrong', username.toUpperCase()];
    },
  }),
  // SIGNIN-12
  'five wrong passwords for a name nobody has': () => ({
    event: 'auth.locked',
    actor: null,
    subject: null,
    metadata: { address: '127.0.0.1' },
    run: async () => {
      await guess('hunter2', 5);
      return ['hunter2'];
    },
  }),
  'a token made': (account) => ({
    event: 'auth.token.created',
    metadata: { ...script, expires_at: null },
    run: async () => [(await account.ok('createToken', { body: script })).token],
  }),
  'a token taken back': async (account) => {
    const { id } = await account.ok('createToken', { body: script });
    return {
      event: 'auth.token.deleted',
      target: { kind: 'token', id },
      run: () => account.ok('deleteToken', { params: { id } }),
    };
  },
  'two-factor sign-in switched on': (account) => ({
    event: 'auth.2fa.enabled',
    run: async () => [await withTwoFactor(account)],
  }),
  'new recovery codes': async (account) => {
    await withTwoFactor(account);
    return {
      event: 'auth.2fa.recovery_codes.renewed',
      run: async () => (await account.ok('renewRecoveryCodes', current)).recovery_codes,
    };
  },
  'two-factor sign-in switched off': async (account) => {
    await withTwoFactor(account);
    return { event: 'auth.2fa.disabled', run: () => account.ok('disableTwoFactor', current) };
  },
  'two-factor sign-in taken off somebody': async (account) => {
    await withTwoFactor(account);
    return {
      event: 'auth.2fa.disabled',
      actor: root,
      run: () => root.ok('removeUserTwoFactor', { params: { ref: account.ref } }),
    };
  },
  'a passkey added': (account) => ({
    event: 'auth.passkey.added',
    metadata: { name: 'Laptop' },
    run: async () => {
      const { response } = await addPasskey(account, 'Laptop');
      return [response.attestationObject, response.clientDataJSON];
    },
  }),
  'a passkey renamed': async (account) => {
    await addPasskey(account, 'Laptop');
    const [passkey] = (await account.ok('listPasskeys')).items;
    const params = { id: passkey?.id ?? '' };
    return {
      event: 'auth.passkey.renamed',
      metadata: { name: 'Old laptop', before: 'Laptop' },
      run: () => account.ok('updatePasskey', { params, body: { name: 'Old laptop' } }),
    };
  },
  'a passkey removed': async (account) => {
    await addPasskey(account, 'Laptop');
    const [passkey] = (await account.ok('listPasskeys')).items;
    const params = { id: passkey?.id ?? '' };
    return {
      event: 'auth.passkey.removed',
      metadata: { name: 'Laptop' },
      run: () => account.ok('deletePasskey', { params }),
    };
  },
  'a password changed': (account) => {
    const body = { current_password: password, new_password: 'another horse' };
    return {
      event: 'auth.password.changed',
      run: async () => {
        await account.ok('changePassword', { body });
        return Object.values(body);
      },
    };
  },
  'a password reset': ({ ref }) => ({
    event: 'user.password.reset',
    actor: root,
    run: async () => [(await root.ok('resetPassword', { params: { ref } })).temporary_password],
  }),
  'a session of one’s own ended': async (account) => {
    const id = await sessionIdOf(await anotherSession(library, account));
    return {
      event: 'auth.session.ended',
      target: { kind: 'session', id },
      run: () => account.ok('endSession', { params: { id } }),
    };
  },
  'another account’s session ended': async (account) => {
    const id = await sessionIdOf(account);
    return {
      event: 'auth.session.ended',
      actor: root,
      target: { kind: 'session', id },
      run: () => root.ok('endUserSession', { params: { ref: account.ref, id } }),
    };
  },
  'all other sessions of one’s own ended': async (account) => {
    await anotherSession(library, account);
    return {
      event: 'auth.sessions.ended',
      metadata: { ended: 1 },
      run: () => account.ok('endOtherSessions'),
    };
  },
  'another account’s sessions ended': async (account) => {
    await anotherSession(library, account);
    return {
      event: 'auth.sessions.ended',
      actor: root,
      metadata: { ended: 2 },
      run: () => root.ok('endUserSessions', { params: { ref: account.ref } }),
    };
  },
  // USER-14
  'a profile of one’s own changed': (account) => {
    const body = { email: 'self@example.org', bio: 'hi' };
    return {
      event: 'user.updated',
      metadata: { changed: ['bio', 'email'] },
      run: async () => {
        await account.ok('updateUser', { params: { ref: account.ref }, body });
        return [body.email];
      },
    };
  },
  'another account’s profile changed': ({ ref }) => ({
    event: 'user.updated',
    actor: root,
    metadata: { changed: ['email', 'fullname'] },
    run: async () => {
      await root.ok('updateUser', { params: { ref }, body: { fullname: 'Ed Ited', clear_email: true } });
      return ['Ed Ited'];
    },
  }),
  'a status changed': ({ ref }) => {
    const body = { status: 'disabled', reason: 'left' } as const;
    return {
      event: 'user.status.changed',
      actor: root,
      metadata: body,
      run: () => root.ok('setUserStatus', { params: { ref }, body }),
    };
  },
  'a role changed': ({ ref }) => ({
    event: 'user.role.changed',
    actor: root,
    metadata: { role: 'viewer' },
    run: () => root.ok('setUserRole', { params: { ref }, body: { role_id: roleIds.get('viewer') ?? '' } }),
  }),
  ...actsOn('grant', 'grantCapability', 'removeGrant', grant),
  ...actsOn('revoke', 'revokeCapability', 'removeRevoke', revoke),
  'an impersonation begun': ({ ref }) => {
    const browser = visit(library.address, {}, root.cookie());
    return {
      event: 'admin.impersonation.started',
      actor: root,
      metadata: { session_id: expect.any(String), reason: 'ticket' },
      run: async () => {
        await browser.ok('impersonate', { params: { ref }, body: { reason: 'ticket' } });
        return [browser.cookie()];
      },
    };
  },
  'an impersonation ended': async (account) => {
    const browser = await actAs(library, root, account);
    const impersonated_by = { ref: root.ref, username: 'root' };
    return {
      event: 'admin.impersonation.ended',
      actor: root,
      metadata: { session_id: await sessionIdOf(browser), impersonated_by },
      run: () => browser.ok('endImpersonation'),
    };
  },
  'another account’s post edited': async (account) => {
    const { id } = await publish(account, [await upload(account, plainFile('of a post'))]);
    return {
      event: 'post.updated',
      actor: root,
      target: { kind: 'post', id },
      metadata: { changed: ['title', 'tags'] },
      run: async () => {
        await root.ok('updatePost', { params: { id }, body: { title: 'Secret words', tags: ['quay'] } });
        return ['Secret words'];
      },
    };
  },
  'another account’s asset edited': async (account) => {
    const { id } = await upload(account, plainFile('of an asset'));
    return {
      event: 'asset.updated',
      actor: root,
      target: { kind: 'asset', id },
      metadata: { changed: ['sensitivity'] },
      run: () => root.ok('updateAsset', { params: { id }, body: { sensitivity: 'restricted' } }),
    };
  },
  'another account’s collection edited': async (account) => {
    const { id } = await account.ok('createCollection', { body: { name: 'Shelf' } });
    return {
      event: 'collection.updated',
      actor: root,
      target: { kind: 'collection', id },
      metadata: { changed: ['visibility'] },
      run: () => root.ok('updateCollection', { params: { id }, body: { visibility: 'public' } }),
    };
  },
  'a file placed in another account’s collection': async (account) => {
    const { id } = await account.ok('createCollection', { body: { name: 'Shelf' } });
    const asset_id = (await upload(root, plainFile('of the administrator'))).id;
    return {
      event: 'collection.updated',
      actor: root,
      target: { kind: 'collection', id },
      metadata: { changed: ['items'] },
      run: async () => {
        for (const other of [asset_id, asset_id])
          await root.ok('addAssetToCollection', { params: { id, asset_id: other } });
        await root.ok('removeAssetFromCollection', { params: { id, asset_id: id } });
      },
    };
  },
  'public mode changed': () =>
    onLibrary('system.public_mode.changed', { enabled: false }, (body) => root.ok('setPublicMode', { body })),
  'the retention changed': () =>
    onLibrary('audit.retention.changed', { retention_days: 400 }, (body) =>
      root.ok('setAuditRetention', { body }),
    ),
  // AUDIT-5
  'an export': () =>
    onLibrary('audit.exported', { event: 'x*' }, () => root.send('/admin/audit/export?event=x*')),
};

// AUDIT-1, AUDIT-2
describe('records exactly one event with actor and subject and without secrets:', () => {
  test.each(Object.entries(acts))('%s', async (label, prepare) => {
    const account = await library.join(`account of ${label}`);
    const { event, actor = account, subject = account, metadata = {}, target, run } = await prepare(account);
    let secrets: unknown;
    const events = await auditEventsDuring(library, async () => {
      secrets = await run();
    });
    expect(events).toEqual([
      expect.objectContaining({
        event,
        actor_user_ref: actor?.ref ?? null,
        subject_user_ref: subject?.ref ?? null,
        impersonator_user_ref: null,
        metadata,
        ...(target === undefined ? {} : { target_kind: target.kind, target_id: target.id }),
      }),
    ]);
    const text = JSON.stringify(events);
    for (const secret of Array.isArray(secrets) ? secrets : []) {
      expect(secret).toMatch(/./);
      expect(text).not.toContain(secret);
    }
  });

  // AUDIT-1
  test('no edit of own content, and none that changes nothing', async () => {
    const account = await library.join('author of all');
    const { id } = await publish(account, [await upload(account, plainFile('own'))]);
    const events = await auditEventsDuring(library, async () => {
      await account.ok('updatePost', { params: { id }, body: { title: 'Mine' } });
      await root.ok('updatePost', { params: { id }, body: { title: null } });
    });
    expect(events).toEqual([]);
  });

  // AUDIT-7
  test('an account created by a token, which the event names', async () => {
    const { id, token } = await root.ok('createToken', { body: { name: 'script', scopes: ['admin'] } });
    const browser = visit(library.address, { authorization: `Bearer ${token}` });
    const body = { username: 'created', password: 'long enough', email: 'c@example.org', role: 'viewer' };
    let ref = 0;
    const events = await auditEventsDuring(library, async () => {
      ref = (await browser.ok('createUser', { body })).ref;
    });
    const metadata = { username: 'created', role: 'viewer', token_id: id };
    const event = { event: 'user.created', actor_user_ref: root.ref, subject_user_ref: ref, metadata };
    expect(events).toEqual([expect.objectContaining(event)]);
  });

  test('the set-up, which has no actor', async () => {
    const fresh = await openLibrary();
    const body = { username: 'first', password: 'long enough', site_name: 'Pictures' };
    const { ref } = await fresh.anonymous().ok('completeSetup', { body });
    const event = { event: 'setup.completed', actor_user_ref: null, subject_user_ref: ref };
    expect(await auditEvents(fresh)).toMatchObject([event]);
  });
});

// AUDIT-1
test('records nothing for a request that changes nothing', async () => {
  const account = await library.join('unchanged');
  const params = { ref: account.ref };
  const events = await auditEventsDuring(library, async () => {
    for (const body of [{}, { bio: null, clear_email: false }])
      await account.ok('updateUser', { params, body });
    // An enrolment that is not confirmed.
    await account.ok('enrollTwoFactor');
    await account.send('/account/2fa/disable', { method: 'POST', body: { current_password: password } });
    for (const read of ['getMe', 'listSessions', 'listTokens', 'getTwoFactor', 'getMyCapabilities'] as const)
      await account.ok(read);
    for (const read of ['listAudit', 'listUsers', 'getPublicMode', 'getAuditRetention'] as const)
      await root.ok(read);
  });
  expect(events).toEqual([]);
});

/** Returns everything that the acts above can change. */
async function state(): Promise<unknown> {
  const { rows } = await sql`select
    (select json_agg(to_jsonb(u) - 'last_seen_at' order by ref) from users u) as users,
    (select json_agg(to_jsonb(s) - 'last_used_at' - 'expires_at' order by id) from sessions s) as sessions,
    (select json_agg(to_jsonb(t) - 'last_used_at' order by id) from access_tokens t) as tokens,
    (select json_agg(g order by id) from user_capability_grants g) as grants,
    (select json_agg(r order by id) from user_capability_revokes r) as revokes,
    (select json_agg(f order by user_ref) from two_factor f) as factors,
    (select json_agg(s order by key) from settings s) as settings`.execute(library.deps.db);
  return rows;
}

// AUDIT-1
test('a refused request changes nothing and records nothing', async () => {
  const nobody = library.anonymous();
  const [plain, mask] = [await library.join('plain', 'viewer'), await library.join('mask', 'viewer')];
  const [twice, enrolling] = [await library.join('twice'), await library.join('enrolling')];
  const totp_code = code(await withTwoFactor(twice), 40);
  const { secret_base32 } = await enrolling.ok('enrollTwoFactor');
  const token = await clerk.ok('createToken', { body: { name: 'mine', scopes: ['read'] } });
  await grant(library, mask, 'auth.impersonate');
  const session = await sessionIdOf(plain);
  const missing = randomUUID();
  const past = '2020-01-01T00:00:00Z';
  const [user, last] = [`/admin/users/${plain.ref}`, `/admin/users/${root.ref}`];

  const requests: [due: number, by: Visitor, request: string, body?: unknown][] = [
    [401, nobody, 'POST /auth/login', { username: 'plain', password: 'not it' }],
    [401, nobody, 'POST /auth/login', { username: 'twice', password }],
    [401, nobody, 'POST /auth/login', { username: 'twice', password, totp_code }],
    [401, nobody, 'POST /auth/logout'],
    [409, nobody, 'POST /setup/complete', { username: 'again', password: 'long enough' }],
    [400, root, 'POST /auth/tokens', { name: 'x', scopes: ['read'], expires_at: past }],
    [404, root, `DELETE /auth/tokens/${token.id}`],
    [400, enrolling, 'POST /account/2fa/confirm', { code: code(secret_base32, 40) }],
    [403, twice, 'POST /account/2fa/disable', { current_password: 'x' }],
    [404, root, `DELETE ${user}/2fa`],
    [403, plain, 'POST /account/password', { current_password: 'x', new_password: 'long enough' }],
    [403, clerk, `POST ${last}/reset-password`],
    [404, root, `POST /admin/users/${UNKNOWN_USER}/reset-password`],
    [404, root, `DELETE /account/sessions/${session}`],
    [403, clerk, `DELETE ${last}/sessions`],
    [409, root, 'POST /admin/users', { username: 'ROOT' }],
    [403, clerk, 'POST /admin/users', { username: 'puppet', role: 'admin' }],
    [403, plain, 'POST /admin/users', { username: 'puppet' }],
    [403, plain, `PATCH /users/${clerk.ref}`, { bio: 'x' }],
    [404, plain, `PATCH /users/${plain.ref}`, { bio: 'x', avatar_asset_id: missing }],
    // The last administrator.
    [400, root, `PUT ${last}/status`, { status: 'disabled' }],
    [400, root, `PUT /auth/users/${root.ref}/role`, { role_id: roleIds.get('member') }],
    [400, root, `POST ${last}/revokes`, { capability: 'system.admin' }],
    [404, root, `PUT /auth/users/${plain.ref}/role`, { role_id: missing }],
    [403, clerk, `POST ${user}/grants`, { capability: 'posts.admin' }],
    [400, root, `POST ${user}/grants`, { capability: 'jobs.read', expires_at: past }],
    [404, root, `POST ${user}/grants`, { capability: 'jobs.read', team_id: missing }],
    [404, root, `DELETE ${user}/grants`, { capability: 'jobs.read' }],
    [404, root, `DELETE ${user}/revokes`, { capability: 'jobs.read' }],
    [403, mask, `POST ${last}/impersonate`],
    [400, root, 'POST /auth/impersonation/end'],
    [403, clerk, 'PUT /system/public-mode', { enabled: true }],
    [400, root, 'PUT /admin/system/audit', { retention_days: 0 }],
    [403, clerk, 'GET /admin/audit/export'],
  ];
  const before = await state();
  for (const [due, by, request, body] of requests) {
    const [method = '', path = ''] = request.split(' ');
    let status = 0;
    const events = await auditEventsDuring(library, async () => {
      status = await by.status(method, path, body);
    });
    expect([request, body, status, events]).toEqual([request, body, due, []]);
  }
  expect(await state()).toEqual(before);
});
