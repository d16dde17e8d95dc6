import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Secret, TOTP } from 'otpauth';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSession } from '../../src/identity/sessions.ts';
import { expire } from '../../src/sweep/expired.ts';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, type Library, openLibrary, password } from '../support/library.ts';
import { grant } from '../support/people.ts';

const nowhere = 404_000;

let library: Library;
let root: Account;
/** An account whose only extra capability is `users.write`. */
let clerk: Account;

beforeAll(async () => {
  library = await openLibrary();
  [root, clerk] = [await library.join('root', 'admin'), await library.join('clerk', 'viewer')];
  await grant(library, clerk, 'users.write');
});

async function another(userRef: number): Promise<Visitor> {
  const start = { userRef, days: 30, address: '127.0.0.1', userAgent: 'test' };
  return visit(library.address, {}, await startSession(library.deps.db, start));
}

async function roleId(code: string): Promise<string> {
  const { db } = library.deps;
  return (await db.selectFrom('roles').select('id').where('code', '=', code).executeTakeFirstOrThrow()).id;
}

async function sessionIdOf(visitor: Visitor): Promise<string> {
  const id = (await visitor.ok('listSessions')).items.find(({ current }) => current)?.id;
  if (id === undefined) throw new Error('nobody is signed in');
  return id;
}

async function audit(where: Library) {
  return where.deps.db.selectFrom('audit_events').selectAll().orderBy('occurred_at').orderBy('id').execute();
}

async function eventsDuring(act: () => Promise<unknown>, where = library) {
  const before = new Set((await audit(where)).map(({ id }) => id));
  await act();
  return (await audit(where)).filter(({ id }) => !before.has(id));
}

/** The current code of an authenticator app, or one that is `steps` of 30 s later, because each is accepted once. */
function code(secret: string, steps = 0): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
  return totp.generate({ timestamp: Date.now() + steps * 30_000 });
}

/** Turns two-factor sign-in on and returns the secret. */
async function withTwoFactor(account: Visitor): Promise<string> {
  const { secret_base32 } = await account.ok('enrollTwoFactor');
  await account.ok('confirmTwoFactor', { body: { code: code(secret_base32) } });
  return secret_base32;
}

interface Act {
  event: string;
  /** The actor; null for an anonymous caller and for the server itself. */
  actor: number | null;
  subject: number | null;
  metadata?: Record<string, unknown>;
  target?: { kind: string; id: string };
  run(): Promise<unknown>;
  /** Texts that must not occur in the event. */
  secrets?: () => string[];
}

/** All acts and their preparations. */
const acts: Record<string, () => Promise<Act>> = {
  'a sign-in': async () => {
    const { ref } = await library.join('in');
    const browser = visit(library.address, { 'user-agent': 'Browser' });
    return {
      event: 'auth.signed_in',
      actor: ref,
      subject: ref,
      metadata: { provider: 'password', two_factor: false, address: '127.0.0.1', user_agent: 'Browser' },
      run: () => browser.ok('login', { body: { username: 'in', password } }),
      secrets: () => [password, browser.cookie() ?? ''],
    };
  },
  'a sign-in with a second factor': async () => {
    const account = await library.join('twice');
    const secret = await withTwoFactor(account);
    const totp_code = code(secret, 1);
    return {
      event: 'auth.signed_in',
      actor: account.ref,
      subject: account.ref,
      metadata: { two_factor: true },
      run: () => library.anonymous().ok('login', { body: { username: 'twice', password, totp_code } }),
      secrets: () => [totp_code, secret],
    };
  },
  'a sign-out': async () => {
    const account = await library.join('out');
    return {
      event: 'auth.signed_out',
      actor: account.ref,
      subject: account.ref,
      run: () => account.ok('logout'),
    };
  },
  'five wrong passwords for one name': async () => {
    const account = await library.join('locked');
    return {
      event: 'auth.locked',
      actor: null,
      subject: account.ref,
      metadata: { address: '127.0.0.1' },
      run: async () => {
        for (let i = 0; i < 7; i += 1)
          await library
            .anonymous()
            .refused('login', { body: { username: 'LOCKED', password: `wrong ${i}` } });
      },
      secrets: () => ['wrong', 'LOCKED'],
    };
  },
  'five wrong passwords for a name nobody has': async () => ({
    event: 'auth.locked',
    actor: null,
    subject: null,
    run: async () => {
      for (let i = 0; i < 5; i += 1)
        await library.anonymous().refused('login', { body: { username: 'hunter2', password: 'x' } });
    },
    secrets: () => ['hunter2'],
  }),
  'a token made': async () => {
    const account = await library.join('minter');
    let token = '';
    return {
      event: 'auth.token.created',
      actor: account.ref,
      subject: account.ref,
      metadata: { name: 'script', scopes: ['read'], expires_at: null },
      run: async () => {
        ({ token } = await account.ok('createToken', { body: { name: 'script', scopes: ['read'] } }));
      },
      secrets: () => [token],
    };
  },
  'a token taken back': async () => {
    const account = await library.join('taker');
    const { id } = await account.ok('createToken', { body: { name: 'script', scopes: ['read'] } });
    return {
      event: 'auth.token.deleted',
      actor: account.ref,
      subject: account.ref,
      target: { kind: 'token', id },
      run: () => account.ok('deleteToken', { params: { id } }),
    };
  },
  'two-factor sign-in switched on': async () => {
    const account = await library.join('on');
    let secret = '';
    return {
      event: 'auth.2fa.enabled',
      actor: account.ref,
      subject: account.ref,
      run: async () => {
        secret = await withTwoFactor(account);
      },
      secrets: () => [secret],
    };
  },
  'new recovery codes': async () => {
    const account = await library.join('codes');
    await withTwoFactor(account);
    let codes: string[] = [];
    return {
      event: 'auth.2fa.recovery_codes.renewed',
      actor: account.ref,
      subject: account.ref,
      run: async () => {
        codes = (await account.ok('renewRecoveryCodes', { body: { current_password: password } }))
          .recovery_codes;
      },
      secrets: () => codes,
    };
  },
  'two-factor sign-in switched off': async () => {
    const account = await library.join('off');
    await withTwoFactor(account);
    return {
      event: 'auth.2fa.disabled',
      actor: account.ref,
      subject: account.ref,
      run: () => account.ok('disableTwoFactor', { body: { current_password: password } }),
      secrets: () => [password],
    };
  },
  'two-factor sign-in taken off somebody': async () => {
    const account = await library.join('helped');
    await withTwoFactor(account);
    return {
      event: 'auth.2fa.disabled',
      actor: root.ref,
      subject: account.ref,
      run: () => root.ok('removeUserTwoFactor', { params: { ref: account.ref } }),
    };
  },
  'a password changed': async () => {
    const account = await library.join('changer');
    const body = { current_password: password, new_password: 'another horse' };
    return {
      event: 'auth.password.changed',
      actor: account.ref,
      subject: account.ref,
      run: () => account.ok('changePassword', { body }),
      secrets: () => Object.values(body),
    };
  },
  'a password reset': async () => {
    const account = await library.join('forgot');
    let made = '';
    return {
      event: 'user.password.reset',
      actor: root.ref,
      subject: account.ref,
      run: async () => {
        made = (await root.ok('resetPassword', { params: { ref: account.ref } })).temporary_password;
      },
      secrets: () => [made],
    };
  },
  'a session of one’s own ended': async () => {
    const account = await library.join('ender');
    const id = await sessionIdOf(await another(account.ref));
    return {
      event: 'auth.session.ended',
      actor: account.ref,
      subject: account.ref,
      target: { kind: 'session', id },
      run: () => account.ok('endSession', { params: { id } }),
    };
  },
  'somebody’s session ended': async () => {
    const account = await library.join('ended');
    const id = await sessionIdOf(account);
    return {
      event: 'auth.session.ended',
      actor: root.ref,
      subject: account.ref,
      target: { kind: 'session', id },
      run: () => root.ok('endUserSession', { params: { ref: account.ref, id } }),
    };
  },
  'all other sessions of one’s own ended': async () => {
    const account = await library.join('sweeper');
    await another(account.ref);
    return {
      event: 'auth.sessions.ended',
      actor: account.ref,
      subject: account.ref,
      metadata: { ended: 1 },
      run: () => account.ok('endOtherSessions'),
    };
  },
  'somebody’s sessions ended': async () => {
    const account = await library.join('swept');
    await another(account.ref);
    return {
      event: 'auth.sessions.ended',
      actor: root.ref,
      subject: account.ref,
      metadata: { ended: 2 },
      run: () => root.ok('endUserSessions', { params: { ref: account.ref } }),
    };
  },
  'a profile of one’s own changed': async () => {
    const account = await library.join('self');
    return {
      event: 'user.updated',
      actor: account.ref,
      subject: account.ref,
      metadata: { changed: ['bio', 'email'] },
      run: () =>
        account.ok('updateUser', {
          params: { ref: account.ref },
          body: { email: 'self@example.org', bio: 'hi' },
        }),
      secrets: () => ['self@example.org'],
    };
  },
  'somebody’s profile changed': async () => {
    const account = await library.join('edited');
    return {
      event: 'user.updated',
      actor: root.ref,
      subject: account.ref,
      metadata: { changed: ['email', 'fullname'] },
      run: () =>
        root.ok('updateUser', {
          params: { ref: account.ref },
          body: { fullname: 'Ed Ited', clear_email: true },
        }),
      secrets: () => ['Ed Ited'],
    };
  },
  'a status changed': async () => {
    const account = await library.join('shut');
    const body = { status: 'disabled', reason: 'left' } as const;
    return {
      event: 'user.status.changed',
      actor: root.ref,
      subject: account.ref,
      metadata: body,
      run: () => root.ok('setUserStatus', { params: { ref: account.ref }, body }),
    };
  },
  'a role changed': async () => {
    const account = await library.join('promoted', 'viewer');
    const role_id = await roleId('member');
    return {
      event: 'user.role.changed',
      actor: root.ref,
      subject: account.ref,
      metadata: { role: 'member' },
      run: () => root.ok('setUserRole', { params: { ref: account.ref }, body: { role_id } }),
    };
  },
  'a capability granted': async () => {
    const account = await library.join('given');
    const body = { capability: 'jobs.read', note: 'on call' } as const;
    return {
      event: 'capability.grant.added',
      actor: root.ref,
      subject: account.ref,
      metadata: { ...body, team_id: null, expires_at: null },
      run: () => root.ok('grantCapability', { params: { ref: account.ref }, body }),
    };
  },
  'a grant taken back': async () => {
    const account = await library.join('untaken');
    await grant(library, account, 'jobs.read');
    return {
      event: 'capability.grant.removed',
      actor: root.ref,
      subject: account.ref,
      metadata: { capability: 'jobs.read', team_id: null },
      run: () => root.ok('removeGrant', { params: { ref: account.ref }, body: { capability: 'jobs.read' } }),
    };
  },
  'a capability revoked': async () => {
    const account = await library.join('barred');
    return {
      event: 'capability.revoke.added',
      actor: root.ref,
      subject: account.ref,
      metadata: { capability: 'posts.create', team_id: null, note: null, expires_at: null },
      run: () =>
        root.ok('revokeCapability', { params: { ref: account.ref }, body: { capability: 'posts.create' } }),
    };
  },
  'a revoke lifted': async () => {
    const account = await library.join('lifted');
    const input = { params: { ref: account.ref }, body: { capability: 'posts.create' } } as const;
    await root.ok('revokeCapability', input);
    return {
      event: 'capability.revoke.removed',
      actor: root.ref,
      subject: account.ref,
      metadata: { capability: 'posts.create', team_id: null },
      run: () => root.ok('removeRevoke', input),
    };
  },
  'a grant that ran out': async () => {
    const account = await library.join('lapsed');
    const row = {
      user_ref: account.ref,
      capability: 'jobs.read',
      expires_at: sql<string>`now() - interval '1 s'`,
    };
    await library.deps.db.insertInto('user_capability_grants').values(row).execute();
    return {
      event: 'capability.grant.expired',
      actor: null,
      subject: account.ref,
      metadata: { capability: 'jobs.read', team_id: null },
      run: () => expire(library.deps.db),
    };
  },
  'a revoke that ran out': async () => {
    const account = await library.join('relieved');
    const row = {
      user_ref: account.ref,
      capability: 'teams.read',
      expires_at: sql<string>`now() - interval '1 s'`,
    };
    await library.deps.db.insertInto('user_capability_revokes').values(row).execute();
    return {
      event: 'capability.revoke.expired',
      actor: null,
      subject: account.ref,
      metadata: { capability: 'teams.read', team_id: null },
      run: () => expire(library.deps.db),
    };
  },
  'an impersonation begun': async () => {
    const account = await library.join('mask1');
    const window = visit(library.address, {}, root.cookie());
    return {
      event: 'admin.impersonation.started',
      actor: root.ref,
      subject: account.ref,
      metadata: { session_id: expect.any(String), reason: 'ticket' },
      run: () => window.ok('impersonate', { params: { ref: account.ref }, body: { reason: 'ticket' } }),
      secrets: () => [window.cookie() ?? ''],
    };
  },
  'an impersonation ended': async () => {
    const account = await library.join('mask2');
    const window = visit(library.address, {}, root.cookie());
    const started = await window.ok('impersonate', { params: { ref: account.ref }, body: undefined });
    return {
      event: 'admin.impersonation.ended',
      actor: root.ref,
      subject: account.ref,
      metadata: { session_id: started.session_id, impersonated_by: { ref: root.ref, username: 'root' } },
      run: () => window.ok('endImpersonation'),
    };
  },
  'public mode changed': async () => ({
    event: 'system.public_mode.changed',
    actor: root.ref,
    subject: null,
    metadata: { enabled: false },
    run: () => root.ok('setPublicMode', { body: { enabled: false } }),
  }),
  'the retention changed': async () => ({
    event: 'audit.retention.changed',
    actor: root.ref,
    subject: null,
    metadata: { retention_days: 400 },
    run: () => root.ok('setAuditRetention', { body: { retention_days: 400 } }),
  }),
  'an export': async () => ({
    event: 'audit.exported',
    actor: root.ref,
    subject: null,
    metadata: { event: 'x*' },
    run: () => root.send('/admin/audit/export?event=x*'),
  }),
};

// AUDIT-1, AUDIT-2
describe('records exactly one event with actor and subject and without secrets:', () => {
  test.each(Object.entries(acts))('%s', async (_, prepare) => {
    const { event, actor, subject, metadata, target, run, secrets } = await prepare();
    const events = await eventsDuring(run);
    expect(events.map((one) => one.event)).toEqual([event]);
    expect(events[0]).toMatchObject({
      actor_user_ref: actor,
      subject_user_ref: subject,
      impersonator_user_ref: null,
      target_kind: target?.kind ?? events[0]?.target_kind,
      target_id: target?.id ?? events[0]?.target_id,
      metadata: metadata ?? {},
    });
    const text = JSON.stringify(events);
    for (const secret of secrets?.() ?? []) {
      expect(secret).not.toBe('');
      expect(text).not.toContain(secret);
    }
  });

  test('creating an account', async () => {
    const body = {
      username: 'created',
      password: 'long enough',
      email: 'created@example.org',
      role: 'viewer',
    };
    let ref = 0;
    const events = await eventsDuring(async () => {
      ref = (await root.ok('createUser', { body })).ref;
    });
    expect(events).toEqual([
      expect.objectContaining({
        event: 'user.created',
        actor_user_ref: root.ref,
        subject_user_ref: ref,
        metadata: { username: 'created', role: 'viewer' },
      }),
    ]);
  });

  test('records the set-up without an actor', async () => {
    const fresh = await openLibrary();
    let ref = 0;
    const events = await eventsDuring(async () => {
      const body = { username: 'first', password: 'long enough', site_name: 'Pictures' };
      ref = (await fresh.anonymous().ok('completeSetup', { body })).ref;
    }, fresh);
    expect(events.map((one) => [one.event, one.actor_user_ref, one.subject_user_ref])).toEqual([
      ['setup.completed', null, ref],
    ]);
  });

  // AUDIT-7
  test('names the token that created and edited an account', async () => {
    const { id, token } = await root.ok('createToken', { body: { name: 'script', scopes: ['admin'] } });
    const script = visit(library.address, { authorization: `Bearer ${token}` });
    const events = await eventsDuring(() => script.ok('createUser', { body: { username: 'scripted' } }));
    expect(events).toMatchObject([
      { event: 'user.created', actor_user_ref: root.ref, metadata: { token_id: id } },
    ]);
  });

  // AUDIT-1
  test('records nothing for a request that changes nothing', async () => {
    const account = await library.join('unchanged');
    const { id } = await account.ok('createToken', { body: { name: 'x', scopes: ['read'] } });
    expect(id).toBeDefined();
    const events = await eventsDuring(async () => {
      await account.ok('updateUser', { params: { ref: account.ref }, body: {} });
      await account.ok('updateUser', {
        params: { ref: account.ref },
        body: { bio: null, clear_email: false },
      });
      await account.ok('enrollTwoFactor');
      for (const read of [
        'getMe',
        'listSessions',
        'listTokens',
        'getTwoFactor',
        'getMyCapabilities',
      ] as const)
        await account.ok(read);
      for (const read of ['listAudit', 'listUsers', 'getPublicMode', 'getAuditRetention'] as const)
        await root.ok(read);
    });
    expect(events).toEqual([]);
  });
});

test('records nothing when an unconfirmed enrolment is given up', async () => {
  const account = await library.join('neveron');
  const events = await eventsDuring(async () => {
    await account.ok('enrollTwoFactor');
    const body = { current_password: password };
    await account.send('/account/2fa/disable', { method: 'POST', body });
  });
  expect(events).toEqual([]);
});

// AUDIT-1
describe('records nothing for a refused request', () => {
  interface Refused {
    status: number;
    run(): Promise<{ status: number }>;
  }
  const team = randomUUID();
  const past = '2020-01-01T00:00:00Z';
  const sent = (by: Visitor, method: string, path: string, body?: unknown) => by.send(path, { method, body });

  const refusals: Record<string, () => Promise<Refused>> = {
    'a sign-in with a wrong password': async () => {
      await library.join('wrong');
      const body = { username: 'wrong', password: 'not it' };
      return { status: 401, run: () => sent(library.anonymous(), 'POST', '/auth/login', body) };
    },
    'a sign-in without the second factor': async () => {
      await withTwoFactor(await library.join('factor1'));
      const body = { username: 'factor1', password };
      return { status: 401, run: () => sent(library.anonymous(), 'POST', '/auth/login', body) };
    },
    'a sign-in with a wrong code': async () => {
      const secret = await withTwoFactor(await library.join('factor2'));
      const body = { username: 'factor2', password, totp_code: code(secret, 40) };
      return { status: 401, run: () => sent(library.anonymous(), 'POST', '/auth/login', body) };
    },
    'a sign-out by nobody': async () => ({
      status: 401,
      run: () => sent(library.anonymous(), 'POST', '/auth/logout'),
    }),
    'a token that ran out already': async () => ({
      status: 400,
      run: () => sent(root, 'POST', '/auth/tokens', { name: 'x', scopes: ['read'], expires_at: past }),
    }),
    'somebody else’s token taken back': async () => {
      const { id } = await clerk.ok('createToken', { body: { name: 'mine', scopes: ['read'] } });
      return { status: 404, run: () => sent(root, 'DELETE', `/auth/tokens/${id}`) };
    },
    'two-factor sign-in confirmed with a wrong code': async () => {
      const account = await library.join('confirming');
      const { secret_base32 } = await account.ok('enrollTwoFactor');
      const body = { code: code(secret_base32, 40) };
      return { status: 400, run: () => sent(account, 'POST', '/account/2fa/confirm', body) };
    },
    'two-factor sign-in switched off with a wrong password': async () => {
      const account = await library.join('guessing');
      await withTwoFactor(account);
      return {
        status: 403,
        run: () => sent(account, 'POST', '/account/2fa/disable', { current_password: 'x' }),
      };
    },
    'two-factor sign-in taken off somebody who has none': async () => ({
      status: 404,
      run: () => sent(root, 'DELETE', `/admin/users/${clerk.ref}/2fa`),
    }),
    'a password changed without the current one': async () => {
      const account = await library.join('thief');
      const body = { current_password: 'x', new_password: 'long enough' };
      return { status: 403, run: () => sent(account, 'POST', '/account/password', body) };
    },
    'a password reset of somebody who may do more': async () => ({
      status: 403,
      run: () => sent(clerk, 'POST', `/admin/users/${root.ref}/reset-password`),
    }),
    'a password reset of nobody': async () => ({
      status: 404,
      run: () => sent(root, 'POST', `/admin/users/${nowhere}/reset-password`),
    }),
    'somebody else’s session ended as one’s own': async () => {
      const id = await sessionIdOf(clerk);
      return { status: 404, run: () => sent(root, 'DELETE', `/account/sessions/${id}`) };
    },
    'the sessions of somebody who may do more ended': async () => ({
      status: 403,
      run: () => sent(clerk, 'DELETE', `/admin/users/${root.ref}/sessions`),
    }),
    'an account under a name that is taken': async () => ({
      status: 409,
      run: () => sent(root, 'POST', '/admin/users', { username: 'ROOT' }),
    }),
    'an account with a role that gives more than one has': async () => ({
      status: 403,
      run: () => sent(clerk, 'POST', '/admin/users', { username: 'puppet', role: 'admin' }),
    }),
    'an account by one who may not': async () => {
      const member = await library.join('nobody1');
      return { status: 403, run: () => sent(member, 'POST', '/admin/users', { username: 'puppet' }) };
    },
    'somebody’s profile changed by one who may not': async () => {
      const member = await library.join('nobody2');
      return { status: 403, run: () => sent(member, 'PATCH', `/users/${clerk.ref}`, { bio: 'x' }) };
    },
    'a profile with a picture that is not there': async () => ({
      status: 404,
      run: () => sent(root, 'PATCH', `/users/${root.ref}`, { bio: 'x', avatar_asset_id: team }),
    }),
    'the last administrator disabled': async () => ({
      status: 400,
      run: () => sent(root, 'PUT', `/admin/users/${root.ref}/status`, { status: 'disabled' }),
    }),
    'the last administrator’s role changed': async () => {
      const role_id = await roleId('member');
      return { status: 400, run: () => sent(root, 'PUT', `/auth/users/${root.ref}/role`, { role_id }) };
    },
    'the last administrator’s system.admin revoked': async () => ({
      status: 400,
      run: () => sent(root, 'POST', `/admin/users/${root.ref}/revokes`, { capability: 'system.admin' }),
    }),
    'a role that is not there': async () => ({
      status: 404,
      run: () => sent(root, 'PUT', `/auth/users/${clerk.ref}/role`, { role_id: team }),
    }),
    'a grant of what one does not hold': async () => {
      const account = await library.join('poor', 'viewer');
      const path = `/admin/users/${account.ref}/grants`;
      return { status: 403, run: () => sent(clerk, 'POST', path, { capability: 'posts.admin' }) };
    },
    'a grant that ran out already': async () => ({
      status: 400,
      run: () =>
        sent(root, 'POST', `/admin/users/${clerk.ref}/grants`, { capability: 'jobs.read', expires_at: past }),
    }),
    'a grant for a team that is not there': async () => ({
      status: 404,
      run: () =>
        sent(root, 'POST', `/admin/users/${clerk.ref}/grants`, { capability: 'jobs.read', team_id: team }),
    }),
    'a grant taken back that is not there': async () => ({
      status: 404,
      run: () => sent(root, 'DELETE', `/admin/users/${clerk.ref}/grants`, { capability: 'jobs.read' }),
    }),
    'a revoke lifted that is not there': async () => ({
      status: 404,
      run: () => sent(root, 'DELETE', `/admin/users/${clerk.ref}/revokes`, { capability: 'jobs.read' }),
    }),
    'an impersonation of an administrator': async () => {
      const deputy = await library.join('deputy');
      await grant(library, deputy, 'auth.impersonate');
      return { status: 403, run: () => sent(deputy, 'POST', `/admin/users/${root.ref}/impersonate`) };
    },
    'the end of an impersonation that never was': async () => ({
      status: 400,
      run: () => sent(root, 'POST', '/auth/impersonation/end'),
    }),
    'public mode by one who may not': async () => ({
      status: 403,
      run: () => sent(clerk, 'PUT', '/system/public-mode', { enabled: true }),
    }),
    'a retention of no days': async () => ({
      status: 400,
      run: () => sent(root, 'PUT', '/admin/system/audit', { retention_days: 0 }),
    }),
    'an export by one who may not': async () => ({
      status: 403,
      run: () => clerk.send('/admin/audit/export'),
    }),
    'a second set-up': async () => ({
      status: 409,
      run: () =>
        sent(library.anonymous(), 'POST', '/setup/complete', { username: 'again', password: 'long enough' }),
    }),
  };

  /** Everything that these acts can change. */
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

  test.each(Object.entries(refusals))('%s', async (_, prepare) => {
    const { status, run } = await prepare();
    const before = await state();
    const events = await eventsDuring(async () => expect((await run()).status).toBe(status));
    expect(events).toEqual([]);
    expect(await state()).toEqual(before);
  });
});
