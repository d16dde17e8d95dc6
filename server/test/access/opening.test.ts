import type { Capability } from '@vitrine/contract/capabilities';
import { describe, expect, test } from 'vitest';
import { type Account, openLibrary, upload } from '../support/library.ts';
import { grant, revoke } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { addTeam } from '../support/teams.ts';

/** Changes that open something to their caller or to others: each needs the right that it gives. */

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
let made = 0;
const next = (name: string) => {
  made += 1;
  return `${name} ${made}`;
};
const join = async (...capabilities: Capability[]) => {
  const account = await library.join(next('person'));
  if (capabilities.length > 0) await grant(library, account, capabilities);
  return account;
};
const teamOf = (...members: Account[]) => addTeam(library, next('team'), members);
const putBelow = (caller: Account, team: string, parent: string) =>
  caller.status('PUT', `/teams/${team}/parents/${parent}`);

/** A file of the team, and whether an account is shown its columns. */
async function fileOf(team_id: string) {
  const owner = await library.join(next('owner'));
  await db.insertInto('team_members').values({ team_id, user_ref: owner.ref }).execute();
  const { id } = await upload(owner, plainFile(next('file')), { sensitivity: 'team', team_id });
  return async (reader: Account) => !(await reader.ok('getAsset', { params: { id } })).restricted;
}

// TEAM-9
test('nobody adds themselves to a team, whatever they hold', async () => {
  const team = await teamOf();
  const reads = await fileOf(team);
  const writer = await join('teams.write');
  const local = await join();
  await grant(library, local, 'teams.write', team);
  const founder = await join('teams.write');
  const { id: founded } = await founder.ok('createTeam', { body: { name: next('founded') } });
  for (const [who, id] of [
    [writer, team],
    [local, team],
    [root, team],
    [founder, founded],
  ] as const)
    expect(await who.refused('addTeamMember', { params: { id, user_ref: who.ref } })).toEqual({
      status: 403,
      error: 'nobody can add themselves to a team',
    });
  expect(await reads(writer)).toBe(false);
});

// TEAM-15
describe('putting a team below another', () => {
  const readers: [string, (parent: string, above: string) => Promise<Account>, number][] = [
    ['an administrator', async () => root, 204],
    ['a writer of teams', () => join('teams.write'), 403],
    ['a reader of all content', () => join('teams.write', 'content.read.all'), 204],
    ['an administrator of assets', () => join('teams.write', 'assets.admin'), 204],
    ['an administrator of posts', () => join('teams.write', 'posts.admin'), 403],
    [
      'a member of the parent only',
      async (parent) => {
        const member = await join('teams.write');
        await root.ok('addTeamMember', { params: { id: parent, user_ref: member.ref } });
        return member;
      },
      403,
    ],
    [
      'a member of the parent and of the team above it',
      async (parent, above) => {
        const member = await join('teams.write');
        for (const id of [parent, above])
          await root.ok('addTeamMember', { params: { id, user_ref: member.ref } });
        return member;
      },
      204,
    ],
    [
      'a reader of the content of the team above',
      async (_, above) => {
        const reader = await join('teams.write');
        await grant(library, reader, 'content.read.all', above);
        return reader;
      },
      // The grant would reach the team.
      403,
    ],
    [
      'a reader of the content of both teams',
      async (_, above) => {
        const reader = await join('teams.write', 'content.read.all');
        await grant(library, reader, 'content.read.all', above);
        return reader;
      },
      204,
    ],
  ];

  test.each(readers)('needs the right to read what it opens: %s', async (_, make, due) => {
    const [above, parent, team] = [await teamOf(), await teamOf(), await teamOf()];
    await db.insertInto('team_parents').values({ team_id: parent, parent_id: above }).execute();
    const reads = await Promise.all([fileOf(above), fileOf(parent)]);
    const accomplice = await join();
    await grant(library, accomplice, 'teams.write', team);
    expect(await putBelow(await make(parent, above), team, parent)).toBe(due);
    for (const one of reads) expect(await one(accomplice)).toBe(due === 204);
  });

  test.each(['assets.admin', 'posts.admin', 'content.read.all', 'teams.write'] as const)(
    'needs the capability that a grant for the parent gives in the team: %s',
    async (capability) => {
      const [parent, team] = [await teamOf(), await teamOf()];
      const caller = await join('teams.write');
      await root.ok('addTeamMember', { params: { id: parent, user_ref: caller.ref } });
      await grant(library, capability === 'teams.write' ? await join() : caller, capability, parent);
      const due = capability === 'teams.write' ? 204 : 403;
      expect(await putBelow(caller, team, parent)).toBe(due);
      await grant(library, caller, capability, team);
      expect(await putBelow(caller, team, parent)).toBe(204);
    },
  );

  test('needs nothing more for a team that is already above', async () => {
    const [above, parent, team] = [await teamOf(), await teamOf(), await teamOf()];
    for (const [team_id, parent_id] of [
      [parent, above],
      [team, parent],
    ] as const)
      await db.insertInto('team_parents').values({ team_id, parent_id }).execute();
    const caller = await join('teams.write');
    await root.ok('addTeamMember', { params: { id: above, user_ref: caller.ref } });
    await grant(library, await join(), 'assets.admin', above);
    expect(await putBelow(caller, team, above)).toBe(204);
  });
});

// TEAM-15, ROLE-7
test('taking a team out of another needs the capability that a revoke for the parent had taken', async () => {
  const [parent, team] = [await teamOf(), await teamOf()];
  await db.insertInto('team_parents').values({ team_id: team, parent_id: parent }).execute();
  const caller = await join('teams.write');
  await grant(library, caller, 'assets.admin', team);
  await revoke(library, caller, 'assets.admin', parent);
  const path = `/teams/${team}/parents/${parent}`;
  expect(await caller.status('DELETE', path)).toBe(403);
  expect(await (await join('teams.write', 'assets.admin')).status('DELETE', path)).toBe(204);
});

// ROLE-9, ASSET-4
test('an account does not give itself teams.write for a team whose files it may not read', async () => {
  const team = await teamOf();
  const caller = await join('teams.write', 'users.write');
  const body = { capability: 'teams.write', team_id: team } as const;
  const give = (to: Account) => caller.status('POST', `/admin/users/${to.ref}/grants`, body);
  expect([await give(caller), await give(await join('teams.write'))]).toEqual([403, 201]);
  await root.ok('addTeamMember', { params: { id: team, user_ref: caller.ref } });
  expect(await give(caller)).toBe(201);
});

// FIELD-10
describe.each(['read_capability', 'write_capability'] as const)('the %s of a field', (property) => {
  const clear = property === 'read_capability' ? 'clear_read_capability' : 'clear_write_capability';
  const define = async () => {
    const body = { code: next('field').replaceAll(' ', '_'), label: 'Field', type: 'text' } as const;
    return root.ok('createField', { body: { ...body, [property]: 'users.read' } });
  };

  test('is removed or replaced only by those who hold it everywhere', async () => {
    const { id } = await define();
    const editor = await join('fields.admin');
    const local = await join('fields.admin');
    await grant(library, local, 'users.read', await teamOf());
    for (const who of [editor, local])
      for (const method of ['PATCH', 'PUT'])
        for (const body of [
          { [clear]: true },
          { [property]: 'fields.admin' },
          { [property]: 'posts.create' },
        ])
          expect([body, await who.status(method, `/fields/${id}`, body)]).toEqual([body, 403]);
    for (const body of [{ label: 'Other' }, { [property]: 'users.read' }])
      expect(await editor.status('PATCH', `/fields/${id}`, body)).toBe(200);
    const holder = await join('fields.admin', 'users.read');
    for (const body of [{ [property]: 'users.write' }, {}])
      expect(await holder.status('PATCH', `/fields/${id}`, body)).toBe(200);
    expect(await holder.status('PATCH', `/fields/${id}`, { [clear]: true })).toBe(403);
    expect(await root.status('PATCH', `/fields/${id}`, { [clear]: true })).toBe(200);
  });
});
