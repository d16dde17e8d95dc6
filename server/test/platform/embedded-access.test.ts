import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as tick } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { chooseDatabaseUsers, DATABASE_UID } from '../../src/platform/database/database-user.ts';
import { embeddedConnection, socketDirectory } from '../../src/platform/database/embedded.ts';
import { BOOTSTRAP_ROLE } from '../../src/platform/database/embedded-role.ts';
import { keepSecret } from '../../src/platform/database/embedded-secret.ts';
import { postmasterOf } from '../support/process.ts';
import * as clusters from './clusters.ts';

const { base, children, directories, embeddedModule, freshDirectory, serverDir } = clusters;
/** Null for an ordinary user. */
const users = await chooseDatabaseUsers(base, '/bin', DATABASE_UID);
const isAlone = users !== null && users.shared === null;

afterEach(clusters.stopDatabases);
afterAll(clusters.clear);

const start = (options: Parameters<typeof clusters.start>[1] = {}, log?: (line: string) => void) =>
  clusters.start(dataDir, options, log);
const ask = (statement: string, settings: pg.ClientConfig = {}) =>
  clusters.ask({ ...embeddedConnection(dataDir), ...settings }, statement);

const dataDir = await freshDirectory();
const database = await start();
await ask('create table kept as select 42 as answer');
await database.stop();
/** Another library, whose path is longer than the path of a socket may be. */
const far = `${await freshDirectory()}${' with a path longer than a socket may have'.repeat(3)}`;
await (await clusters.start(far)).stop();

const cluster = () => join(dataDir, 'postgres');
const secretFile = () => join(dataDir, 'postgres.secret');
const secret = () => readFile(secretFile(), 'utf8').then((line) => line.trim());
const accessRules = () => join(cluster(), 'pg_hba.conf');
const passwordRules = () => join(cluster(), 'pg_hba.set-password.conf');

/** Checks that nobody connects without the password, and that the library still has its content. */
async function expectProtected(): Promise<void> {
  const password = await secret();
  const attempts = [
    { password: '' },
    { password: 'wrong' },
    { password, user: 'postgres' },
    { password, user: BOOTSTRAP_ROLE },
  ];
  for (const attempt of attempts) {
    await expect(ask('select 1', attempt)).rejects.toThrow(/password|no pg_hba.conf entry/);
  }
  expect(await ask('select answer from kept')).toEqual([{ answer: 42 }]);
}

/** Restores the state before passwords: trust, no secret, and, as root, files owned by nobody. */
async function makeOld(): Promise<void> {
  const database = await start();
  await ask('alter role vitrine password null');
  await database.stop();
  await writeFile(accessRules(), 'local all all trust\n');
  await rm(secretFile());
  if (users === null) return;
  const { uid } = users.creator;
  const entries = await readdir(cluster(), { recursive: true });
  for (const entry of ['.', ...entries]) await lchown(join(cluster(), entry), uid, uid);
}

/** Loads modules as root, becomes another user, and then tries every way in. */
const intruding = `
  import { readdirSync, readFileSync } from 'node:fs';
  import pg from 'pg';
  const [uid, dataDir, host] = process.argv.slice(1);
  process.setgroups([]);
  process.setgid(Number(uid));
  process.setuid(Number(uid));
  const sync = (act) => { try { act(); return 'done'; } catch (error) { return error.code; } };
  const connect = async (password) => {
    const client = new pg.Client({ host, user: 'vitrine', database: 'vitrine', password });
    return client.connect().then(() => 'done', (error) => error.code);
  };
  console.log(JSON.stringify({
    listed: sync(() => readdirSync(dataDir + '/postgres')),
    read: sync(() => readFileSync(dataDir + '/postgres/PG_VERSION')),
    secret: sync(() => readFileSync(dataDir + '/postgres.secret')),
    withoutPassword: await connect(undefined),
    wrongPassword: await connect('wrong'),
  }));
  process.exit();
`;

async function intrude(uid: number, directory: string): Promise<unknown> {
  const args = ['--input-type=module', '-e', intruding, String(uid), directory, socketDirectory(directory)];
  const child = spawn(process.execPath, args, { cwd: serverDir, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return JSON.parse(await text(child.stdout));
}

// RUN-3
describe('who reaches the embedded database', () => {
  // RUN-3
  test('only holders of the password, which is in a private file', async () => {
    const database = await start();
    await expectProtected();
    expect(await secret()).toBe(database.connection.password);
    const found = await stat(secretFile());
    expect([found.mode & 0o777, found.uid]).toEqual([0o600, process.getuid?.()]);
    expect((await stat(cluster())).mode & 0o777).toBe(0o700);
    expect((await stat(join(database.connection.host, '.s.PGSQL.5432'))).mode & 0o777).toBe(0o700);
    // No command line or environment shows it.
    const pid = await postmasterOf(dataDir);
    for (const name of ['cmdline', 'environ'])
      expect(await readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')).not.toContain(await secret());
    await database.stop();
  });

  // Only root can become another user.
  test.runIf(isAlone)('neither nobody nor an arbitrary user can connect, list or read anything', async () => {
    for (const [directory, uid] of [
      [dataDir, users?.creator.uid ?? 0],
      [far, 4711],
    ] as const) {
      const database = await clusters.start(directory);
      expect(await intrude(uid, directory)).toEqual({
        listed: 'EACCES',
        read: 'EACCES',
        secret: 'EACCES',
        withoutPassword: 'EACCES',
        wrongPassword: 'EACCES',
      });
      await database.stop();
    }
  });

  test('replaces a secret that was lost, damaged or readable by others', async () => {
    const before = new Set([await secret()]);
    const spoil = [
      () => rm(secretFile()),
      () => writeFile(secretFile(), ''),
      () => chmod(secretFile(), 0o644),
      async () => {
        await rm(secretFile());
        await symlink('/etc/hostname', secretFile());
      },
    ];
    for (const act of spoil) {
      await act();
      const replaced = await keepSecret(dataDir);
      expect(await secret()).toBe(replaced);
      expect(before).not.toContain(replaced);
      before.add(replaced);
    }
    const database = await start();
    await expectProtected();
    await database.stop();
  });

  test('reports what is missing to a process that joins', async () => {
    const directory = await freshDirectory();
    await mkdir(directory);
    expect(() => embeddedConnection(directory)).toThrow(
      `there is no ${join(directory, 'postgres.secret')}; restart Vitrine, which creates it`,
    );
  });

  test('does not send the password to a socket of another user', async () => {
    const host = socketDirectory(far);
    directories.push(host);
    await rm(host, { recursive: true, force: true });
    await symlink(base, host);
    expect(() => embeddedConnection(far)).toThrow(`${host} belongs to another user`);
  });
});

const starting = `
  const { startEmbedded } = await import(${JSON.stringify(embeddedModule)});
  await startEmbedded({ dataDir: process.argv[1], log() {} });
`;

function reads(path: string, what: RegExp): boolean {
  try {
    return what.test(readFileSync(path, 'utf8'));
  } catch {
    return false;
  }
}

test('a library from before passwords is protected after kill -9 at each step, keeps its data, and no log shows the password', async () => {
  await makeOld();
  // An interrupted change of owner.
  if (users !== null) {
    await chown(cluster(), 0, 0);
    await lchown(join(cluster(), 'base'), DATABASE_UID, DATABASE_UID);
  }
  const isReady = () => reads(join(cluster(), 'postmaster.pid'), /ready/);
  const steps: [string, () => boolean][] = [
    ['it has a secret', () => existsSync(secretFile())],
    ['its access rules are written', () => reads(accessRules(), /scram/)],
    ['it is to accept a password', () => existsSync(passwordRules())],
    ['its server runs to accept a password', () => existsSync(passwordRules()) && isReady()],
  ];
  for (const [step, reached] of steps) {
    // The step before may have left this file.
    await rm(passwordRules(), { force: true });
    const args = ['--input-type=module', '-e', starting, dataDir];
    const child = spawn(process.execPath, args, { cwd: serverDir, stdio: 'inherit' });
    children.push(child);
    while (!reached() && child.exitCode === null) await tick();
    child.kill('SIGKILL');
    if (child.signalCode === null) await once(child, 'exit');
    expect([step, child.signalCode]).toEqual([step, 'SIGKILL']);
  }
  const database = await start({ settings: { log_statement: 'all', log_min_messages: 'log' } });
  await expectProtected();
  await database.stop();
  expect(existsSync(passwordRules())).toBe(false);
  const log = await readFile(join(dataDir, 'postgres.log'), 'utf8');
  expect(log).toContain('alter role vitrine password');
  expect(log).not.toContain(await secret());
  if (users === null) return;
  const entries = ['.', ...(await readdir(cluster(), { recursive: true }))];
  const owners = await Promise.all(entries.map(async (entry) => (await stat(join(cluster(), entry))).uid));
  expect(new Set(owners)).toEqual(new Set([users.runner.uid]));
});

test.skipIf(users === null)(
  'as root, without a uid for PostgreSQL alone, it runs as nobody with a password and prints a warning',
  async () => {
    const lines: string[] = [];
    const shared = await start({ databaseUid: 1 }, (line) => lines.push(line));
    expect(lines).toEqual([
      'PostgreSQL runs as nobody, whose other processes can read its files: uid 1 is an account of this system',
    ]);
    expect((await stat(cluster())).uid).toBe(users?.creator.uid);
    await expectProtected();
    await shared.stop();

    const uid = 64_711;
    const choose = () => chooseDatabaseUsers(dataDir, '/bin', uid);
    const other = spawn('sleep', ['60'], { uid, gid: uid, stdio: 'ignore' });
    children.push(other);
    await once(other, 'spawn');
    expect((await choose())?.shared).toBe(`uid ${uid} is in use (process ${other.pid})`);
    other.kill('SIGKILL');
    await once(other, 'exit');
    expect(await choose()).toMatchObject({ shared: null, runner: { uid } });
  },
);
