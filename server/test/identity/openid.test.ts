import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { openLibrary, password } from '../support/library.ts';
import type { ProvidedPerson } from '../support/openid.ts';
import { setRole, setStatus } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';
import { openProviders } from './open-providers.ts';

const library = await openLibrary({ VITRINE_PROVIDER_PRIVATE_ADDRESSES: 'on' });
const { deps } = library;
const root = await library.join('root', 'admin');
const team = await addTeam(library, 'editors');
const other = await addTeam(library, 'lookers');
const { change, signInAs, accountOf } = await openProviders(library, root, {
  label: 'Studio account',
  scopes: ['openid', 'profile', 'email', 'groups'],
  role_mapping: [
    { group: 'chiefs', role: 'admin' },
    { group: 'guests', role: 'viewer' },
  ],
  team_mapping: [
    { group: 'editors', team_id: team },
    { group: 'lookers', team_id: other },
  ],
});

const mara = (more: Record<string, unknown> = {}): ProvidedPerson => ({
  sub: 'id-of-mara',
  preferred_username: 'mara',
  name: 'Mara Lind',
  email: 'mara@studio.example',
  email_verified: true,
  groups: ['editors'],
  ...more,
});

async function teamsOf(ref: number | undefined) {
  const rows = await deps.db
    .selectFrom('team_members')
    .select('team_id')
    .where('user_ref', '=', ref ?? 0)
    .execute();
  return rows.map(({ team_id }) => team_id).sort();
}

describe('signing in', () => {
  // SSO-2, SSO-11, SSO-12, SSO-13
  test('creates an account at the first sign-in, and finds it by its permanent id later', async () => {
    expect(await library.anonymous().ok('listSignInProviders')).toContainEqual({
      name: 'studio',
      kind: 'oidc',
      label: 'Studio account',
      start_url: '/api/v1/auth/oidc/studio/start',
    });
    const first = await signInAs(mara(), '?return_to=/search?q=cats');
    expect(first.page).toBe('/search?q=cats');
    const user = await first.visitor.ok('getMe');
    expect(user).toMatchObject({ username: 'mara', fullname: 'Mara Lind', email: 'mara@studio.example' });
    const again = await signInAs(mara({ preferred_username: 'mara-lind', name: 'Mara Lind-Berg' }));
    expect(await again.visitor.ok('getMe')).toMatchObject({
      ref: user.ref,
      username: 'mara',
      fullname: 'Mara Lind-Berg',
    });
    expect(await auditEvents(library, { event: 'auth.signed_in', subject_user_ref: user.ref })).toMatchObject(
      [{ metadata: { provider: 'studio' } }, { metadata: { provider: 'studio' } }],
    );
  });

  // SSO-11
  test('creates one account for concurrent first sign-ins of one person', async () => {
    const twin = { sub: 'id-of-twin', preferred_username: 'twin' };
    const ends = await Promise.all([signInAs(twin), signInAs(twin), signInAs(twin)]);
    const users = await Promise.all(ends.map(({ visitor }) => visitor.ok('getMe')));
    expect(new Set(users.map(({ ref }) => ref)).size).toBe(1);
  });

  // SSO-23
  test('returns only to pages of this library', async () => {
    const paths = ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example', '/a\\b'];
    for (const path of paths)
      expect((await signInAs(mara(), `?return_to=${encodeURIComponent(path)}`)).page, path).toBe('/');
  });

  // SSO-24
  test('says that the person cancelled, and starts no session', async () => {
    const { page, token } = await signInAs(null, '?return_to=/search');
    expect([page, token]).toEqual(['/sign-in?error=cancelled&next=%2Fsearch', undefined]);
  });

  // SSO-11, SSO-14
  test('refuses people without an invitation, of other domains and with disabled accounts', async () => {
    await change({ creation: 'invited' });
    const uninvited = await signInAs({ sub: 'id-of-uri', preferred_username: 'uri' });
    await change({ creation: 'first_sign_in', allowed_domains: ['Studio.Example'] });
    const nina = { sub: 'id-of-nina', preferred_username: 'nina' };
    const other = await signInAs({ ...nina, email: 'nina@studio.example.org', email_verified: true });
    const unverified = await signInAs({ ...nina, email: 'nina@studio.example' });
    const fitting = await signInAs({ ...nina, email: 'nina@STUDIO.example', email_verified: true });
    const moved = await signInAs({ ...nina, email: 'nina@elsewhere.example', email_verified: true });
    await change({ clear_allowed_domains: true });
    const ref = (await accountOf('nina'))?.ref ?? 0;
    await setStatus(library, { ref }, 'disabled');
    const disabled = await signInAs(nina);
    expect([uninvited, other, unverified, fitting, moved, disabled].map(({ page }) => page)).toEqual([
      '/sign-in?error=not_invited',
      '/sign-in?error=domain',
      '/sign-in?error=domain',
      '/',
      '/sign-in?error=domain',
      '/sign-in?error=inactive',
    ]);
    expect(disabled.token).toBeUndefined();
    expect(await accountOf('uri')).toBeUndefined();
  });

  // SSO-11, SSO-30, INVITE-9
  test('makes accounts of invited people, with the role and teams of the invitation', async () => {
    await change({ creation: 'invited' });
    const invite = async (body: { email?: string; role?: string; team_ids?: string[] }) => {
      const made = await root.ok('createInvitation', { body });
      return { id: made.id, token: made.url.split('/').at(-1) ?? '' };
    };
    const byLink = await invite({ role: 'viewer', team_ids: [other] });
    await invite({ email: 'Ivo@Studio.example', role: 'viewer' });
    const ida = { sub: 'id-of-ida', preferred_username: 'ida' };
    const isa = { sub: 'id-of-isa', preferred_username: 'isa', email: 'ISA@studio.example' };
    const forIsa = await invite({ email: 'isa@studio.example' });
    const ivo = { sub: 'id-of-ivo', preferred_username: 'ivo', email: 'ivo@studio.example' };
    const revoked = await invite({});
    await root.ok('revokeInvitation', { params: { id: revoked.id } });
    const pages = [
      (await signInAs(ida, `?invitation=${revoked.token}`)).page,
      (await signInAs(ivo)).page,
      (await signInAs({ ...ivo, email_verified: true, groups: ['chiefs', 'editors'] })).page,
      (await signInAs(ida, `?invitation=${byLink.token}&return_to=/search`)).page,
      (await signInAs({ sub: 'id-of-ike', preferred_username: 'ike' }, `?invitation=${byLink.token}`)).page,
    ];
    const refused = '/sign-in?error=not_invited';
    expect(pages).toEqual([refused, refused, '/', '/search', refused]);
    await change({ creation: 'first_sign_in' });
    // INVITE-8: the e-mail of the invitation counts as confirmed, although the provider has not verified it.
    await signInAs(isa, `?invitation=${forIsa.token}`);
    const confirmed = sql`select from users where username = 'isa' and email_confirmed_at is not null`;
    expect((await confirmed.execute(deps.db)).rows).toHaveLength(1);
    const [first, second] = [await accountOf('ida'), await accountOf('ivo')];
    expect([first?.role, second?.role]).toEqual(['viewer', 'viewer']);
    expect([await teamsOf(first?.ref), await teamsOf(second?.ref)]).toEqual([[other], [team]]);
    // An invitation that its creator may no longer give does not hide an earlier one.
    await invite({ email: 'una@studio.example', role: 'viewer' });
    const demoted = await library.join('demoted', 'admin');
    await demoted.ok('createInvitation', { body: { email: 'una@studio.example', role: 'admin' } });
    await setRole(library, demoted, 'member');
    await change({ creation: 'invited' });
    const una = { sub: 'id-of-una', preferred_username: 'una', email: 'una@studio.example' };
    expect((await signInAs({ ...una, email_verified: true })).page).toBe('/');
    expect((await accountOf('una'))?.role).toBe('viewer');
    await change({ creation: 'first_sign_in' });
    // A person with an account does not use up an invitation.
    const spare = await invite({ role: 'admin' });
    expect((await signInAs(ida, `?invitation=${spare.token}`)).page).toBe('/');
    const state = (await root.ok('listInvitations')).items.find(({ id }) => id === spare.id)?.state;
    expect([state, (await accountOf('ida'))?.role]).toEqual(['open', 'viewer']);
  });

  // SSO-12
  test('uses the local part of the e-mail without a usable name, and claims within claims', async () => {
    await change({ claims: { username: 'nick', fullname: 'more.full', groups: 'groups' } });
    const { visitor } = await signInAs({ sub: 'id-of-ole', nick: 7, email: 'ole@studio.example' });
    await change({ clear_claims: true });
    expect(await visitor.ok('getMe')).toMatchObject({ username: 'ole', email: 'ole@studio.example' });
  });

  // SIGNIN-4, SSO-2
  test('names the address to start at when a password is sent for the provider', async () => {
    const body = { username: 'mara', password, provider: 'studio' };
    expect(await library.anonymous().refused('login', { body })).toEqual({
      status: 501,
      error: 'this provider signs in by redirect; start at /api/v1/auth/oidc/studio/start',
    });
    await change({ enabled: false });
    expect((await library.anonymous().refused('login', { body })).status).toBe(401);
    const listed = await library.anonymous().ok('listSignInProviders');
    expect(listed.map(({ name }) => name)).toEqual(['forger']);
    expect((await library.anonymous().send('/auth/oidc/studio/start')).status).toBe(404);
    await change({ enabled: true });
  });
});

describe('roles and teams', () => {
  // SSO-30, SSO-31
  test('follow the groups at every sign-in, except what a person gave', async () => {
    const person = { sub: 'id-of-rita', preferred_username: 'rita' };
    await signInAs({ ...person, groups: ['editors', 'guests'] });
    const ref = (await accountOf('rita'))?.ref;
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['viewer', [team]]);
    await signInAs({ ...person, groups: ['lookers'] });
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['member', [other]]);
    // From now on, a person is responsible for the membership and the role.
    await root.ok('addTeamMember', { params: { id: other, user_ref: ref ?? 0 } });
    const roles = (await root.ok('listRoles')).items;
    const viewer = roles.find(({ code }) => code === 'viewer')?.id ?? '';
    await root.ok('setUserRole', { params: { ref: ref ?? 0 }, body: { role_id: viewer } });
    await signInAs({ ...person, groups: 'editors' });
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['viewer', [team, other].sort()]);
    await signInAs(person);
    expect([(await accountOf('rita'))?.role, await teamsOf(ref)]).toEqual(['viewer', [other]]);
  });

  // SSO-32
  test('never take away the last administrator', async () => {
    const person = { sub: 'id-of-chief', preferred_username: 'chief' };
    await signInAs({ ...person, groups: ['chiefs'] });
    await setRole(library, root, 'member');
    const { page } = await signInAs(person);
    await setRole(library, root, 'admin');
    const chief = await accountOf('chief');
    expect([page, chief?.role]).toEqual(['/', 'admin']);
    expect(
      await auditEvents(library, { event: 'provider.last_admin_kept', subject_user_ref: chief?.ref ?? 0 }),
    ).toHaveLength(1);
    await signInAs(person);
    expect((await accountOf('chief'))?.role).toBe('member');
  });
});
