import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { foldName } from '@vitrine/contract/names';
import { sql } from 'kysely';
import mysql from 'mysql2';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/core/config.ts';
import { importUsersCommand } from '../../src/operate/import/users/command.ts';
import { readMysqlAddress } from '../../src/operate/import/users/mysql-address.ts';
import { sayError } from '../../src/platform/language/sentence.ts';
import { firstOfForm, legacyUsers, scrambleKey } from '../identity/legacy-users.ts';
import { auditEvents } from '../support/audit.ts';
import { openLibrary } from '../support/library.ts';
import { signIn } from '../support/people.ts';
import { bin } from '../support/process.ts';
import { freePort } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { greeting, textColumn } from './mysql-server.ts';

const directory = await temporaryDirectory();
const library = await openLibrary({ VITRINE_SCRAMBLE_KEY: scrambleKey });
const { db } = library.deps;

const envOf = (env: Record<string, string>) => ({
  VITRINE_DATA: library.config.dataDir,
  DATABASE_URL: library.databaseUrl,
  VITRINE_SCRAMBLE_KEY: scrambleKey,
  ...env,
});

/** Runs `vitrine import-users` on the library while it is being served. */
async function importUsers(args: readonly string[], env: Record<string, string> = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const output = {
    log: (line: string) => out.push(`${line}\n`),
    error: (line: string) => err.push(`${line}\n`),
  };
  const config = readConfig(envOf(env), directory);
  const code = await importUsersCommand(config, [...args], env.MYSQL_PWD, output).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    output.error(sayError(config.language, error));
    return 1;
  });
  return { code, out: out.join(''), err: err.join('') };
}

/** Runs the same command in a process of its own. */
async function spawnImport(path: string) {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...envOf({}) };
  const child = spawn(process.execPath, [bin, 'import-users', path], { env, cwd: directory });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, 'close');
  return { code, out: await out, err: await err };
}

let written = 0;

async function file(content: string | Uint8Array): Promise<string> {
  written += 1;
  const path = join(directory, `users-${written}.csv`);
  await writeFile(path, content);
  return path;
}

function quoted(value: string | number | null): string {
  return value === null ? 'NULL' : `"${String(value).replaceAll('"', '""')}"`;
}

type ImportedUser = Record<string, string | number | null>;

function csv(rows: readonly ImportedUser[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => names.map((name) => quoted(row[name] ?? null)).join(','));
  return `${[names.join(','), ...lines].join('\n')}\n`;
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const password = 'open sesame';
const hashOf = (username: string) => md5(`RS${username}${password}`);

async function accountOf(username: string) {
  const { rows } = await sql<{
    username: string;
    password_hash: string | null;
    status: string;
    role: string;
    fullname: string | null;
    email: string | null;
    preferences: unknown;
    created_at: string;
    expires_at: string | null;
  }>`select u.username, u.password_hash, u.status, r.code as role, u.fullname, u.email, u.preferences, u.created_at, u.expires_at
    from users u join roles r on r.id = u.role_id where u.username_key = ${foldName(username)}`.execute(db);
  return rows[0];
}

const countUsers = async () => (await sql`select from users`.execute(db)).rows.length;

describe('a CSV file', () => {
  // USER-15
  test('imports users who then sign in, with hashes of all three forms', async () => {
    const rows = legacyUsers.map(({ username, hash }, at) => ({ ref: at + 1, username, password: hash }));
    const { code, out, err } = await spawnImport(await file(csv(rows)));
    expect(err).toBe('');
    expect(out.split('\n')[0]).toBe(`${rows.length} imported, 0 kept, 0 refused`);
    expect(code).toBe(0);
    for (const { username, hash } of legacyUsers) {
      expect((await accountOf(username))?.password_hash).toBe(hash);
    }
    for (const user of firstOfForm.values()) {
      expect((await signIn(library, user.username, `${user.password}x`)).status).toBe(401);
      expect((await signIn(library, user.username, user.password)).status).toBe(200);
    }
  });

  test('maps each column', async () => {
    const common = { password: hashOf('-'), usergroup: 2, approved: 1, account_expires: null };
    const person = {
      ...common,
      username: 'Full.Row',
      fullname: 'Full "Quoted" Röw',
      email: 'full@example.org',
      created: '2014-03-05 06:07:08',
      lang: 'de-at',
      comments: 'two\nlines, and more',
    };
    const bare = { fullname: null, email: '', created: '0000-00-00 00:00:00', lang: '', comments: '' };
    const others = {
      'bare.row': [{}, 'active'],
      'pending.row': [{ approved: 0 }, 'pending'],
      'disabled.row': [{ approved: 2 }, 'disabled'],
      'expired.row': [{ account_expires: '2015-01-01 00:00:00' }, 'disabled'],
      'lasting.row': [{ account_expires: '2999-01-01 00:00:00' }, 'active'],
      'zero.row': [{ account_expires: '0000-00-00 00:00:00' }, 'active'],
      'odd.row': [{ lang: 'not a language', email: 'nobody', created: 'May' }, 'active'],
      'strange.row': [{ approved: 7 }, 'disabled'],
    } as const;
    const rows = Object.entries(others).map(([username, [own]]) => ({
      ...common,
      ...bare,
      ...own,
      username,
    }));
    const { code, out } = await importUsers([await file(csv([person, ...rows]))]);
    expect(code).toBe(0);
    expect(await accountOf('full.row')).toEqual({
      username: 'Full.Row',
      password_hash: hashOf('-'),
      status: 'active',
      role: 'member',
      fullname: 'Full "Quoted" Röw',
      email: 'full@example.org',
      preferences: { language: 'de-AT' },
      created_at: '2014-03-05T06:07:08Z',
      expires_at: null,
    });
    expect(await accountOf('lasting.row')).toMatchObject({ expires_at: '2999-01-01T00:00:00Z' });
    expect(await accountOf('expired.row')).toMatchObject({ expires_at: null });
    for (const [name, [, status]] of Object.entries(others)) {
      const nothing = { fullname: null, email: null, preferences: {} };
      expect(await accountOf(name), name).toMatchObject({ status, ...nothing });
    }
    const { created_at = '' } = (await accountOf('bare.row')) ?? {};
    expect(Date.now() - Date.parse(created_at)).toBeLessThan(60_000);
    expect(out.trimEnd().split('\n')).toEqual([
      'line 10: "odd.row" comes without its email, which is no address',
      'line 10: "odd.row" counts as created now: "May" is no time',
      'line 11: "strange.row" is disabled: approved is "7"',
      '9 imported, 0 kept, 0 refused',
      '  5 active, 1 pending, 3 disabled; 0 without a password',
      '  group 2 as member: 9',
    ]);
  });

  // USER-15
  test('imports nothing twice and overwrites no account', async () => {
    const mine = await library.join('Earlier');
    const before = await accountOf('earlier');
    const rows = ['twice.a', 'EARLIER', 'twice.b'].map((username) => ({
      username,
      password: hashOf(username),
      fullname: 'from there',
    }));
    const path = await file(csv(rows));
    const first = await importUsers([path]);
    expect(first.code).toBe(0);
    expect(first.out).toContain('line 3: "EARLIER" already exists and was not changed\n');
    expect(first.out).toContain('2 imported, 1 kept, 0 refused');
    const users = await countUsers();
    const again = await importUsers([path]);
    expect(again.out.trimEnd().split('\n').at(-1)).toBe('0 imported, 3 kept, 0 refused');
    expect(again.code).toBe(0);
    expect(await countUsers()).toBe(users);
    expect(await accountOf('earlier')).toEqual(before);
    expect((await mine.ok('getSessionUser')).username).toBe('Earlier');
  });

  // USER-15
  test('prints the same in a dry run and writes nothing', async () => {
    const rows = [
      { username: 'dry.a', password: hashOf('dry.a'), usergroup: 4 },
      { username: 'DRY.A', password: hashOf('DRY.A'), usergroup: 4 },
      { username: '', password: '', usergroup: 1 },
      { username: 'dry.b', password: 'plain', usergroup: 1 },
    ];
    const path = await file(csv(rows));
    const before = await countUsers();
    const dry = await importUsers([path, '--dry-run']);
    expect(await countUsers()).toBe(before);
    const wet = await importUsers([path]);
    expect(await countUsers()).toBe(before + 2);
    expect([dry.code, wet.code]).toEqual([2, 2]);
    expect(wet.out).toContain('2 imported, 0 kept, 2 refused\n');
    expect(dry.out).toBe(`${wet.out.replace('2 imported', '2 would be imported')}nothing was written\n`);
  });

  // USER-15
  test('reports a refused row with its line and continues', async () => {
    const hash = hashOf('x');
    const most = '🦊'.repeat(100);
    const text = Buffer.concat([
      Buffer.from(
        [
          'username,password,comments',
          `bad.first,${hash},"a comment`,
          'of two lines"',
          `,${hash},`,
          `NULL,${hash},`,
          '',
          `nul\0byte,${hash},`,
          `${'x'.repeat(101)},${hash},`,
          `${most},${hash},`,
          ` leading,${hash},`,
          `"line\nbreak",${hash},`,
          `BAD.First,${hash},`,
          `too,few`,
          `too,many,columns,here`,
          `bad.quote,${hash},5" disk "x" y`,
          '',
        ].join('\n'),
      ),
      Buffer.from([0x4d, 0xfc, 0x6c]),
      Buffer.from(`,${hash},\n"NULL",${hash},\nbad.last,${hash},`),
    ]);
    const { code, out } = await importUsers([await file(text)]);
    expect(code).toBe(2);
    expect(out.trimEnd().split('\n')).toEqual([
      'line 4: no username',
      'line 5: no username',
      'line 7: the username contains a NUL character',
      'line 8: the username is longer than 100 characters or has a line break',
      'line 10: the username begins or ends with a space',
      'line 11: the username is longer than 100 characters or has a line break',
      'line 14: 2 values where the first line names 3 columns',
      'line 15: 4 values where the first line names 3 columns',
      'line 17: the username is not UTF-8',
      'line 13: "BAD.First" is the same name as in line 2',
      '5 imported, 0 kept, 10 refused',
      '  5 active; 0 without a password',
      '  no group as member: 5',
    ]);
    for (const name of ['bad.first', most, 'bad.quote', 'NULL', 'bad.last']) {
      expect((await accountOf(name))?.username).toBe(name);
    }
  });

  test('stops at a quote that is never closed and reports it', async () => {
    const text = `username,password\nclosed,${hashOf('closed')}\n"open,${hashOf('open')}\nlost,x\n`;
    const { code, out } = await importUsers([await file(text)]);
    expect(code).toBe(2);
    expect(out).toContain('line 3: a quote is opened here or below and never closed');
    expect(out).toContain('1 imported, 0 kept, 1 refused');
    expect(await accountOf('closed')).toBeDefined();
    expect(await accountOf('lost')).toBeUndefined();
  });

  test('may have semicolons, tabs, CR LF, a byte order mark, and columns in any order', async () => {
    for (const [name, separator, lineEnd, mark] of [
      ['semi', ';', '\n', '\ufeff'],
      ['tabs', '\t', '\r\n', ''],
      ['comma', ',', '\r\n', '\ufeff'],
    ] as const) {
      const lines = [
        ['Email', 'approved', 'PASSWORD', ' fullname ', 'username', 'lang'],
        ['"a@example.org"', '1', hashOf(name), `"Semi${separator}Colon"`, name, '\\N'],
        ['NULL', '1', hashOf(`${name}2`), '\\N', `${name}2`, 'NULL'],
      ];
      const content = mark + lines.map((cells) => cells.join(separator)).join(lineEnd);
      const { code, out } = await importUsers([await file(content)]);
      expect([name, code, out.split('\n')[0]]).toEqual([name, 0, '2 imported, 0 kept, 0 refused']);
      const fullname = `Semi${separator}Colon`;
      expect(await accountOf(name)).toMatchObject({ email: 'a@example.org', fullname });
      expect(await accountOf(`${name}2`)).toMatchObject({ email: null, fullname: null, preferences: {} });
      expect((await signIn(library, name, password)).status).toBe(200);
    }
  });

  // SIGNIN-9
  test('does not import, print or accept a text that is not a hash', async () => {
    const stored = {
      'pw.plain': 'a plain secret',
      'pw.empty': '',
      'pw.null': null,
      'pw.argon': '$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHQ$secret',
      'pw.cost': `$2y$99$${'a'.repeat(53)}`,
      'pw.greedy': `$argon2id$v=19$m=999999,t=4,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`,
      'pw.short': hashOf('x').slice(1),
      'pw.bcrypt': `$2a$10$${'a'.repeat(53)}`,
      'pw.argon2id': `$argon2id$v=19$m=65536,t=4,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`,
    };
    const rows = Object.entries(stored).map(([username, text]) => ({ username, password: text }));
    const { code, out } = await importUsers([await file(csv(rows))]);
    expect(code).toBe(0);
    expect(out).toContain('line 2: "pw.plain" comes without its password');
    expect(out).toContain('line 3: "pw.empty" has no password');
    expect(out).toContain('9 active; 7 without a password');
    expect(out).not.toMatch(/secret|argon2/);
    for (const name of ['pw.bcrypt', 'pw.argon2id'] as const)
      expect((await accountOf(name))?.password_hash).toBe(stored[name]);
    for (const [name, text] of Object.entries(stored).slice(0, 7)) {
      expect((await accountOf(name))?.password_hash, name).toBeNull();
      expect((await signIn(library, name, text ?? '')).status, name).toBe(401);
    }
  });

  test('maps groups to roles only as requested', async () => {
    const rows = [1, 2, 3, 3, null].map((usergroup, at) => ({
      username: `group.${at}`,
      password: hashOf(`group.${at}`),
      usergroup,
    }));
    const path = await file(csv(rows));
    const err = 'no role owner; there are admin, member, viewer\n';
    expect(await importUsers([path, '--role', '3=owner'])).toEqual({ code: 1, out: '', err });
    const { out } = await importUsers([path, '--role', '3=admin', '--role', '1=viewer', '--role', '9=admin']);
    expect(out.trimEnd().split('\n').slice(2)).toEqual([
      '  no group as member: 1',
      '  group 1 as viewer: 1',
      '  group 2 as member: 1',
      '  group 3 as admin: 2',
      '  no user has group 9 (role admin)',
    ]);
    const roles = await Promise.all(rows.map(({ username }) => accountOf(username)));
    expect(roles.map((account) => account?.role)).toEqual(['viewer', 'member', 'admin', 'admin', 'member']);
  });

  test('records one audit event per batch, and none for a run without new accounts', async () => {
    const events = () => auditEvents(library, { event: 'users.imported' });
    const before = (await events()).length;
    const rows = Array.from({ length: 700 }, (_, at) => ({ username: `many.${at}`, password: hashOf('m') }));
    const path = await file(csv([...rows, { username: 'MANY.0', password: '' }]));
    const ended = await Promise.all([importUsers([path]), importUsers([path])]);
    const imported = ended.map(({ out }) => Number(/^(\d+) imported/m.exec(out)?.[1]));
    expect(imported.reduce((sum, one) => sum + one, 0)).toBe(700);
    expect(ended.map(({ code }) => code)).toEqual([2, 2]);
    for (const { out } of ended) expect(out).toContain('line 702: "MANY.0" is the same name as in line 2');
    const added = (await events()).slice(before);
    expect(added.map(({ actor_user_ref }) => actor_user_ref)).toEqual([null, null]);
    const sizes = added.map(
      ({ metadata }) => Parse(Type.Object({ imported: Type.Number() }), metadata).imported,
    );
    expect(sizes.sort((a, b) => a - b)).toEqual([200, 500]);
    const again = await importUsers([path]);
    expect(again.out).toContain('and 680 more already exist');
    expect((await events()).length).toBe(before + 2);
  });
});

test('invalid arguments and files print one line and exit with 1', async () => {
  const path = join(directory, 'a-directory');
  await mkdir(path);
  for (const [args, reason] of [
    [[], 'name a source'],
    [['a.csv', 'b.csv'], 'name a source'],
    [['a.csv', '--mysql', 'mysql://u@h/d'], 'name a source'],
    [['/nowhere.csv'], '/nowhere.csv cannot be read'],
    [[path], `${path} is a directory`],
    [['a.csv', '--table', 'user'], '--table requires --mysql'],
    [['a.csv', '--force'], '--force'],
    [['a.csv', '--role', 'admin'], '--role takes GROUP=ROLE'],
    [['a.csv', '--role', '1=admin', '--role', '1=viewer'], 'twice'],
    [[await file('')], 'has no line of column names'],
    [[await file('a,b\n1,2\n')], 'has no column username'],
    [[await file('username,email\na,b\n')], 'has no column password'],
    [[await file('username,password,username\na,b,c\n')], 'has the column username twice'],
  ] as const) {
    const { code, out, err } = await importUsers(args);
    expect([args, code, out, err]).toEqual([args, 1, '', expect.stringContaining(reason)]);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  }
});

test('prints a warning if the key of the hashes is not set, or is not that of the library', async () => {
  const path = await file(csv([{ username: 'keyless', password: hashOf('keyless') }]));
  const keyless = await importUsers([path], { VITRINE_SCRAMBLE_KEY: '' });
  expect(keyless.err).toMatch(/^VITRINE_SCRAMBLE_KEY is not set: .*\n$/);
  expect([keyless.code, keyless.out]).toEqual([0, expect.stringContaining('1 imported')]);
  const other = await openLibrary();
  const rekeyed = await importUsers([path], { DATABASE_URL: other.databaseUrl });
  expect(rekeyed.err).toMatch(/^this library hashed passwords under its own key .*\n$/);
  expect(rekeyed.code).toBe(0);
});

describe('a MySQL table', () => {
  const secret = 'p@ss:w/ö?r#d%& "\'';
  const tables: Record<string, ImportedUser[]> = {
    user: [
      {
        ref: 3,
        username: 'my.zoë 🦊',
        password: hashOf('my.zoë 🦊'),
        fullname: 'Zoë',
        email: null,
        usergroup: 3,
        approved: 1,
        account_expires: null,
        lang: 'pt-BR',
        created: '2016-02-29 23:59:59',
        session: 'not ours to read',
      },
      {
        ref: 4,
        username: 'my.pending',
        password: 'plain',
        fullname: null,
        email: 'p@example.org',
        usergroup: 2,
        approved: 0,
        account_expires: '0000-00-00 00:00:00',
        lang: null,
        created: null,
        session: 'not ours to read',
      },
      { ref: 9, username: null, password: null },
    ],
    old_users: Array.from({ length: 600 }, (_, at) => ({
      username: `my.old.${at}`,
      password: hashOf(`my.old.${at}`),
      usergroup: 2,
    })),
    other: [{ id: 1, name: 'x' }],
  };
  const asked: string[] = [];
  const server = mysql.createServer((connection) => serve(connection));
  let port: number;

  type Served = Parameters<NonNullable<Parameters<typeof mysql.createServer>[0]>>[0];

  /** Returns the response to the seed of a client that knows the password (mysql_native_password). */
  function tokenFor(word: string, seed: Buffer): Buffer {
    const sha1 = (...parts: (Buffer | string)[]) =>
      parts.reduce((hash, part) => hash.update(part), createHash('sha1')).digest();
    const once = sha1(word);
    const mask = sha1(seed, sha1(once));
    return Buffer.from(once.map((byte, at) => byte ^ (mask[at] ?? 0)));
  }

  type Hello = { user: string } & Record<'authPluginData1' | 'authPluginData2' | 'authToken', Buffer>;

  function serve(connection: Served): void {
    connection.on('error', () => {});
    connection.serverHandshake({
      ...greeting,
      authCallback: (
        hello: Hello,
        answer: (_: null, fault: { code: number; message: string } | null) => void,
      ) => {
        const seed = Buffer.concat([hello.authPluginData1, hello.authPluginData2]).subarray(0, 20);
        const knows = hello.user === 'reader' && hello.authToken.equals(tokenFor(secret, seed));
        answer(null, knows ? null : { code: 1045, message: `Access denied for user '${hello.user}'` });
        connection.sequenceId = 0;
      },
    });
    connection.on('stmt_prepare', (text: string) => answer(connection, text));
    connection.on('query', (text: string) => answer(connection, text));
  }

  function answer(connection: Served, text: string): void {
    asked.push(text);
    // Packets of a response are numbered from 1, and those of the next request from 0.
    connection.sequenceId = 1;
    const [, list = '', table = '', limit] =
      /^select (.+) from `((?:[^`]|``)+)`(?:( limit 0)| order by ref)?$/.exec(text) ?? [];
    const rows = tables[table];
    if (/^(set|start transaction read only)\b/.test(text)) connection.writeOk();
    else if (rows === undefined)
      connection.writeError({ code: 1146, message: `Table 'rs.${table}' doesn't exist` });
    else {
      const names = list === '*' ? Object.keys(rows[0] ?? {}) : list.split(', ');
      const shown = limit === undefined ? rows : [];
      connection.writeTextResult(
        shown.map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]))),
        names.map(textColumn),
      );
    }
    connection.sequenceId = 0;
  }

  beforeAll(async () => {
    port = await freePort();
    server.listen(port);
  });

  afterEach(() => {
    asked.length = 0;
  });

  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

  const url = (word = secret) => `mysql://reader:${encodeURIComponent(word)}@127.0.0.1:${port}/rs`;

  test('imports users who then sign in, and reads no other columns', async () => {
    const { code, out, err } = await importUsers(['--mysql', url(), '--role', '3=viewer']);
    expect(err).toBe('');
    expect(out.trimEnd().split('\n')).toEqual([
      'ref 9: no username',
      'ref 4: "my.pending" comes without its password, which is stored in none of the forms that can be verified',
      '2 imported, 0 kept, 1 refused',
      '  1 active, 1 pending; 1 without a password',
      '  group 2 as member: 1',
      '  group 3 as viewer: 1',
    ]);
    expect(code).toBe(2);
    expect(await accountOf('my.zoë 🦊')).toMatchObject({
      fullname: 'Zoë',
      role: 'viewer',
      preferences: { language: 'pt-BR' },
      created_at: '2016-02-29T23:59:59Z',
    });
    expect((await signIn(library, 'my.zoë 🦊', password)).status).toBe(200);
    expect((await signIn(library, 'my.pending', 'plain')).status).toBe(401);
    expect(asked).toEqual([
      "set character_set_results = null, time_zone = '+00:00'",
      'start transaction read only',
      'select * from `user` limit 0',
      'select ref, username, password, fullname, email, usergroup, approved, account_expires, created, lang from `user` order by ref',
    ]);
  });

  test('accepts an unescaped password in the address, and MYSQL_PWD', async () => {
    const raw = await importUsers(['--mysql', `mysql://reader:${secret}@127.0.0.1:${port}/rs`, '--dry-run']);
    expect(raw.out).toContain('0 would be imported, 2 kept, 1 refused');
    const bare = ['--mysql', `mysql://reader@127.0.0.1:${port}/rs`, '--dry-run'];
    const aside = await importUsers(bare, { MYSQL_PWD: secret });
    expect(aside.out).toContain('0 would be imported, 2 kept, 1 refused');
    expect(aside.code).toBe(2);
  });

  test('imports another table with fewer columns in several batches', async () => {
    const { code, out } = await importUsers(['--mysql', url(), '--table', 'old_users']);
    expect(out).toContain('600 imported, 0 kept, 0 refused\n  600 active; 0 without a password\n');
    expect(code).toBe(0);
    expect((await signIn(library, 'MY.OLD.599', password)).status).toBe(200);
  });

  test('ends with one line without the password, and 1, if it cannot be read', async () => {
    for (const [args, reason] of [
      [
        ['--mysql', url('wr0ng')],
        /^MySQL at 127.0.0.1:\d+: the name or the password is wrong \(“Access denied .*reader/,
      ],
      [
        ['--mysql', url(), '--table', 'nope'],
        /^MySQL at .*: there is no such table \(“Table 'rs.nope' doesn't exist”\)$/,
      ],
      [['--mysql', url(), '--table', 'other'], /`other` has no column username$/],
      [['--mysql', url(), '--table', 'user` where 1=1 -- '], /^MySQL at .*Table/],
      [['--mysql', 'mysql://reader:wr0ng@127.0.0.1:1/rs'], /^MySQL at .*ECONNREFUSED/],
      [['--mysql', 'mysql://reader:wr0ng@127.0.0.1'], /^--mysql must look like mysql:/],
      [['--mysql', 'postgres://reader:wr0ng@127.0.0.1/rs'], /^--mysql must look like/],
    ] as const) {
      const { code, out, err } = await importUsers(args);
      expect([args, code, out, err.trimEnd()]).toEqual([args, 1, '', expect.stringMatching(reason)]);
      expect(err.trimEnd().split('\n')).toHaveLength(1);
      expect(err).not.toContain('wr0ng');
    }
    // LANGUAGE-7
    const german = { LANG: 'de_DE.UTF-8' };
    const { err } = await importUsers(['--mysql', url('wr0ng')], german);
    expect(err).toMatch(/^MySQL auf 127.0.0.1:\d+: der Name oder das Passwort ist falsch \(„Access denied/);
    expect((await importUsers(['--mysql', 'mysql://h'], german)).err).toMatch(
      /^--mysql muss aussehen wie mysql:/,
    );
  });
});

test('the address of a MySQL database has a user, a host, a database, and options', () => {
  const local = { host: 'h', port: 3306, socketPath: null };
  const bare = { ...local, user: 'u', password: null, database: 'd', tls: false };
  const addresses = {
    'mysql://u@h/d': bare,
    'mysql://h/d': { ...bare, user: '' },
    'mysql://u:@h/d': { ...bare, password: '' },
    'mysql://u:p%40ss%2F@h:3307/d': { ...bare, password: 'p@ss/', port: 3307 },
    'mysql://u:p@ss/w:r?d#%@h/d': { ...bare, password: 'p@ss/w:r?d#%' },
    'mysql://u%40x:p@h/d': { ...bare, user: 'u@x', password: 'p' },
    'mysql://u@[::1]:3307/d': { ...bare, host: '::1', port: 3307 },
    'mysql://u@localhost/d?socket=/run/my.sock': { ...bare, host: 'localhost', socketPath: '/run/my.sock' },
    'mysql://u@h/d?ssl=on': { ...bare, tls: true },
  };
  for (const [text, address] of Object.entries(addresses))
    expect([text, readMysqlAddress(text)]).toEqual([text, address]);
  const others = ['', 'h/d', 'mysql://', 'mysql://u@h', 'mysql://u@h/', 'mysql://u@h:port/d'];
  for (const text of [...others, 'mysql://u@h/d?sll=on', 'mysql://u@h/d?ssl=yes'])
    expect(() => readMysqlAddress(text), text).toThrow(ConfigError);
});
