import { expect, test } from 'vitest';
import { auditEvents } from '../support/audit.ts';
import { type Account, openLibrary, publish, upload } from '../support/library.ts';
import { grant, revoke } from '../support/people.ts';
import { jpeg } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
const [lead, member, contributor, viewer, outsider] = await Promise.all(
  ['lead', 'member', 'contributor', 'viewer', 'outsider'].map((name) => library.join(name)),
);
if (!lead || !member || !contributor || !viewer || !outsider) throw new Error('an account is missing');
const owner = await library.join('owner');
const team = await addTeam(library, 'print', [owner]);
const [above, below] = [await addTeam(library, 'above', [owner]), await addTeam(library, 'below', [owner])];
await db
  .insertInto('team_parents')
  .values([
    { team_id: team, parent_id: above },
    { team_id: below, parent_id: team },
  ])
  .execute();

const put = (by: Account, who: Account, role?: 'lead' | 'member' | 'contributor' | 'viewer') =>
  by.status('PUT', `/teams/${team}/members/${who.ref}`, role === undefined ? undefined : { role });
for (const [who, role] of [
  [lead, 'lead'],
  [member, undefined],
  [contributor, 'contributor'],
  [viewer, 'viewer'],
] as const)
  await put(root, who, role);

const picture = await jpeg(40, 30);
const inTeam = (team_id: string) => upload(owner, picture, { sensitivity: 'team', team_id });
const [ofTeam, ofAbove, ofBelow] = [await inTeam(team), await inTeam(above), await inTeam(below)];
const post = await publish(owner, [ofTeam], { visibility: 'private', team_id: team });

// TEAM-16
test('lists the roles of members, and keeps them when members are added again', async () => {
  expect(await put(root, contributor)).toBe(204);
  const { items } = await root.ok('listTeamMembers', { params: { id: team } });
  const roles = new Map(items.map(({ user_ref, role }) => [user_ref, role]));
  expect([owner, lead, member, contributor, viewer].map(({ ref }) => roles.get(ref))).toEqual([
    'member',
    'lead',
    'member',
    'contributor',
    'viewer',
  ]);
  expect(await root.status('PUT', `/teams/${team}/members/${viewer.ref}`, { role: 'boss' })).toBe(400);
});

// TEAM-16, TEAM-13
test('lets everyone but viewers add their own assets and posts to the team', async () => {
  const { file_hash } = ofTeam;
  const statuses = [];
  for (const one of [lead, member, contributor, viewer, outsider]) {
    await upload(one, picture);
    statuses.push(await one.status('POST', '/assets', { file_hash, team_id: team }));
    const given = { team_id: team, visibility: 'private', members: [] };
    const asset = await upload(one, picture);
    statuses.push(await one.status('POST', '/posts', { ...given, members: [{ asset_id: asset.id }] }));
  }
  expect(statuses).toEqual([201, 201, 201, 201, 201, 201, 404, 404, 404, 404]);
});

// TEAM-16
test('lets every member read files of the team, and only the lead change them and the team', async () => {
  const reads = [lead, member, contributor, viewer].map((one) =>
    one.status('GET', `/assets/${ofTeam.id}/file`),
  );
  expect(await Promise.all(reads)).toEqual([200, 200, 200, 200]);
  const changes = async (one: Account) => [
    await one.status('PATCH', `/teams/${team}`, { description: `By ${one.username}` }),
    await one.status('PATCH', `/assets/${ofTeam.id}`, { title: `By ${one.username}` }),
    await one.status('PATCH', `/posts/${post.id}`, { title: `By ${one.username}` }),
  ];
  expect(await changes(lead)).toEqual([200, 200, 200]);
  for (const one of [member, contributor, viewer, outsider])
    expect((await changes(one)).every((status) => [403, 404].includes(status))).toBe(true);
});

// TEAM-16
test('keeps the rights of a lead within the team', async () => {
  for (const other of [above, below])
    expect(await lead.status('PATCH', `/teams/${other}`, { description: 'Mine' })).toBe(403);
  for (const asset of [ofAbove, ofBelow]) {
    expect(await lead.status('PATCH', `/assets/${asset.id}`, { title: 'Mine' })).toBe(403);
    expect(await lead.status('GET', `/assets/${asset.id}/file`)).toBe(404);
  }
  expect(await lead.status('DELETE', `/teams/${team}`)).toBe(403);
  expect((await lead.ok('getMyCapabilities')).team_capabilities).toEqual([
    { capability: 'assets.admin', team_ids: [team] },
    { capability: 'posts.admin', team_ids: [team] },
    { capability: 'teams.write', team_ids: [team] },
  ]);
  const { why } = await root.ok('getUserCapabilities', { params: lead });
  expect(why.filter(({ source }) => source === 'team_role')).toEqual(
    ['assets.admin', 'posts.admin', 'teams.write'].map((capability) => ({
      capability,
      source: 'team_role',
      team_id: team,
    })),
  );
});

// TEAM-16, TEAM-9
test('lets a lead change members, but only holders of its rights make one', async () => {
  const [writer, next] = [await library.join('writer'), await library.join('next')];
  await grant(library, writer, 'teams.write', team);
  expect(await put(writer, next, 'lead')).toBe(403);
  expect(await put(writer, next, 'contributor')).toBe(204);
  expect(await put(lead, next, 'lead')).toBe(204);
  expect(await next.status('PATCH', `/teams/${team}`, { description: 'Next' })).toBe(200);
  expect(await put(next, next, 'viewer')).toBe(403);
  expect(await put(lead, next, 'viewer')).toBe(204);
  expect(await next.status('PATCH', `/teams/${team}`, { description: 'Next' })).toBe(403);
  expect(await lead.status('DELETE', `/teams/${team}/members/${next.ref}`)).toBe(204);
  const events = await auditEvents(library, {
    event: 'team.member.role.changed',
    subject_user_ref: next.ref,
  });
  expect(events.map(({ metadata }) => metadata)).toEqual([{ role: 'lead' }, { role: 'viewer' }]);
});

// TEAM-16
test('gives a lead nothing that is revoked, and ends with the membership at once', async () => {
  const former = await library.join('former');
  await put(root, former, 'lead');
  const edits = () => former.status('PATCH', `/assets/${ofTeam.id}`, { title: 'Former' });
  expect(await edits()).toBe(200);
  await revoke(library, former, 'assets.admin', above);
  expect(await edits()).toBe(403);
  await revoke(library, former, 'teams.write');
  expect(await former.status('PATCH', `/teams/${team}`, { description: 'Former' })).toBe(403);
  expect(await former.status('PATCH', `/posts/${post.id}`, { title: 'Former' })).toBe(200);
  await root.ok('removeTeamMember', { params: { id: team, user_ref: former.ref } });
  expect(await former.status('PATCH', `/posts/${post.id}`, { title: 'Former' })).toBe(404);
});

// TEAM-16, ROLE-10
test('lets only administrators with these rights change the account of a lead', async () => {
  const helpdesk = await library.join('helpdesk');
  await grant(library, helpdesk, 'users.write');
  const reset = () => helpdesk.status('POST', `/admin/users/${lead.ref}/reset-password`);
  expect(await reset()).toBe(403);
  await grant(library, helpdesk, ['posts.admin', 'assets.admin', 'teams.write']);
  expect(await reset()).toBe(200);
});
