import { type Capability, capabilities } from '@vitrine/contract/capabilities';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import type { UserBatchPreview } from '@vitrine/contract/user-batches';
import type { UserCsvResult } from '@vitrine/contract/user-csv';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { type Visitor, visit } from '../support/client.ts';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { actAs, grant, revoke, setRole, withdrawGrants } from '../support/people.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';
import { DELETED_AT, must } from './cells.ts';
import { openLedger } from './ledger.ts';
import { processings, sensitivities, statuses } from './matrix.ts';
import { addTeams, enter } from './world.ts';

/** The access matrix of accounts: who may administer whom, whose names are shown, and who may call which operation. */

const ledger = openLedger();
const everythingHolds = () => expect(ledger.takeDifferences()).toEqual([]);
const MISSING = '00000000-0000-4000-8000-0000000000ff';

const people = new Map<string, Account>();
const person = (name: string): Account => must(people.get(name), name);
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
  'lead of the team': [],
  'contributor of the team': [],
  'viewer of the team': [],
};

async function give(name: string, given: Capabilities): Promise<void> {
  for (const one of given) {
    const [capability, team_id] = typeof one === 'string' ? [one, null] : [one.capability, teamId(one.team)];
    await grant(library, person(name), capability, team_id);
  }
}

const library = await openLibrary();
const { db } = library.deps;
const teams = new Map<string, string>(await addTeams(library));
for (const [name, given] of Object.entries(cast)) {
  people.set(name, await enter(library, name));
  await give(name, given);
}
for (const name of ['viewer', 'viewing helpdesk']) people.set(name, await enter(library, name, 'viewer'));
await give('viewing helpdesk', ['users.write']);
await db
  .insertInto('team_members')
  .values([
    { team_id: teamId('team'), user_ref: person('member of the team').ref },
    { team_id: teamId('above'), user_ref: person('member of the team above').ref },
    { team_id: teamId('below'), user_ref: person('member of the team below').ref },
    { team_id: teamId('team'), user_ref: person('lead of the team').ref, role: 'lead' },
    { team_id: teamId('team'), user_ref: person('contributor of the team').ref, role: 'contributor' },
    { team_id: teamId('team'), user_ref: person('viewer of the team').ref, role: 'viewer' },
  ])
  .execute();
const gone = await addTeam(library, 'gone', [person('member of a team that is no more')]);
await db.updateTable('teams').set({ deleted_at: DELETED_AT }).where('id', '=', gone).execute();
teams.set('gone', gone);
await upload(person('member'), await jpeg(60, 40));
await library.runJobs();

describe('administering accounts', () => {
  const leads = ['lead of the team'];
  const withLittle = ['member', 'viewer', 'helpdesk', 'viewing helpdesk'];
  const withPosts = ['posts.admin', 'posts.admin in the team'];
  const targets = [...withLittle, ...withPosts, ...leads, 'mask', 'system.admin'];
  /** The accounts that each may administer: none with more capabilities than their own (ROLE-10). */
  const reach: Record<string, readonly string[]> = {
    helpdesk: withLittle,
    'helpdesk and posts.admin': [...withLittle, ...withPosts],
    'helpdesk, posts.admin in the team': withLittle,
    'viewing helpdesk': ['viewer', 'viewing helpdesk'],
    'system.admin': targets,
    member: [],
    'posts.admin': [],
    mask: [],
  };

  // ROLE-10
  test('refuses to change accounts with more capabilities than the administrator', async () => {
    for (const [name, reached] of Object.entries(reach)) {
      for (const target of targets) {
        // The session does not exist: 404 if the caller may administer the account.
        const path = `/admin/users/${person(target).ref}/sessions/${MISSING}`;
        const status = await person(name).status('DELETE', path);
        ledger.hold(`${name} administers ${target}`, status, reached.includes(target) ? 404 : 403);
      }
      // A dry run of a batch decides the same about each of them.
      const ids = targets.filter((target) => target !== name).map((target) => person(target).ref);
      const body = { ids, action: { kind: 'end_sessions' }, dry_run: true };
      const { status, text } = await person(name).send('/admin/users/batch', { method: 'POST', body });
      ledger.hold(`${name}: a batch`, status, reached.length === 0 ? 403 : 200);
      if (status !== 200) continue;
      const preview: UserBatchPreview = JSON.parse(text);
      const refused = preview.refused.flatMap((one) => one.ids);
      const spared = targets.filter((target) => target !== name && !reached.includes(target));
      const due = spared.map((target) => person(target).ref);
      ledger.hold(`${name}: a batch refuses`, refused.toSorted().join(), due.toSorted().join());
      // So does an import that lets them expire.
      const file = new FormData();
      const rows = targets.filter((target) => target !== name).map((target) => `${target},2099-01-01`);
      file.append('file', new Blob([`username,expires_at\n${rows.join('\n')}`]), 'people.csv');
      const path = '/admin/users/import.csv?dry_run=true';
      const answer = await person(name).send(path, { method: 'POST', body: file });
      const result: UserCsvResult = JSON.parse(answer.text);
      const named = result.refused.map(({ username }) => username);
      ledger.hold(`${name}: an import refuses`, named.toSorted().join(), spared.toSorted().join());
    }
    everythingHolds();
  });

  // ROLE-9
  test('refuses to grant capabilities that the administrator does not hold globally', async () => {
    const all = ['users.write', 'posts.comment', 'posts.admin', 'assets.admin', 'system.admin'];
    const held: Record<string, readonly string[]> = {
      helpdesk: ['users.write', 'posts.comment'],
      'helpdesk and posts.admin': ['users.write', 'posts.comment', 'posts.admin'],
      'helpdesk, posts.admin in the team': ['users.write', 'posts.comment'],
      'system.admin': all,
    };
    for (const [name, codes] of Object.entries(held)) {
      for (const capability of all) {
        for (const kind of ['grants', 'revokes']) {
          // The team does not exist: 404 if the caller may grant the capability.
          const path = `/admin/users/${person('viewer').ref}/${kind}`;
          const status = await person(name).status('POST', path, { capability, team_id: MISSING });
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
        const visitor = visit(library.address, {}, person(name).cookie());
        const statusFor = (who: string) =>
          visitor.status('POST', `/admin/users/${person(who).ref}/impersonate`);
        ledger.hold(`${name} is ${target}`, await statusFor(target), due);
        if (due !== 200) continue;
        ledger.hold(`${name} as ${target}: a chain`, await statusFor('another'), 400);
        const me = await visitor.ok('getMe');
        ledger.hold(`${name} as ${target}: who`, me.ref, person(target).ref);
      }
    }
    everythingHolds();
  });

  // IMPERSONATION-7
  test('ends when the capability is revoked or the target becomes an administrator', async () => {
    const byMask = await actAs(library, person('mask'), person('another'));
    const byAdmin = await actAs(library, person('system.admin'), person('another'));
    const goesOn = async () => [await byMask.status('GET', '/me'), await byAdmin.status('GET', '/me')];
    expect(await goesOn()).toEqual([200, 200]);
    await revoke(library, person('mask'), 'auth.impersonate');
    expect(await goesOn()).toEqual([401, 200]);
    await db.deleteFrom('user_capability_revokes').execute();
    expect(await goesOn()).toEqual([200, 200]);
    await give('another', ['system.admin']);
    expect(await goesOn()).toEqual([401, 401]);
    await withdrawGrants(library, person('another'));
  });
});

describe('identities', () => {
  const names = [null, ' ', 'Given'] as const;

  // IDENTITY-2
  test('show the display name, the full name to accounts only, or the username', async () => {
    await library.setPublicMode(true);
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
      sensitivities.flatMap((sensitivity) =>
        [false, true].flatMap((mature) =>
          [false, true].map((deleted) => {
            const isForAll = status === 'active' && sensitivity === 'public' && !mature && !deleted;
            return { ...own, status, sensitivity, mature, deleted, due: isForAll ? 200 : 404 };
          }),
        ),
      ),
    );
    // A picture that is rendered may be rendered again, which may fail.
    const again = processings.map((processing_status) => ({ ...own, processing_status, due: 200 }));
    for (const { due, deleted, owner, hash, ...columns } of [...cells, ...every, ...again]) {
      const { id } = await db
        .insertInto('assets')
        .values({
          ...columns,
          owner_user_ref: owner,
          asset_type: 1,
          file_hash: hash,
          file_name: 'a.jpg',
          deleted_at: deleted ? DELETED_AT : null,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const status = await one.status('PATCH', `/users/${one.ref}`, { avatar_asset_id: id });
      ledger.hold(JSON.stringify({ ...columns, deleted, owner, hash }), status, due);
    }
    everythingHolds();
  });
});

// ASSET-18, TEAM-13
test('accepts only existing teams that the caller belongs to or may write for, for new posts and assets', async () => {
  const assignable: Record<string, readonly string[]> = {
    member: [],
    'member of the team': ['team'],
    'member of the team above': ['above'],
    'member of the team below': ['below'],
    'member of a team that is no more': [],
    'lead of the team': ['team'],
    'contributor of the team': ['team'],
    'viewer of the team': [],
    'teams.write': ['above', 'team', 'below', 'elsewhere'],
    'teams.write in the team': ['team', 'below'],
    'posts.admin in the team': [],
    'system.admin': ['above', 'team', 'below', 'elsewhere'],
  };
  const { file_hash } = await upload(person('member'), await jpeg(40, 30, { seed: 5 }));
  for (const [name, reached] of Object.entries(assignable)) {
    const one = person(name);
    const known = {
      owner_user_ref: one.ref,
      asset_type: 1,
      file_name: 'a.jpg',
      file_hash: must(file_hash, 'hash'),
    };
    await db.insertInto('assets').values(known).execute();
    for (const [team, team_id] of [...teams, ['missing', MISSING] as const]) {
      const status = await one.status('POST', '/assets', { file_hash, team_id });
      ledger.hold(`${name} gives to ${team}`, status, reached.includes(team) ? 201 : 404);
    }
  }
  everythingHolds();
});

const reader = await enter(library, 'reader');
const picture = await jpeg(40, 30, { seed: 6 });
const { id: restricted } = await upload(person('member'), picture, { sensitivity: 'restricted' });
const { id: ofTeam } = await upload(person('member'), picture, { sensitivity: 'restricted' });
await db
  .updateTable('assets')
  .set({ team_id: teamId('below') })
  .where('id', '=', ofTeam)
  .execute();

// ROLE-4
describe('capabilities are resolved with every request', () => {
  const reads = async (id: string) => !(await reader.ok('getAsset', { params: { id } })).restricted;
  const row = (team_id: string | null, expires_at: string | null) => ({
    user_ref: reader.ref,
    capability: 'content.read.all',
    team_id,
    expires_at,
  });
  const grantReading = (team: string | null = null, end: string | null = null) =>
    db.insertInto('user_capability_grants').values(row(team, end)).execute();
  const revokeReading = (team: string | null = null, end: string | null = null) =>
    db.insertInto('user_capability_revokes').values(row(team, end)).execute();
  const clear = async () => {
    await withdrawGrants(library, reader);
    await db.deleteFrom('user_capability_revokes').execute();
  };
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  /** Moves expiry times back by an hour and a second. */
  const passAnHour = async () => {
    for (const table of ['user_capability_grants', 'user_capability_revokes'])
      await sql`update ${sql.table(table)} set expires_at = expires_at - interval '3601 seconds'
        where user_ref = ${reader.ref}`.execute(db);
  };

  afterEach(clear);

  // ROLE-4
  test('applies a grant immediately, until it ends', async () => {
    expect(await reads(restricted)).toBe(false);
    await grantReading();
    expect(await reads(restricted)).toBe(true);
    await clear();
    expect(await reads(restricted)).toBe(false);
    await grantReading(null, inAnHour());
    expect(await reads(restricted)).toBe(true);
    await passAnHour();
    expect(await reads(restricted)).toBe(false);
  });

  // ROLE-4
  test('applies a revoke immediately, until it ends', async () => {
    await grantReading();
    expect(await reads(restricted)).toBe(true);
    await revokeReading(null, inAnHour());
    expect(await reads(restricted)).toBe(false);
    await passAnHour();
    expect(await reads(restricted)).toBe(true);
  });

  // ROLE-6, ROLE-7
  test('extends a team’s grants to the teams below; a revoke applies to its team, or everywhere', async () => {
    await grantReading(teamId('above'));
    expect([await reads(ofTeam), await reads(restricted)]).toEqual([true, false]);
    await revokeReading(teamId('elsewhere'));
    expect(await reads(ofTeam)).toBe(true);
    await revokeReading(teamId('team'));
    expect(await reads(ofTeam)).toBe(false);
    await clear();
    await grantReading(teamId('above'));
    await revokeReading();
    expect(await reads(ofTeam)).toBe(false);
  });

  test('ignores revokes of another account or capability', async () => {
    await grantReading();
    await grant(library, reader, 'assets.admin', teamId('below'));
    await revoke(library, person('viewer'), 'content.read.all');
    await revoke(library, reader, 'posts.admin');
    expect([await reads(restricted), await reads(ofTeam)]).toEqual([true, true]);
  });

  // ROLE-15
  test('grants nothing for the markers of granted requests', async () => {
    const markers = ['content.access.request', 'content.restore.request'];
    const rows = markers.map((capability) => ({ user_ref: reader.ref, capability }));
    await db.insertInto('user_capability_grants').values(rows).execute();
    const { capabilities } = await reader.ok('getMyCapabilities');
    expect(capabilities.filter((code) => code.endsWith('.request'))).toEqual([]);
    expect(await reads(restricted)).toBe(false);
  });

  // ROLE-3
  test('inherits from parent roles, and applies a change of role immediately', async () => {
    const id = '00000000-0000-4000-8000-0000000000a1';
    await db.insertInto('roles').values({ id, code: 'parent', label: 'Parent' }).execute();
    const child = {
      id: '00000000-0000-4000-8000-0000000000a2',
      code: 'child',
      label: 'Child',
      parent_id: id,
    };
    await db.insertInto('roles').values(child).execute();
    await setRole(library, reader, 'child');
    expect(await reads(restricted)).toBe(false);
    const given = { role_id: id, capability: 'content.read.all' };
    await db.insertInto('role_capabilities').values(given).execute();
    expect(await reads(restricted)).toBe(true);
    await setRole(library, reader, 'member');
    expect(await reads(restricted)).toBe(false);
  });
});

describe('doors', () => {
  const all: readonly Operation[] = Object.values(operations);
  /** Without a post, visitors have no events (ANNOTATION-22). */
  const queryOf = ({ id }: Operation) => (id === 'streamEvents' ? `?post=${MISSING}` : '');
  const pathOf = (operation: Operation) =>
    operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === 'ref' || name.endsWith('_ref') ? '999999999' : name === 'kind' ? 'post' : MISSING,
    ) + queryOf(operation);
  const at = (visitor: Visitor, operation: Operation) => visitor.status(operation.method, pathOf(operation));
  /** PUBLIC-1: operations open to anonymous visitors with public mode off. */
  const open = [
    '/auth/login',
    '/auth/providers',
    '/auth/oidc/{name}/start',
    '/auth/oidc/{name}/callback',
    '/auth/oidc/{name}/backchannel-logout',
    '/auth/oidc/{name}/frontchannel-logout',
    '/auth/saml/{name}/start',
    '/auth/saml/{name}/callback',
    '/auth/saml/{name}/metadata',
    '/auth/passkey',
    '/auth/passkey/options',
    '/auth/continue',
    '/auth/password-reset',
    '/auth/password-reset/{token}',
    '/auth/register',
    '/auth/verify-email',
    '/auth/resend-verification',
    '/invitations/{token}',
    '/invitations/{token}/accept',
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
    '/links/{token}/assets/{id}/view',
    '/links/{token}/archive',
    '/links/{token}/guest',
    '/links/{token}/comments',
    '/links/{token}/events',
    '/links/{token}/annotations',
    '/links/{token}/picks/{asset_id}',
    '/links/{token}/decide',
  ];
  /** Guests take back what they picked; nothing else that is open is deleted or edited by its path. */
  const openDeletions = ['/links/{token}/picks/{asset_id}'];

  // PUBLIC-1
  test('allows anonymous callers only to sign in while public mode is off', async () => {
    await library.setPublicMode(false);
    for (const operation of all) {
      const status = await at(library.anonymous(), operation);
      const paths = ['DELETE', 'PATCH'].includes(operation.method) ? openDeletions : open;
      const isOpen = paths.includes(operation.path);
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
    const role = { id: '00000000-0000-4000-8000-0000000000b1', code: 'bare', label: 'Bare' };
    await db.insertInto('roles').values(role).execute();
    const bare = await enter(library, 'bare', 'bare');
    const past = sql<string>`now() - interval '1 second'`;
    /** Grants all other capabilities, and this one in a team and until a moment ago. */
    const grantOthers = async (holds: Capability) => {
      const others = capabilities.filter((code) => code !== holds && code !== 'system.admin');
      await grant(library, bare, others);
      await grant(library, bare, holds, teamId('team'));
      const ended = { user_ref: bare.ref, capability: holds, expires_at: past };
      await db.insertInto('user_capability_grants').values(ended).execute();
    };
    for (const holds of capabilities) {
      const behind = all.filter(({ door }) => typeof door === 'object' && door.holds === holds);
      const gets = behind.filter(({ method }) => method === 'GET');
      const isRefused = async (visitor: Visitor, operation: Operation) =>
        (await at(visitor, operation)) === 403;
      const hold = (what: string, { method, path }: Operation, refused: boolean, due: boolean) =>
        ledger.hold(`${method} ${path}: ${what}`, refused, due);
      if (behind.length === 0) continue;
      await grantOthers(holds);
      for (const one of behind) hold('everything but the capability', one, await isRefused(bare, one), true);
      await withdrawGrants(library, bare);
      for (const one of gets) hold('system.admin', one, await isRefused(person('system.admin'), one), false);
      await grant(library, bare, holds);
      for (const one of gets) hold(holds, one, await isRefused(bare, one), false);
      await withdrawGrants(library, bare);
    }
    everythingHolds();
  });

  // IMPERSONATION-9
  test('an impersonator cannot create accounts or tokens, or change passwords, two-factor or capabilities', async () => {
    const visitor = await actAs(library, person('system.admin'), person('helpdesk'));
    const { ref } = person('viewer');
    for (const [method, path] of [
      ['POST', '/auth/tokens'],
      ['POST', '/account/password'],
      ['POST', '/account/2fa/enroll'],
      ['POST', '/account/2fa/confirm'],
      ['POST', '/account/2fa/disable'],
      ['POST', '/account/2fa/recovery-codes'],
      ['POST', '/admin/users'],
      ['POST', `/admin/users/${ref}/grants`],
      ['DELETE', `/admin/users/${ref}/grants`],
      ['POST', `/admin/users/${ref}/revokes`],
      ['DELETE', `/admin/users/${ref}/revokes`],
      ['PUT', `/auth/users/${ref}/role`],
      ['POST', `/admin/users/${ref}/reset-password`],
    ] as const)
      ledger.hold(`${method} ${path}`, await visitor.status(method, path), 403);
    ledger.hold('reads', await visitor.status('GET', '/posts'), 200);
    ledger.hold('writes', await visitor.status('PATCH', `/posts/${MISSING}`, {}), 404);
    everythingHolds();
  });
});
