import { capabilities } from '@vitrine/contract/capabilities';
import type { Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import { describe, expect, test } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { openLibrary } from '../support/library.ts';
import { bearer, grant, nowhere, withdrawGrants } from '../support/people.ts';
import { addTeam } from '../support/teams.ts';

const UNKNOWN_USER = 999_999;
const roleIds = {
  admin: '00000000-0000-4000-8000-000000000101',
  member: '00000000-0000-4000-8000-000000000102',
  viewer: '00000000-0000-4000-8000-000000000103',
} as const;
const ofMember = [
  'assets.create',
  'collections.create',
  'fields.vocabulary.extend',
  'posts.comment',
  'posts.create',
  'posts.publish',
  'teams.read',
];

const library = await openLibrary();
const root = await library.join('root', 'admin');
/** A member with `users.write`. */
const manager = await library.join('manager');
await grant(library, manager, 'users.write');

const held = async (visitor: Visitor) => (await visitor.ok('getMe')).capabilities;
const setRole = (visitor: Visitor, { ref }: { ref: number }, role_id: string) =>
  visitor.ok('setUserRole', { params: { ref }, body: { role_id } });
const roleRefused = async (visitor: Visitor, { ref }: { ref: number }, role_id: string) =>
  (await visitor.refused('setUserRole', { params: { ref }, body: { role_id } })).status;

// ROLE-2
describe('the seeded roles', () => {
  // ROLE-2
  test('are admin with all capabilities, member and viewer', async () => {
    const { items, next_cursor } = await root.ok('listRoles');
    const roles = items.map(({ id, code, capabilities }) => ({
      id,
      code,
      capabilities: capabilities.toSorted(),
    }));
    expect(roles).toEqual([
      { id: roleIds.admin, code: 'admin', capabilities: capabilities.toSorted() },
      { id: roleIds.member, code: 'member', capabilities: ofMember },
      { id: roleIds.viewer, code: 'viewer', capabilities: ['teams.read'] },
    ]);
    for (const { label, description, ...role } of items) {
      expect(`${label} ${description}`).toMatch(/\S \S/);
      expect(role.own_capabilities.toSorted()).toEqual(role.capabilities.toSorted());
      expect(role).toMatchObject({ parent_id: null, seeded: true, requires_second_factor: false });
    }
    expect(items.map(({ user_count }) => user_count)).toEqual([1, 1, 0]);
    expect(next_cursor).toBeNull();
  });

  test('determine the capabilities of their accounts', async () => {
    expect(await held(root)).toEqual([...capabilities].sort());
    expect(await held(await library.join('a member'))).toEqual(ofMember);
    expect(await held(await library.join('a viewer', 'viewer'))).toEqual(['teams.read']);
  });

  // ROLE-1
  test('GET /auth/capabilities lists every code with a description', async () => {
    const { items } = await root.ok('listCapabilities');
    // ROLE-1
    const expected = `system.admin assets.admin posts.admin posts.comment teams.read share.grant auth.impersonate
      system.appearance.write users.read users.write users.pii.read roles.read roles.write caps.read posts.create posts.publish
      posts.approve.override assets.create collections.create fields.admin fields.vocabulary.extend fields.vocabulary.merge teams.write
      system.config.read system.config.write system.audit.read content.read.all jobs.read`;
    expect(items.map(({ code }) => code).sort()).toEqual(expected.split(/\s+/).sort());
    for (const { label, group, description } of items)
      expect([label, group, description].every((words) => /\S/.test(words))).toBe(true);
  });

  // LANGUAGE-8
  test.each([
    ['de', 'Dateien hochladen', 'Hochladen und Veröffentlichen', 'Asset-Verwaltung'],
    ['ar', 'رفع الملفات', 'الرفع والنشر', 'إدارة المواد'],
  ])('capabilities and templates of roles are explained in %s', async (language, label, group, name) => {
    const read = async (path: string) =>
      JSON.parse((await root.send(path, { headers: { 'accept-language': language } })).text);
    const { items } = await read('/auth/capabilities');
    expect(items).toContainEqual(expect.objectContaining({ code: 'assets.create', label, group }));
    expect(await read('/auth/role-templates')).toContainEqual(
      expect.objectContaining({ code: 'asset-manager', name }),
    );
  });

  // HTTP-7
  test.each(['/auth/roles', '/auth/capabilities'])('GET %s pages like every list', async (path) => {
    const get = async (query: string) => JSON.parse((await root.send(`${path}?${query}`)).text);
    const whole = (await get('')).items;
    const first = await get('limit=2');
    expect(first.items).toEqual(whole.slice(0, 2));
    const next = encodeURIComponent(String(first.next_cursor));
    expect(await get(`limit=200&cursor=${next}`)).toEqual({ items: whole.slice(2), next_cursor: null });
  });
});

describe('GET /auth/me/capabilities', () => {
  // ROLE-14
  test('lists the capabilities of an account and their sources', async () => {
    const mara = await library.join('mara');
    expect(await mara.ok('getMyCapabilities')).toEqual({
      user_ref: mara.ref,
      role: 'member',
      capabilities: ofMember,
      grants: [],
      revokes: [],
    });
    const params = { ref: mara.ref };
    const expires_at = '2099-01-01T00:00:00.123Z';
    const body = { capability: 'jobs.read', note: 'On call', expires_at } as const;
    const given = await root.ok('grantCapability', { params, body });
    const taken = await root.ok('revokeCapability', { params, body: { capability: 'posts.comment' } });
    const answer = await mara.ok('getMyCapabilities');
    const left = [...ofMember, 'jobs.read'].filter((code) => code !== 'posts.comment');
    expect(answer.capabilities).toEqual(left.sort());
    expect(answer.capabilities).toEqual(await held(mara));
    expect(answer.grants).toEqual([given]);
    expect(answer.revokes).toEqual([taken]);
    expect(given).toEqual({
      ...body,
      id: expect.any(String),
      team_id: null,
      by_user_ref: root.ref,
      created_at: expect.any(String),
    });
    const { why, ...same } = await root.ok('getUserCapabilities', { params });
    expect(same).toEqual(answer);
    expect(why).toContainEqual({ capability: 'jobs.read', source: 'grant', expires_at });
    expect((await root.refused('getUserCapabilities', { params: { ref: UNKNOWN_USER } })).status).toBe(404);
  });
});

describe('PUT /auth/users/{ref}/role', () => {
  test('answers 204 and takes effect at the next request, for tokens too', async () => {
    const nina = await library.join('nina', 'viewer');
    const script = await bearer(library, nina, ['read', 'assets.write']);
    for (const [role_id, capabilities, status] of [
      // Callers who are let in get 400 for the empty body.
      [roleIds.member, ofMember, 400],
      [roleIds.viewer, ['teams.read'], 403],
    ] as const) {
      const answer = await root.send(`/auth/users/${nina.ref}/role`, { method: 'PUT', body: { role_id } });
      expect([answer.status, answer.text]).toEqual([204, '']);
      for (const caller of [nina, script]) {
        const found = [await held(caller), await caller.status('POST', '/assets', {})];
        expect(found).toEqual([capabilities, status]);
      }
    }
  });

  test('answers 404 for an unknown role or account', async () => {
    const petra = await library.join('petra');
    expect(await roleRefused(root, petra, nowhere)).toBe(404);
    expect(await roleRefused(root, { ref: UNKNOWN_USER }, roleIds.viewer)).toBe(404);
    expect(await held(petra)).toEqual(ofMember);
  });

  // ROLE-9
  test('refuses roles with more capabilities than the caller has', async () => {
    const [rita, sara] = [await library.join('rita'), await library.join('sara', 'viewer')];
    const clerk = await library.join('clerk', 'viewer');
    await grant(library, clerk, 'users.write');
    for (const account of [rita, manager])
      expect(await roleRefused(manager, account, roleIds.admin)).toBe(403);
    for (const account of [sara, clerk]) expect(await roleRefused(clerk, account, roleIds.member)).toBe(403);
    await setRole(manager, rita, roleIds.viewer);
    await setRole(manager, rita, roleIds.member);
    expect(await held(sara)).toEqual(['teams.read']);
  });

  // ROLE-3
  test('includes the capabilities that a role inherits', async () => {
    const { db } = library.deps;
    const id = '00000000-0000-4000-8000-00000000bbbb';
    const lead = { id, code: 'lead', label: 'Lead', parent_id: roleIds.admin };
    await db.insertInto('roles').values(lead).execute();
    const shown = (await root.ok('listRoles')).items.find(({ code }) => code === 'lead');
    expect(shown?.parent_id).toBe(roleIds.admin);
    expect([...(shown?.capabilities ?? [])].sort()).toEqual([...capabilities].sort());
    const tess = await library.join('tess');
    expect(await roleRefused(manager, tess, lead.id)).toBe(403);
    await setRole(root, tess, lead.id);
    expect(await held(tess)).toEqual([...capabilities].sort());
    await setRole(root, tess, roleIds.viewer);
    await db.deleteFrom('roles').where('id', '=', lead.id).execute();
  });

  // ROLE-10
  test('refuses to change accounts with more capabilities than the caller, also if only in a team', async () => {
    const [una, vera] = [await library.join('una'), await library.join('vera', 'viewer')];
    await grant(library, una, 'jobs.read');
    await grant(library, vera, 'posts.admin', await addTeam(library, 'print'));
    for (const account of [root, una, vera])
      expect(await roleRefused(manager, account, roleIds.viewer), account.username).toBe(403);
    expect(await held(una)).toContain('posts.create');
  });

  // ROLE-5
  test('`system.admin` includes all capabilities', async () => {
    const [deputy, wanda] = [await library.join('deputy', 'viewer'), await library.join('wanda', 'viewer')];
    await grant(library, deputy, 'system.admin');
    await setRole(deputy, wanda, roleIds.admin);
    expect(await held(wanda)).toContain('system.admin');
    await setRole(deputy, wanda, roleIds.viewer);
    await withdrawGrants(library, deputy);
  });
});

/** The operations that need a capability. identity/tokens.test.ts proves that they ask for it. */
const gated = {
  'assets.admin': 'listExposedAssets restrictAssets',
  'assets.create': 'appendToUpload createAsset createUpload deleteUpload getUpload listUploads',
  'caps.read': 'getUserCapabilities listCapabilities',
  'collections.create': 'createCollection',
  'fields.admin': `addFieldTerms archiveField cancelBackfill createField decidePeerField getExtraction
    listDefaultOverrides listExtractionFailures listPeerFields putField removeDefaultOverride resetPeerField
    retryExtraction setDefaultOverride setFieldExtraction startBackfill updateField updateFieldTerm`,
  'fields.vocabulary.merge': 'mergeFieldTerms mergeTags renameTag',
  'jobs.read': 'countJobs listJobs',
  'posts.admin': 'featurePost orderFeatured unfeaturePost',
  'posts.comment': 'createAnnotation createComment',
  'posts.create': 'createPost',
  'posts.publish': 'publishPost unpublishPost',
  'roles.read': 'listRoleTemplates listRoles',
  'roles.write': 'createRole deleteRole updateRole',
  'share.grant': 'listAllRequests',
  'system.admin': `createRoot deleteRoot endAllSessions getImport listAllLinks listImports listRoots mergeUser scanRoot
    transferUser updateRoot`,
  'system.appearance.write': 'getAdminAppearance revertLogo selectLogo updateAppearance uploadLogo',
  'system.audit.read': 'exportAudit listAudit',
  'system.config.read': `countStorage getAccountSettings getActivityPub getAdminTexts getApprovals getAuditRetention
    getDoctor getDownloadSettings getFederation getMailSettings getMatureContent getPeer
    getPreviewSettings getProvider getPublicMode getQuotas getSearchSettings getSite getStorage getTrashRetention
    getVersionSettings getWorkflow listFederationRejections listPeerQueue listPeers listProviders listScimTokens previewPublicMode`,
  'system.config.write': `acceptPeer addPeer createProvider createScimToken deleteJob deleteProvider deleteScimToken
    disablePeer pausePreviewRendering removePeer
    retryFailedJobs retryJob retryPeerQueue rotateInstallKey sendTestMail setAuditRetention
    setDownloadSettings setMatureContent setPreviewSettings setPublicMode setQuotas setTexts
    setTrashRetention setVersionSettings testProvider updateAccountSettings updateActivityPub updateApprovals
    updateFederation updateMailSettings updatePeer updateProvider updateSearchSettings updateSite updateWorkflow`,
  'teams.read': 'followTeam getTeam listTeamMembers listTeams unfollowTeam',
  'teams.write': 'addTeamParent createTeam deleteTeam removeTeamParent',
  'users.read': 'exportUsers getAdminUser getUserQuota listUserSessions listUserSignIns listUsers',
  'users.write': `batchUsers createInvitation createUser decideDeletionRequest deleteUser endUserSession endUserSessions grantCapability
      importUsers listDeletionRequests listInvitations removeGrant removeRevoke removeUserTwoFactor resendInvitation resetPassword
      revokeCapability revokeInvitation setUserQuota setUserRole setUserStatus updateAdminUser`,
};

// ROLE-13, ROLE-17
test.each(Object.entries(gated))('%s allows exactly the intended operations', (capability, ids) => {
  const all: readonly Operation[] = Object.values(operations);
  const allowed = all.filter(({ door }) => typeof door === 'object' && door.holds === capability);
  expect(allowed.map(({ id }) => id).sort()).toEqual(ids.split(/\s+/));
});
