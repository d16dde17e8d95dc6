import { type Capability, capabilities, type Scope } from '@vitrine/contract/capabilities';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { must } from './cells.ts';
import { openLedger } from './ledger.ts';
import { processings, sensitivities, statuses } from './matrix.ts';
import { enter } from './world.ts';

/** The access matrix of accounts: who may administer whom, whose names are shown, and who may call which operation. */

const ledger = openLedger();
const everythingHolds = () => expect(ledger.takeDifferences()).toEqual([]);
const MISSING = '00000000-0000-4000-8000-0000000000ff';

const people = new Map<string, Account>();
const person = (name: string): Account => must(people.get(name), name);
const teams = new Map<string, string>();
const teamId = (name: string): string => must(teams.get(name), name);

type Capabilities = readonly (Capability | { capability: Capability; team: string })[];

/** All are members of the library with these additional capabilities. */
const cast: Record<string, Capabilities> = {
  member: [],
  another: [],
  helpdesk: ['users.write'],
  'helpdesk and posts.admin': ['users.write', 'posts.admin'],
  'helpdesk, posts.admin in the team': ['users.write', { capability: 'posts.admin', team: 'team' }],
  'posts.admin': ['posts.admin'],
  'posts.admin in the team': [{ capability: 'posts.admin', team: 'team' }],
  mask: ['auth.impersonate'],
  'system.admin': ['system.admin'],
  'teams.write': ['teams.write'],
  'teams.write in the team': [{ capability: 'teams.write', team: 'team' }],
  'member of the team': [],
  'member of the team above': [],
  'member of the team below': [],
  'member of a team that is no more': [],
};

async function give(name: string, given: Capabilities): Promise<void> {
  for (const one of given) {
    const [capability, team_id] = typeof one === 'string' ? [one, null] : [one.capability, teamId(one.team)];
    await library.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: person(name).ref, capability, team_id })
      .execute();
  }
}

const library = await openLibrary();
const { db } = library.deps;
for (const slug of ['above', 'team', 'below', 'elsewhere', 'gone']) {
  const row = await db
    .insertInto('teams')
    .values({ slug, name: slug, deleted_at: slug === 'gone' ? '2026-01-01T00:00:00Z' : null })
    .returning('id')
    .executeTakeFirstOrThrow();
  teams.set(slug, row.id);
}
await db
  .insertInto('team_parents')
  .values([
    { team_id: teamId('team'), parent_id: teamId('above') },
    { team_id: teamId('below'), parent_id: teamId('team') },
  ])
  .execute();
for (const [name, given] of Object.entries(cast)) {
  people.set(name, await enter(library, name));
  await give(name, given);
}
const roleOf = async (code: string) =>
  (await db.selectFrom('roles').select('id').where('code', '=', code).executeTakeFirstOrThrow()).id;
people.set('viewer', await enter(library, 'viewer', await roleOf('viewer')));
people.set('viewing helpdesk', await enter(library, 'viewing helpdesk', await roleOf('viewer')));
await give('viewing helpdesk', ['users.write']);
await db
  .insertInto('team_members')
  .values([
    { team_id: teamId('team'), user_ref: person('member of the team').ref },
    { team_id: teamId('above'), user_ref: person('member of the team above').ref },
    { team_id: teamId('below'), user_ref: person('member of the team below').ref },
    { team_id: teamId('gone'), user_ref: person('member of a team that is no more').ref },
  ])
  .execute();
await upload(person('member'), await jpeg(60, 40));
await library.runJobs();

const statusOf = async (visitor: Visitor, method: string, path: string, body?: unknown) =>
  (await visitor.send(path, { method, ...(body === undefined ? {} : { body }) })).status;

describe('administering accounts', () => {
  /** The accounts that each may administer: none with more capabilities than their own (ROLE-10). */
  const reach: Record<string, readonly string[]> = {
    helpdesk: ['member', 'viewer', 'helpdesk', 'viewing helpdesk'],
    'helpdesk and posts.admin': [
      'member',
      'viewer',
      'helpdesk',
      'viewing helpdesk',
      'posts.admin',
      'posts.admin in the team',
    ],
    'helpdesk, posts.admin in the team': ['member', 'viewer', 'helpdesk', 'viewing helpdesk'],
    'viewing helpdesk': ['viewer', 'viewing helpdesk'],
    'system.admin': [
      'member',
      'viewer',
      'helpdesk',
      'viewing helpdesk',
      'posts.admin',
      'posts.admin in the team',
      'mask',
      'system.admin',
    ],
    member: [],
    'posts.admin': [],
    mask: [],
  };
  const targets = [
    'member',
    'viewer',
    'helpdesk',
    'viewing helpdesk',
    'posts.admin',
    'posts.admin in the team',
    'mask',
    'system.admin',
  ];

  // ROLE-10
  test('refuses to change accounts with more capabilities than the administrator', async () => {
    for (const [name, reached] of Object.entries(reach)) {
      for (const target of targets) {
        // The session does not exist: 404 if the caller may administer the account.
        const path = `/admin/users/${person(target).ref}/sessions/${MISSING}`;
        const status = await statusOf(person(name), 'DELETE', path);
        ledger.hold(`${name} administers ${target}`, status, reached.includes(target) ? 404 : 403);
      }
    }
    everythingHolds();
  });

  // ROLE-9
  test('refuses to grant capabilities that the administrator does not hold globally', async () => {
    const held: Record<string, readonly string[]> = {
      helpdesk: ['users.write', 'posts.comment'],
      'helpdesk and posts.admin': ['users.write', 'posts.comment', 'posts.admin'],
      'helpdesk, posts.admin in the team': ['users.write', 'posts.comment'],
      'system.admin': ['users.write', 'posts.comment', 'posts.admin', 'assets.admin', 'system.admin'],
    };
    for (const [name, codes] of Object.entries(held)) {
      for (const capability of [
        'users.write',
        'posts.comment',
        'posts.admin',
        'assets.admin',
        'system.admin',
      ]) {
        for (const kind of ['grants', 'revokes']) {
          // The team does not exist: 404 if the caller may grant the capability.
          const path = `/admin/users/${person('viewer').ref}/${kind}`;
          const body = { capability, team_id: MISSING };
          const status = await statusOf(person(name), 'POST', path, body);
          ledger.hold(`${name} ${kind} ${capability}`, status, codes.includes(capability) ? 404 : 403);
        }
      }
    }
    everythingHolds();
  });
});

describe('impersonation', () => {
  // ROLE-18
  test('requires auth.impersonate or system.admin, and refuses administrators and the caller as target', async () => {
    const begins: Record<string, Record<string, number>> = {
      mask: { member: 200, 'posts.admin': 200, helpdesk: 200, mask: 400, 'system.admin': 403 },
      'system.admin': { member: 200, mask: 200, 'system.admin': 400 },
      helpdesk: { member: 403, helpdesk: 403, 'system.admin': 403 },
      'posts.admin': { member: 403 },
    };
    for (const [name, targets] of Object.entries(begins)) {
      for (const [target, due] of Object.entries(targets)) {
        const visitor = visit(library.address, {}, must(person(name).cookie(), 'session'));
        const path = `/admin/users/${person(target).ref}/impersonate`;
        ledger.hold(`${name} is ${target}`, await statusOf(visitor, 'POST', path), due);
        if (due !== 200) continue;
        const chained = `/admin/users/${person('another').ref}/impersonate`;
        ledger.hold(`${name} as ${target}: a chain`, await statusOf(visitor, 'POST', chained), 400);
        const me = await visitor.ok('getMe');
        ledger.hold(`${name} as ${target}: who`, me.ref, person(target).ref);
      }
    }
    everythingHolds();
  });

  // IMPERSONATION-7
  test('ends when the capability is revoked or the target becomes an administrator', async () => {
    const { db } = library.deps;
    const begin = async (admin: string, target: string) => {
      const visitor = visit(library.address, {}, must(person(admin).cookie(), 'session'));
      await visitor.ok('impersonate', { params: { ref: person(target).ref }, body: {} });
      return visitor;
    };
    const byMask = await begin('mask', 'another');
    const byAdmin = await begin('system.admin', 'another');
    const goesOn = async () => [await statusOf(byMask, 'GET', '/me'), await statusOf(byAdmin, 'GET', '/me')];
    expect(await goesOn()).toEqual([200, 200]);
    const revoke = { user_ref: person('mask').ref, capability: 'auth.impersonate' };
    await db.insertInto('user_capability_revokes').values(revoke).execute();
    expect(await goesOn()).toEqual([401, 200]);
    await db.deleteFrom('user_capability_revokes').where('user_ref', '=', revoke.user_ref).execute();
    expect(await goesOn()).toEqual([200, 200]);
    await give('another', ['system.admin']);
    expect(await goesOn()).toEqual([401, 401]);
    await db.deleteFrom('user_capability_grants').where('user_ref', '=', person('another').ref).execute();
  });
});

describe('identities', () => {
  const names = [null, ' ', 'Given'] as const;

  // IDENTITY-2
  test('show the display name, the full name to accounts only, or the username', async () => {
    await library.setPublicMode(true);
    const { db } = library.deps;
    const [asset] = (await person('member').ok('listAssets')).items;
    for (const display of names) {
      for (const full of names) {
        for (const hidden of [false, true]) {
          const username = `named ${display} ${full} ${hidden}`;
          const { ref } = await enter(library, username);
          const fullname = full === 'Given' ? 'Full' : full;
          await db
            .updateTable('users')
            .set({ display_name: display, fullname, hide_from_anonymous: hidden })
            .where('ref', '=', ref)
            .execute();
          for (const visitor of [person('member'), library.anonymous()]) {
            const isAccount = visitor === person('member');
            const { status, text } = await visitor.send(`/users/${ref}`);
            const named = display === 'Given' ? 'Given' : isAccount && full === 'Given' ? 'Full' : username;
            const due = hidden && !isAccount ? '404 undefined undefined' : `200 ${named} null`;
            const body: { display_name?: string; avatar_url?: string | null } = JSON.parse(text);
            const label = `${username} to ${isAccount ? 'an account' : 'a visitor'}`;
            ledger.hold(label, `${status} ${body.display_name} ${body.avatar_url}`, due);
          }
          const picture = must(asset, 'asset').id;
          await db.updateTable('users').set({ avatar_asset_id: picture }).where('ref', '=', ref).execute();
          const { avatar_url } = await person('member').ok('getUser', { params: { ref } });
          ledger.hold(`${username}: avatar`, avatar_url, `/api/v1/assets/${picture}/variants/col`);
        }
      }
    }
    await library.setPublicMode(false);
    everythingHolds();
  });

  // IDENTITY-7
  test('show only an own public picture', async () => {
    const { db } = library.deps;
    const one = person('member');
    const whole = must((await upload(one, await jpeg(80, 60, { seed: 3 }))).file_hash, 'hash');
    await library.runJobs();
    const waiting = must((await upload(one, await jpeg(80, 60, { seed: 4 }))).file_hash, 'hash');
    const text = must((await upload(one, plainFile(), {}, 'notes.txt')).file_hash, 'hash');
    const plain = { status: 'active', sensitivity: 'public', mature: false, deleted: false } as const;
    const own = { ...plain, owner: one.ref, hash: whole, processing_status: 'ready' } as const;
    const cells = [
      { ...own, owner: person('another').ref, due: 404 },
      { ...own, owner: null, due: 404 },
      { ...own, hash: text, due: 404 },
      { ...own, hash: text, processing_status: 'pending', due: 404 },
      // Rendering is pending.
      { ...own, hash: waiting, processing_status: 'pending', due: 200 },
      { ...own, hash: waiting, processing_status: 'failed', due: 404 },
      { ...own, hash: waiting, due: 404 },
    ] as const;
    const every = statuses.flatMap((status) =>
      processings.flatMap((processing_status) =>
        sensitivities.flatMap((sensitivity) =>
          [false, true].flatMap((mature) =>
            [false, true].map((deleted) => {
              const isForAll = status === 'active' && sensitivity === 'public' && !mature && !deleted;
              const changes = { status, processing_status, sensitivity, mature, deleted };
              return { ...own, ...changes, due: isForAll ? 200 : 404 };
            }),
          ),
        ),
      ),
    );
    for (const { due, deleted, owner, hash, ...columns } of [...cells, ...every]) {
      const { id } = await db
        .insertInto('assets')
        .values({
          ...columns,
          owner_user_ref: owner,
          asset_type: 1,
          file_hash: hash,
          file_name: 'a.jpg',
          deleted_at: deleted ? '2026-01-01T00:00:00Z' : null,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const status = await statusOf(one, 'PATCH', `/users/${one.ref}`, { avatar_asset_id: id });
      ledger.hold(JSON.stringify({ ...columns, deleted, owner, hash }), status, due);
    }
    everythingHolds();
  });
});

// ASSET-18, TEAM-13
test('accepts only existing teams that the caller belongs to or may write for, for new posts and assets', async () => {
  const { db } = library.deps;
  const assignable: Record<string, readonly string[]> = {
    member: [],
    'member of the team': ['team'],
    'member of the team above': ['above'],
    'member of the team below': ['below'],
    'member of a team that is no more': [],
    'teams.write': ['above', 'team', 'below', 'elsewhere'],
    'teams.write in the team': ['team', 'below'],
    'posts.admin in the team': [],
    'system.admin': ['above', 'team', 'below', 'elsewhere'],
  };
  const { file_hash } = await upload(person('member'), await jpeg(40, 30, { seed: 5 }));
  for (const [name, reached] of Object.entries(assignable)) {
    const one = person(name);
    const uploaded = { owner_user_ref: one.ref, asset_type: 1, file_name: 'a.jpg' };
    await db
      .insertInto('assets')
      .values({ ...uploaded, file_hash: must(file_hash, 'hash') })
      .execute();
    for (const [team, team_id] of [...teams, ['missing', MISSING] as const]) {
      const status = await statusOf(one, 'POST', '/assets', { file_hash, team_id });
      ledger.hold(`${name} gives to ${team}`, status, reached.includes(team) ? 201 : 404);
    }
  }
  everythingHolds();
});

// ROLE-4
describe('capabilities are resolved with every request', () => {
  let reader: Account;
  let restricted: string;
  let ofTeam: string;
  const reads = async (id: string) => {
    const asset = await reader.ok('getAsset', { params: { id } });
    return !asset.restricted;
  };

  beforeAll(async () => {
    reader = await enter(library, 'reader');
    const made = await upload(person('member'), await jpeg(40, 30, { seed: 6 }), {
      sensitivity: 'restricted',
    });
    const other = await upload(person('member'), await jpeg(40, 30, { seed: 6 }), {
      sensitivity: 'restricted',
    });
    await library.deps.db
      .updateTable('assets')
      .set({ team_id: teamId('below') })
      .where('id', '=', other.id)
      .execute();
    restricted = made.id;
    ofTeam = other.id;
  });

  const grant = (capability: string, team: string | null, expires_at: string | null) =>
    library.deps.db
      .insertInto('user_capability_grants')
      .values({ user_ref: reader.ref, capability, team_id: team, expires_at })
      .execute();
  const revoke = (team: string | null, expires_at: string | null) =>
    library.deps.db
      .insertInto('user_capability_revokes')
      .values({ user_ref: reader.ref, capability: 'content.read.all', team_id: team, expires_at })
      .execute();
  const clear = async () => {
    const { db } = library.deps;
    await db.deleteFrom('user_capability_grants').where('user_ref', '=', reader.ref).execute();
    await db.deleteFrom('user_capability_revokes').where('user_ref', '=', reader.ref).execute();
  };
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  /** Moves expiry times back by an hour and a second. */
  const passAnHour = async () => {
    for (const table of ['user_capability_grants', 'user_capability_revokes'])
      await sql`update ${sql.table(table)} set expires_at = expires_at - interval '3601 seconds'
        where user_ref = ${reader.ref}`.execute(library.deps.db);
  };

  // ROLE-4
  test('applies a grant immediately, until it ends', async () => {
    expect(await reads(restricted)).toBe(false);
    await grant('content.read.all', null, null);
    expect(await reads(restricted)).toBe(true);
    await clear();
    expect(await reads(restricted)).toBe(false);
    await grant('content.read.all', null, inAnHour());
    expect(await reads(restricted)).toBe(true);
    await passAnHour();
    expect(await reads(restricted)).toBe(false);
    await clear();
  });

  // ROLE-4
  test('applies a revoke immediately, until it ends', async () => {
    await grant('content.read.all', null, null);
    expect(await reads(restricted)).toBe(true);
    await revoke(null, inAnHour());
    expect(await reads(restricted)).toBe(false);
    await passAnHour();
    expect(await reads(restricted)).toBe(true);
    await clear();
  });

  // ROLE-6, ROLE-7
  test('extends a team’s grants to the teams below; a revoke applies to its team, or everywhere', async () => {
    await grant('content.read.all', teamId('above'), null);
    expect([await reads(ofTeam), await reads(restricted)]).toEqual([true, false]);
    await revoke(teamId('elsewhere'), null);
    expect(await reads(ofTeam)).toBe(true);
    await revoke(teamId('team'), null);
    expect(await reads(ofTeam)).toBe(false);
    await clear();
    await grant('content.read.all', teamId('above'), null);
    await revoke(null, null);
    expect(await reads(ofTeam)).toBe(false);
    await clear();
  });

  test('ignores revokes of another account or capability', async () => {
    await grant('content.read.all', null, null);
    await grant('assets.admin', teamId('below'), null);
    await library.deps.db
      .insertInto('user_capability_revokes')
      .values([
        { user_ref: person('viewer').ref, capability: 'content.read.all' },
        { user_ref: reader.ref, capability: 'posts.admin' },
      ])
      .execute();
    expect([await reads(restricted), await reads(ofTeam)]).toEqual([true, true]);
    await clear();
    await library.deps.db
      .deleteFrom('user_capability_revokes')
      .where('user_ref', '=', person('viewer').ref)
      .execute();
  });

  // ROLE-15
  test('grants nothing for the markers of granted requests', async () => {
    await grant('content.access.request', null, null);
    await grant('content.restore.request', null, null);
    const { capabilities } = await reader.ok('getMyCapabilities');
    expect(capabilities.filter((code) => code.endsWith('.request'))).toEqual([]);
    expect(await reads(restricted)).toBe(false);
    await clear();
  });

  // ROLE-3
  test('inherits from parent roles, and applies a change of role immediately', async () => {
    const { db } = library.deps;
    const role = '00000000-0000-4000-8000-0000000000a1';
    await db.insertInto('roles').values({ id: role, code: 'r', label: 'R' }).execute();
    const child = '00000000-0000-4000-8000-0000000000a2';
    await db.insertInto('roles').values({ id: child, code: 'c', label: 'C', parent_id: role }).execute();
    const before = await db
      .selectFrom('users')
      .select('role_id')
      .where('ref', '=', reader.ref)
      .executeTakeFirstOrThrow();
    await db.updateTable('users').set({ role_id: child }).where('ref', '=', reader.ref).execute();
    expect(await reads(restricted)).toBe(false);
    await db
      .insertInto('role_capabilities')
      .values({ role_id: role, capability: 'content.read.all' })
      .execute();
    expect(await reads(restricted)).toBe(true);
    await db.updateTable('users').set(before).where('ref', '=', reader.ref).execute();
    expect(await reads(restricted)).toBe(false);
  });
});

describe('doors', () => {
  const all: readonly Operation[] = Object.values(operations);
  const pathOf = ({ path }: Operation) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === 'ref' || name.endsWith('_ref') ? '999999999' : name === 'kind' ? 'post' : MISSING,
    );
  const at = (visitor: Visitor, operation: Operation) =>
    statusOf(visitor, operation.method, pathOf(operation));
  /** PUBLIC-1: operations open to anonymous visitors with public mode off. */
  const open = [
    '/auth/login',
    '/setup/status',
    '/setup/complete',
    '/appearance',
    '/appearance/logo',
    '/build-info',
    '/links/{link}',
    '/links/{token}/unlock',
    '/links/{token}/assets/{id}/variants/{key}',
    '/links/{token}/assets/{id}/variants/hls/{name}',
    '/links/{token}/assets/{id}/media',
    '/links/{token}/assets/{id}/tiles/{level}/{tile}',
    '/links/{token}/assets/{id}/subtitles/{lang}',
    '/links/{token}/assets/{id}/file',
    '/links/{token}/archive',
  ];

  // PUBLIC-1
  test('allows anonymous callers only to sign in while public mode is off', async () => {
    await library.setPublicMode(false);
    for (const operation of all) {
      const status = await at(library.anonymous(), operation);
      const isOpen = open.includes(operation.path) && !['DELETE', 'PATCH'].includes(operation.method);
      const label = `${operation.method} ${operation.path}`;
      if (operation.path === '/auth/logout') continue;
      ledger.hold(label, status === 401, !isOpen);
    }
    everythingHolds();
  });

  // POST-2, PUBLIC-2
  test('allows anonymous callers only public operations while public mode is on', async () => {
    await library.setPublicMode(true);
    for (const operation of all) {
      if (operation.door === 'open') continue;
      const status = await at(library.anonymous(), operation);
      const label = `${operation.method} ${operation.path}`;
      ledger.hold(label, status === 401, operation.door !== 'public');
      // Public operations only read.
      const reads = operation.method === 'GET' || operation.scope === 'read';
      ledger.hold(`${label}: reads`, operation.door !== 'public' || reads, true);
    }
    await library.setPublicMode(false);
    everythingHolds();
  });

  // ROLE-17
  test('refuses accounts without the capability of an operation, and no others', async () => {
    const { db } = library.deps;
    const bare = await enter(library, 'bare');
    await sql`insert into roles (id, code, label) values ('00000000-0000-4000-8000-0000000000b1', 'bare', 'Bare')`.execute(
      db,
    );
    await db
      .updateTable('users')
      .set({ role_id: '00000000-0000-4000-8000-0000000000b1' })
      .where('ref', '=', bare.ref)
      .execute();
    const past = sql<string>`now() - interval '1 second'`;
    /** Grants all other capabilities, and this one in a team and until a moment ago. */
    const grantOthers = async (holds: Capability) => {
      const user_ref = bare.ref;
      const others = capabilities.filter((code) => code !== holds && code !== 'system.admin');
      const globally = others.map((capability) => ({ user_ref, capability }));
      await db.insertInto('user_capability_grants').values(globally).execute();
      const team = { user_ref, capability: holds, team_id: teamId('team') };
      await db.insertInto('user_capability_grants').values(team).execute();
      const ended = { user_ref, capability: holds, expires_at: past };
      await db.insertInto('user_capability_grants').values(ended).execute();
    };
    const withdraw = () => db.deleteFrom('user_capability_grants').where('user_ref', '=', bare.ref).execute();
    for (const operation of all) {
      if (typeof operation.door !== 'object') continue;
      const label = `${operation.method} ${operation.path}`;
      ledger.hold(label, await at(bare, operation), 403);
      await grantOthers(operation.door.holds);
      ledger.hold(`${label}: everything but the capability`, await at(bare, operation), 403);
      await withdraw();
      if (operation.method !== 'GET') continue;
      ledger.hold(`${label}: system.admin`, (await at(person('system.admin'), operation)) === 403, false);
      const { holds } = operation.door;
      await db
        .insertInto('user_capability_grants')
        .values({ user_ref: bare.ref, capability: holds })
        .execute();
      ledger.hold(`${label}: ${holds}`, (await at(bare, operation)) === 403, false);
      await withdraw();
    }
    everythingHolds();
  });

  // TOKEN-4
  test('allows a token the operations of its scopes, and `admin` all that do not need a session', async () => {
    const root = person('system.admin');
    const scopes = [
      'read',
      'posts.write',
      'assets.write',
      'comments.write',
      'fields.admin',
      'admin',
    ] as const;
    for (const scope of scopes) {
      const { token } = await root.ok('createToken', { body: { name: scope, scopes: [scope] } });
      const visitor = visit(library.address, { authorization: `Bearer ${token}` });
      for (const operation of all) {
        const needed: Scope = operation.scope;
        const others: readonly Scope[] = operation.otherScopes ?? [];
        const isLetIn =
          needed === 'none' ||
          needed === scope ||
          others.includes(scope) ||
          (scope === 'admin' && needed !== 'session');
        // Changes are not attempted; only their refusals are checked.
        if (isLetIn && operation.method !== 'GET') continue;
        const label = `${scope}: ${operation.method} ${operation.path}`;
        ledger.hold(label, (await at(visitor, operation)) === 403, !isLetIn);
      }
    }
    everythingHolds();
  });

  // IMPERSONATION-9
  test('an impersonator cannot change passwords, two-factor, capabilities or tokens', async () => {
    const visitor = visit(library.address, {}, must(person('system.admin').cookie(), 'session'));
    await visitor.ok('impersonate', { params: { ref: person('helpdesk').ref }, body: {} });
    const refused = [
      ['POST', '/auth/tokens'],
      ['POST', '/account/password'],
      ['POST', '/account/2fa/enroll'],
      ['POST', '/account/2fa/confirm'],
      ['POST', '/account/2fa/disable'],
      ['POST', '/account/2fa/recovery-codes'],
      ['POST', `/admin/users/${person('viewer').ref}/grants`],
      ['DELETE', `/admin/users/${person('viewer').ref}/grants`],
      ['POST', `/admin/users/${person('viewer').ref}/revokes`],
      ['DELETE', `/admin/users/${person('viewer').ref}/revokes`],
      ['PUT', `/auth/users/${person('viewer').ref}/role`],
      ['POST', `/admin/users/${person('viewer').ref}/reset-password`],
    ] as const;
    for (const [method, path] of refused) {
      ledger.hold(`${method} ${path}`, await statusOf(visitor, method, path), 403);
    }
    ledger.hold('reads', await statusOf(visitor, 'GET', '/posts'), 200);
    ledger.hold('writes', await statusOf(visitor, 'PATCH', `/posts/${MISSING}`, {}), 404);
    everythingHolds();
  });
});
