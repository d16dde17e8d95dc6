import { mostUserCsvRows, type UserCsvResult } from '@vitrine/contract/user-csv';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { auditEventsDuring } from '../support/audit.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, openLibrary } from '../support/library.ts';
import { actAs, grant, grantForAnHour, revoke } from '../support/people.ts';
import { countStatements } from '../support/statements.ts';
import { addTeam } from '../support/teams.ts';

const library = await openLibrary();
const { db } = library.deps;
const root = await library.join('root', 'admin');
/** Sees and writes accounts, but no personal data and no teams. */
const clerk = await library.join('clerk', 'viewer');
await grant(library, clerk, ['users.read', 'users.write', 'posts.create']);
await revoke(library, clerk, 'teams.read');

const send = (who: Visitor, file: string | Uint8Array<ArrayBuffer>, query = '') => {
  const body = new FormData();
  body.append('file', new Blob([file]), 'people.csv');
  return who.send(`/admin/users/import.csv${query}`, { method: 'POST', body });
};
const taken = async (who: Visitor, file: string | Uint8Array<ArrayBuffer>, query = '') => {
  const { status, text } = await send(who, file, query);
  expect(status, text).toBe(200);
  return JSON.parse(text) as UserCsvResult;
};
const refusedOf = async (who: Visitor, file: string) =>
  (await taken(who, file)).refused.map(({ row, reason }) => [row, reason]);
const exported = async (who: Visitor, query = '') => {
  const { status, text, headers } = await who.send(`/admin/users/export.csv${query}`);
  expect(status, text).toBe(200);
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  return { text, rows: parse<Record<string, string>>(text, { columns: true, bom: true }) };
};
const shown = ({ ref }: Pick<Account, 'ref'>) => root.ok('getAdminUser', { params: { ref } });
const teamsOf = async (username: string) =>
  (await exported(root, `?q=${encodeURIComponent(username)}`)).rows.map(({ teams }) => teams);

describe('the export of accounts', () => {
  // CSV-11
  test('has the accounts of the list in its order, narrowed by its filters', async () => {
    const [ada, ben] = await library.joinAll('ada', 'ben');
    await addTeam(library, 'film', [ada, ben]);
    await addTeam(library, 'art', [ada]);
    const body = { fullname: 'Ada L', email: 'ada@example.org', expires_at: '2099-01-31T12:00:00.125Z' };
    await root.ok('updateAdminUser', { params: ada, body });
    const { text, rows } = await exported(root);
    expect(text.split('\n')[0]).toBe('username,fullname,email,role,teams,expires_at');
    const { items } = await root.ok('listUsers', { query: {} });
    expect(rows.map(({ username }) => username)).toEqual(items.map(({ username }) => username));
    expect(rows.find(({ username }) => username === 'ada')).toEqual({
      username: 'ada',
      ...body,
      role: 'member',
      teams: 'art|film',
    });
    expect((await exported(root, '?role=member&q=be')).rows.map(({ username }) => username)).toEqual(['ben']);
    expect((await root.send('/admin/users/export.csv?status=asleep')).status).toBe(400);
    const marked = await fetch(`${library.address}/api/v1/admin/users/export.csv?bom=true`, {
      headers: { cookie: `user=${root.cookie()}` },
    });
    expect([...new Uint8Array(await marked.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  });

  // CSV-4, CSV-14
  test('changes nothing when it is imported as it is', async () => {
    const spaced = await library.join('spaced');
    await root.ok('updateAdminUser', { params: spaced, body: { fullname: ' =Ada ' } });
    const { text } = await exported(root);
    expect(await taken(root, text, '?dry_run=true')).toMatchObject({ created: 0, changed: 0, refused: [] });
  });

  // CSV-12
  test('has personal data and teams only for callers who may see them', async () => {
    const { rows } = await exported(clerk);
    expect(Object.keys(rows[0] ?? {})).toEqual(['username', 'role', 'expires_at']);
    expect((await exported(clerk, '?q=example.org')).rows).toEqual([]);
    const plain = await library.join('plain');
    expect((await plain.send('/admin/users/export.csv')).status).toBe(403);
  });
});

describe('the import of accounts', () => {
  // CSV-13
  test('changes what differs and creates what is missing, after a dry run that says the same', async () => {
    const cleo = await library.join('cleo');
    const [film, art] = [await addTeam(library, 'crew', [cleo]), await addTeam(library, 'cast')];
    await root.ok('addTeamMember', { params: { id: film, user_ref: cleo.ref }, body: { role: 'lead' } });
    const file = [
      'Username;FULLNAME;email;role;teams;expires_at',
      'CLEO;Cleo M;cleo@example.org;viewer;CAST|crew;2099-01-31',
      'dora;Dora;;;cast;',
      'root;;;;;',
      ';;;;;',
    ].join('\r\n');
    const foreseen = await taken(root, file, '?dry_run=true');
    const changes = [
      { row: 2, username: 'cleo', ref: cleo.ref, field: 'fullname', from: null, to: 'Cleo M' },
      { row: 2, username: 'cleo', ref: cleo.ref, field: 'email', from: null, to: 'cleo@example.org' },
      { row: 2, username: 'cleo', ref: cleo.ref, field: 'role', from: 'member', to: 'viewer' },
      { row: 2, username: 'cleo', ref: cleo.ref, field: 'teams', from: 'crew', to: 'cast|crew' },
      {
        row: 2,
        username: 'cleo',
        ref: cleo.ref,
        field: 'expires_at',
        from: null,
        to: '2099-01-31T00:00:00.000Z',
      },
      { row: 3, username: 'dora', field: 'fullname', from: null, to: 'Dora' },
      { row: 3, username: 'dora', field: 'teams', from: null, to: 'cast' },
      { row: 3, username: 'dora', field: 'role', from: null, to: 'member' },
    ];
    expect(foreseen).toEqual({
      rows: 3,
      created: 1,
      changed: 1,
      unchanged: 1,
      changes,
      refused: [],
      refused_count: 0,
    });
    expect(await shown(cleo)).toMatchObject({ fullname: null, role: 'member' });
    const events = await auditEventsDuring(library, async () =>
      expect(await taken(root, file)).toEqual(foreseen),
    );
    expect(events.map(({ event }) => event).sort()).toEqual([
      'team.member.added',
      'team.member.added',
      'user.created',
      'user.role.changed',
      'user.updated',
    ]);
    // USER-14
    expect(events.find(({ event }) => event === 'user.updated')?.metadata).toEqual({
      changed: ['email', 'expires_at', 'fullname'],
    });
    expect(await shown(cleo)).toMatchObject({
      fullname: 'Cleo M',
      email: 'cleo@example.org',
      role: 'viewer',
      expires_at: '2099-01-31T00:00:00Z',
    });
    const { items } = await root.ok('listTeamMembers', { params: { id: film } });
    expect(items.map(({ user_ref, role }) => [user_ref, role])).toEqual([[cleo.ref, 'lead']]);
    expect((await root.ok('listTeamMembers', { params: { id: art } })).items).toHaveLength(2);
    const [dora] = (await root.ok('listUsers', { query: { q: 'dora' } })).items;
    expect(dora).toMatchObject({ sign_in: { possible: false, obstacle: 'no_password' } });
    expect(await taken(root, file)).toMatchObject({ created: 0, changed: 0, unchanged: 3 });
    const { text } = await exported(root);
    expect(await taken(root, text)).toMatchObject({ changed: 0, created: 0, refused: [] });
  });

  // CSV-13
  test('keeps a value with an empty cell or a missing column, and removes it with `!clear`', async () => {
    const eva = await library.join('eva');
    await addTeam(library, 'stage', [eva]);
    await taken(root, 'username,fullname,email,expires_at\neva,Eva,eva@example.org,2099-01-31\n');
    await taken(root, 'username,fullname,email,teams\neva,,!clear,!clear\n');
    expect(await shown(eva)).toMatchObject({ fullname: 'Eva', email: null });
    expect((await shown(eva)).expires_at).not.toBeNull();
    expect(await teamsOf('eva')).toEqual(['']);
  });

  // CSV-4, CSV-6
  test('reads neutralised formulas as the original texts, and files of spreadsheets in UTF-16', async () => {
    const finn = await library.join('=finn');
    await root.ok('updateAdminUser', { params: finn, body: { fullname: '-1+1' } });
    const { text, rows } = await exported(root, '?q=finn');
    expect(rows[0]).toMatchObject({ username: "'=finn", fullname: "'-1+1" });
    expect(await taken(root, text)).toMatchObject({ unchanged: 1, created: 0 });
    const utf16 = Buffer.from('\ufeffusername\tfullname\r\n=finn\tFinn Ö\r\n', 'utf16le');
    await taken(root, new Uint8Array(utf16));
    expect((await shown(finn)).fullname).toBe('Finn Ö');
  });

  // CSV-14
  test('refuses each row that cannot be taken, with its number and the reason', async () => {
    const gus = await library.join('gus');
    const lines = [
      ['gus,,not an address,,,', 'email is not an address'],
      ['hal,,,boss,,', 'role not found'],
      ['ida,,,,nowhere,', 'there is no team nowhere'],
      ['jan,,,,,soon', expect.stringContaining('expires_at is not a time')],
      ['kim,,,,,2020-01-01', 'expires_at is in the past'],
      [',Nobody,,,,', 'it has no username'],
      [`${'x'.repeat(101)},,,,,`, expect.stringContaining('username has more than 100')],
      [`lou,${'y'.repeat(201)},,,,`, 'fullname has more than 200 characters'],
      ['mia,,,!clear,,', 'an account needs a role'],
      ['GUS,Gus,,,,', 'GUS is in row 2, too'],
      ['ned,a,b@c,member,,,extra', 'it has more cells than the file has columns'],
      ['ola,a\0b,,,,', 'it contains a NUL character'],
      ['root,,,viewer,,', 'an import does not change your own role or expiry'],
    ] as const;
    const file = [
      'username,fullname,email,role,teams,expires_at',
      ...lines.map(([line]) => line),
      'pia,,,,,',
    ];
    const due = lines.map(([, reason], at) => [at + 2, reason]);
    expect(await refusedOf(root, file.join('\n'))).toEqual(due);
    expect((await root.ok('listUsers', { query: { q: 'pia' } })).items).toHaveLength(1);
    expect((await root.ok('listUsers', { query: { q: 'ola' } })).items).toEqual([]);
    expect((await shown(gus)).email).toBeNull();
  });

  // CSV-14, ROLE-9, ROLE-10
  test('refuses rows about accounts, roles and teams that the caller may not change', async () => {
    const [quin] = await library.joinAll('quin');
    await grant(library, clerk, 'teams.read');
    await db.deleteFrom('user_capability_revokes').where('user_ref', '=', clerk.ref).execute();
    const file = [
      'username,role,teams,expires_at',
      'root,,,2099-01-01',
      'quin,,,2099-01-01',
      'newcomer,admin,,',
      'another,viewer,film,',
      'third,viewer,,',
    ].join('\n');
    expect(await refusedOf(clerk, file)).toEqual([
      [2, 'that account has capabilities that you lack'],
      [3, 'that account has capabilities that you lack'],
      [4, 'you do not hold that capability yourself'],
      [5, 'you may not change the members of the team film'],
    ]);
    expect((await shown(quin)).expires_at).toBeNull();
    const own = await addTeam(library, 'own');
    expect(await refusedOf(root, 'username,teams\nroot,own\n')).toEqual([
      [2, 'nobody can add themselves to a team'],
    ]);
    expect((await root.ok('listTeamMembers', { params: { id: own } })).items).toEqual([]);
  });

  // CSV-14, ROLE-11
  test('refuses the row that would leave no administrator, even in a dry run', async () => {
    const passing = await library.join('passing');
    await grantForAnHour(library, passing, 'system.admin');
    await library.join('second', 'admin');
    for (const file of [
      'username,role\nsecond,member\nroot,viewer\n',
      'username,expires_at\nsecond,2099-01-01\nroot,2099-01-01\n',
    ])
      for (const query of ['?dry_run=true', '']) {
        const { changed, refused } = await taken(passing, file, query);
        expect([changed, refused]).toEqual([
          1,
          [
            {
              row: 3,
              username: 'root',
              reason: 'that would leave the library without an administrator',
            },
          ],
        ]);
        if (query === '') await taken(root, 'username,role,expires_at\nsecond,admin,!clear\n');
      }
  });

  // CSV-7, CSV-12, CSV-15
  test('refuses files whose columns it does not know or the caller may not see, and too many rows', async () => {
    const statusOf = async (who: Visitor, file: string, query = '') => (await send(who, file, query)).status;
    expect(await statusOf(root, 'username,password\nx,y\n')).toBe(422);
    expect(await statusOf(root, 'username,username\nx,y\n')).toBe(422);
    expect(await statusOf(root, 'fullname\nx\n')).toBe(422);
    expect(await statusOf(root, '')).toBe(422);
    expect(await statusOf(clerk, 'username,email\nroot,x@y\n', '?dry_run=true')).toBe(403);
    const plain = await library.join('plainer');
    expect(await statusOf(plain, 'username\nx\n')).toBe(403);
    expect(await statusOf(await actAs(library, root, clerk), 'username\nx\n')).toBe(403);
    const many = Array.from({ length: mostUserCsvRows + 1 }, (_, at) => `u${at}`).join('\n');
    expect(await statusOf(root, `username\n${many}\n`, '?dry_run=true')).toBe(413);
    expect((await root.send('/admin/users/import.csv', { method: 'POST', body: {} })).status).toBe(415);
  });

  test('takes many rows with as many statements as a few', async () => {
    const statementsFor = async (count: number) => {
      await addTeam(library, `many-${count}`);
      const people = Array.from({ length: count }, (_, at) => `many ${count} ${at}`);
      const file = (role: string, name: string) =>
        `username,fullname,role,teams\n${people.map((who) => `${who},${name},${role},many-${count}`).join('\n')}`;
      // The capabilities of the caller are read again after a change of roles.
      await root.ok('getMe');
      const [, created] = await countStatements(library, () => taken(root, file('member', 'One')));
      const [, changed] = await countStatements(library, () => taken(root, file('viewer', 'Two')));
      return [created, changed];
    };
    expect(await statementsFor(20)).toEqual(await statementsFor(2));
  });
});
