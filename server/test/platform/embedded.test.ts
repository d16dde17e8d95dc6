import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  lchown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { reachableByDatabaseUser, type SystemUser } from '../../src/platform/database/database-user.ts';
import {
  type EmbeddedConnection,
  type EmbeddedDatabase,
  type EmbeddedOptions,
  embeddedConnection,
  LibraryInUse,
  socketDirectory,
  startEmbedded,
} from '../../src/platform/database/embedded.ts';
import { findBinaries, installedDirectory } from '../../src/platform/database/embedded-binaries.ts';
import { isAlive, postmasterOf } from '../support/process.ts';

const serverDir = join(import.meta.dirname, '../..');
const embeddedModule = pathToFileURL(join(serverDir, 'src/platform/database/embedded.ts')).href;
const base = reachableByDatabaseUser(tmpdir()) ? tmpdir() : '/var/tmp';
const isRoot = process.getuid?.() === 0;

const libraryFiles = ['instance.lock', 'postgres', 'postgres.log', 'postgres.secret'];

const directories: string[] = [];
const databases: EmbeddedDatabase[] = [];
const children: ChildProcess[] = [];

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const database of databases) await database.stop();
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

async function freshDirectory(name = 'library'): Promise<string> {
  const parent = await mkdtemp(join(base, 'vitrine-embedded-'));
  await chmod(parent, 0o755);
  directories.push(parent);
  return join(parent, name);
}

/** Returns the user of a library's PostgreSQL. */
async function runnerOf(dataDir: string): Promise<SystemUser> {
  const { uid, gid } = await stat(join(dataDir, 'postgres'));
  return { uid, gid };
}

async function start(
  dataDir: string,
  options: Omit<EmbeddedOptions, 'dataDir' | 'log'> = {},
  log: (message: string) => void = () => {},
): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ dataDir, log, ...options });
  databases.push(database);
  return database;
}

/** An existing library, for tests that neither damage it nor keep it running. */
let existing: Promise<string> | null = null;
function existingLibrary(): Promise<string> {
  existing ??= (async () => {
    const dataDir = await freshDirectory();
    await (await start(dataDir)).stop();
    return dataDir;
  })();
  return existing;
}

/** Returns the rows of a statement on a new connection. */
async function ask(connection: EmbeddedConnection, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

interface Writer {
  child: ChildProcess;
  /** The numbers whose commit PostgreSQL acknowledged. */
  acknowledged: number[];
  errors(): string;
}

const writing = `
  import { writeSync } from 'node:fs';
  import pg from 'pg';
  import { startEmbedded } from ${JSON.stringify(embeddedModule)};
  const [dataDir, from] = process.argv.slice(1);
  const { connection } = await startEmbedded({ dataDir, log: (line) => console.error(line) });
  const client = new pg.Client(connection);
  await client.connect();
  await client.query('create table if not exists written (n integer primary key)');
  for (let n = Number(from); ; n += 1) {
    await client.query('insert into written values ($1)', [n]);
    writeSync(1, n + '\\n');
  }
`;

/** Starts a Node process that runs the library and commits rows continuously; returns it after the first commits. */
async function startWriter(dataDir: string, from: number): Promise<Writer> {
  const args = ['--input-type=module', '-e', writing, dataDir, String(from)];
  const child = spawn(process.execPath, args, { cwd: serverDir, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const acknowledged: number[] = [];
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(String(chunk)));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      acknowledged.push(Number(line));
      if (acknowledged.length === 50) resolve();
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${errors.join('')}`)));
  });
  return { child, acknowledged, errors: () => errors.join('') };
}

async function untilGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 400 && isAlive(pid); tries += 1) await sleep(100);
  return !isAlive(pid);
}

async function expectWritten(connection: EmbeddedConnection, acknowledged: number[]): Promise<void> {
  const there = new Set((await ask(connection, 'select n from written')).map(({ n }) => n));
  expect(acknowledged.filter((n) => !there.has(n))).toEqual([]);
}

describe('a library from nothing', () => {
  // SETTING-5
  test('starts, keeps its data across a stop, and can be stopped repeatedly', async () => {
    const dataDir = await freshDirectory();
    const first = await start(dataDir);
    expect(first.connection).toEqual(embeddedConnection(dataDir));
    await ask(first.connection, 'create table kept as select 42 as answer');
    await Promise.all([first.stop(), first.stop()]);
    expect(await first.exited).toEqual({ code: 0, signal: null });
    const second = await start(dataDir);
    expect(await ask(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    await second.stop();
  });

  test('is private, durable and sorts by ICU', async () => {
    const dataDir = await existingLibrary();
    const database = await start(dataDir, { settings: { work_mem: '6MB' } });
    expect((await stat(database.connection.host)).mode & 0o777).toBe(0o700);
    const settings = await ask(
      database.connection,
      `select name, setting from pg_settings
       where name in ('listen_addresses', 'fsync', 'jit', 'shared_buffers', 'max_connections', 'work_mem')`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      listen_addresses: '',
      fsync: 'on',
      jit: 'off',
      shared_buffers: String((160 * 1024) / 8),
      max_connections: '60',
      work_mem: String(6 * 1024),
    });
    expect(
      await ask(
        database.connection,
        `select datlocprovider, pg_encoding_to_char(encoding) as encoding from pg_database
         where datname = current_database()`,
      ),
    ).toEqual([{ datlocprovider: 'i', encoding: 'UTF8' }]);
    const sorted = await ask(database.connection, `select w from unnest('{z,Z,é,e,a}'::text[]) w order by w`);
    expect(sorted.map(({ w }) => w)).toEqual(['a', 'e', 'é', 'z', 'Z']);
    await database.stop();
  });

  test('replaces an incomplete cluster of a killed start', async () => {
    const dataDir = await freshDirectory();
    await mkdir(join(dataDir, 'postgres.new-4711', 'base'), { recursive: true });
    await writeFile(join(dataDir, 'postgres.new-4711', 'PG_VERSION'), '18\n');
    const database = await start(dataDir, { database: 'Another "name"' });
    expect((await readdir(dataDir)).sort()).toEqual(libraryFiles);
    expect(await ask(database.connection, 'select current_database() as name')).toEqual([
      { name: 'Another "name"' },
    ]);
    await database.stop();
  });

  test('replaces an incomplete cluster that an orphaned initdb still writes into', async () => {
    const dataDir = await freshDirectory();
    const fresh = join(dataDir, 'postgres.new-4711');
    await mkdir(fresh, { recursive: true });
    const script = 'i=0; while [ $i -lt 400 ] && mkdir "$1/$i" && : > "$1/$i/f"; do i=$((i+1)); done';
    const writer = spawn('sh', ['-c', script, 'sh', fresh], { stdio: 'ignore' });
    children.push(writer);
    while ((await readdir(fresh)).length < 20) await sleep(5);
    const database = await start(dataDir);
    expect((await readdir(dataDir)).sort()).toEqual(libraryFiles);
    await database.stop();
  });

  test.each([
    ['spaces, unicode and signs', `Zoë's 写真 , "a" = 100%`],
    ['a path longer than a socket may have', `${'a long name '.repeat(12)}ü`],
  ])('lies in a directory with %s', async (_, name) => {
    const dataDir = await freshDirectory(name);
    const database = await start(dataDir);
    expect(Buffer.byteLength(join(database.connection.host, '.s.PGSQL.5432'))).toBeLessThanOrEqual(100);
    expect((await stat(database.connection.host)).mode & 0o777).toBe(0o700);
    const setting = await ask(database.connection, 'show data_directory');
    expect(setting).toEqual([{ data_directory: join(dataDir, 'postgres') }]);
    const other = embeddedConnection(`${dataDir}/`);
    expect(await ask(other, 'select 1 as one')).toEqual([{ one: 1 }]);
    await database.stop();
  });
});

// RUN-1
describe('one process at a time', () => {
  // RUN-1
  test('refuses a second start, in the same process and in another', async () => {
    const dataDir = await existingLibrary();
    const database = await start(dataDir);
    const refused = await start(dataDir).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LibraryInUse);
    expect(refused).toMatchObject({ message: `another Vitrine is using ${dataDir}` });
    const other = await startWriter(dataDir, 0).catch((error: unknown) => String(error));
    expect(other).toContain(`another Vitrine is using ${dataDir}`);
    expect(other).not.toContain('ExperimentalWarning');
    await database.stop();
    await (await start(dataDir)).stop();
  });

  test('runs one of two concurrent first starts', async () => {
    const dataDir = await freshDirectory();
    const both = await Promise.allSettled([start(dataDir), startWriter(dataDir, 0)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const one of both)
      if (one.status === 'rejected') expect(String(one.reason)).toContain('another Vitrine is using');
    for (const child of children) child.kill('SIGKILL');
    for (const database of databases) await database.stop();
  });
});

// RUN-2
describe('killed with -9', () => {
  // RUN-2
  test('Node alone: PostgreSQL ends too, and the next start has every acknowledged row', async () => {
    const dataDir = await existingLibrary();
    const writer = await startWriter(dataDir, 0);
    expect(writer.errors()).toBe('');
    const postmaster = await postmasterOf(dataDir);
    writer.child.kill('SIGKILL');
    await once(writer.child, 'close');
    expect(await untilGone(postmaster)).toBe(true);
    const database = await start(dataDir);
    await expectWritten(database.connection, writer.acknowledged);
    await database.stop();
  });

  // RUN-2
  test('Node and PostgreSQL at once, repeatedly: the next start finds everything', async () => {
    const dataDir = await existingLibrary();
    const acknowledged: number[] = [];
    for (const from of [1_000_000, 2_000_000]) {
      const writer = await startWriter(dataDir, from);
      const postmaster = await postmasterOf(dataDir);
      writer.child.kill('SIGKILL');
      process.kill(postmaster, 'SIGKILL');
      await once(writer.child, 'close');
      acknowledged.push(...writer.acknowledged);
    }
    const database = await start(dataDir);
    await expectWritten(database.connection, acknowledged);
    await database.stop();
  });

  test('while it is only starting: nothing stays behind', async () => {
    const dataDir = await existingLibrary();
    const args = ['--input-type=module', '-e', writing, dataDir, '3000000'];
    const child = spawn(process.execPath, args, { cwd: serverDir, stdio: 'ignore' });
    children.push(child);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    let postmaster = Number.NaN;
    while (!(postmaster > 1)) {
      postmaster = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
    }
    child.kill('SIGKILL');
    expect(await untilGone(postmaster)).toBe(true);
  });

  // RUN-2
  test('PostgreSQL alone: it is restarted with everything it had committed', async () => {
    const dataDir = await existingLibrary();
    const lines: string[] = [];
    const database = await start(dataDir, {}, (line) => lines.push(line));
    await ask(database.connection, 'create table outlives as select 42 as answer');
    const first = await postmasterOf(dataDir);
    process.kill(first, 'SIGKILL');
    const answer = () => ask(database.connection, 'select answer from outlives').catch(() => null);
    await expect.poll(answer, { timeout: 30_000 }).toEqual([{ answer: 42 }]);
    expect(await postmasterOf(dataDir)).not.toBe(first);
    expect(lines).toEqual(['the embedded PostgreSQL ended unexpectedly (SIGKILL); starting it again']);
    await ask(database.connection, 'drop table outlives');
    await database.stop();
    expect(await database.exited).toEqual({ code: 0, signal: null });
  });

  test('PostgreSQL alone, if it cannot be restarted: the error is reported and the library is unlocked', async () => {
    const dataDir = await existingLibrary();
    const lines: string[] = [];
    const database = await start(dataDir, { restarts: 1 }, (line) => lines.push(line));
    const control = join(dataDir, 'postgres', 'global', 'pg_control');
    await rename(control, `${control}.away`);
    process.kill(await postmasterOf(dataDir), 'SIGKILL');
    expect(await database.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(lines[1]).toMatch(
      /^the embedded PostgreSQL cannot be started again: PostgreSQL does not start: .*pg_control/,
    );
    await database.stop();
    await rename(`${control}.away`, control);
    await (await start(dataDir)).stop();
  });

  test('and its process id now belongs to an unrelated process of the same user', async () => {
    const dataDir = await existingLibrary();
    const first = await start(dataDir);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const socketLock = join(first.connection.host, '.s.PGSQL.5432.lock');
    const [pidLines, socketLines] = await Promise.all([
      readFile(pidFile, 'utf8'),
      readFile(socketLock, 'utf8'),
    ]);
    await first.stop();
    const runner = await runnerOf(dataDir);
    const stranger = spawn('sleep', ['60'], { ...(isRoot ? runner : {}), stdio: 'ignore' });
    children.push(stranger);
    const asStranger = (text: string) => text.replace(/^\d+/, String(stranger.pid));
    for (const [path, text] of [
      [pidFile, pidLines],
      [socketLock, socketLines],
    ] as const) {
      await writeFile(path, asStranger(text));
      await lchown(path, runner.uid, runner.gid);
    }
    const second = await start(dataDir);
    expect(await ask(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill();
    await second.stop();
  });

  test('and its process id now belongs to the server of another library, which is not stopped', async () => {
    const dataDir = await freshDirectory();
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const first = await start(dataDir);
    const lines = await readFile(pidFile, 'utf8');
    await first.stop();
    const otherDir = await freshDirectory();
    const other = await start(otherDir);
    await writeFile(pidFile, lines.replace(/^\d+/, String(await postmasterOf(otherDir))));
    const runner = await runnerOf(dataDir);
    await lchown(pidFile, runner.uid, runner.gid);
    const second = await start(dataDir);
    expect(await ask(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await ask(other.connection, 'select 2 as two')).toEqual([{ two: 2 }]);
    await second.stop();
    await other.stop();
  });
});

describe('reports in one line why it cannot start:', () => {
  async function refusal(dataDir: string, options: Omit<EmbeddedOptions, 'dataDir' | 'log'> = {}) {
    const before = Date.now();
    const error: unknown = await start(dataDir, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(Date.now() - before).toBeLessThan(20_000);
    const message = error instanceof Error ? error.message : '';
    expect(message).not.toContain('\n');
    return message;
  }

  test('a setting PostgreSQL does not know, from its log; the library is free again after', async () => {
    const dataDir = await existingLibrary();
    const message = await refusal(dataDir, { settings: { no_such_setting: 'on' } });
    expect(message).toMatch(/^PostgreSQL does not start: .*no_such_setting/);
    await truncate(join(dataDir, 'postgres.log'), 11 * 1024 * 1024);
    await (await start(dataDir)).stop();
    expect((await stat(join(dataDir, 'postgres.log'))).size).toBeLessThan(100_000);
  });

  test('a directory of binaries without any', async () => {
    const dataDir = await freshDirectory();
    const binDir = await freshDirectory('bin');
    expect(await refusal(dataDir, { binDir })).toBe(`there is no ${join(binDir, 'initdb')}`);
  });

  test('binaries for another C library', async () => {
    const dataDir = await freshDirectory();
    const binDir = await freshDirectory('bin');
    await mkdir(binDir, { mode: 0o755 });
    await writeFile(join(binDir, 'initdb'), '#!/lib/no-such-loader\n', { mode: 0o755 });
    expect(await refusal(dataDir, { binDir })).toMatch(/glibc.*DATABASE_URL/);
  });

  test('another file in place of the cluster', async () => {
    const dataDir = await freshDirectory();
    await mkdir(join(dataDir, 'postgres'), { recursive: true });
    await writeFile(join(dataDir, 'postgres', 'notes.txt'), 'mine');
    expect(await refusal(dataDir)).toBe(`${join(dataDir, 'postgres')} is not a PostgreSQL data directory`);
    expect(await readdir(dataDir)).toEqual(['instance.lock', 'postgres', 'postgres.secret']);
  });

  test.runIf(isRoot)('a directory that PostgreSQL’s user cannot reach, also through a link', async () => {
    const closed = await freshDirectory('closed');
    await mkdir(closed, { mode: 0o700 });
    const alias = await freshDirectory('alias');
    await symlink(closed, alias);
    for (const dataDir of [join(closed, 'deep', 'library'), join(alias, 'library')]) {
      expect(reachableByDatabaseUser(dataDir)).toBe(false);
      expect(await refusal(dataDir)).toContain(`cannot reach ${dataDir}`);
    }
    expect(await readdir(closed)).toEqual([]);
  });
});

/** Copies a tree of files, with hard links where possible, without symbolic links. */
async function mirror(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await mirror(source, target);
    else if (entry.isFile()) await link(source, target).catch(() => copyFile(source, target));
  }
}

/** Copies npm's package as it is before its install script has run: without symbolic links. */
async function packageWithoutLinks(): Promise<string> {
  // The files from npm, even if the running ones are a copy.
  const installed = installedDirectory();
  const parent = await freshDirectory('package');
  await mkdir(parent);
  await mirror(installed, join(parent, 'native'));
  await copyFile(join(installed, '../package.json'), join(parent, 'package.json'));
  return join(parent, 'native');
}

async function linksIn(native: string): Promise<number> {
  const entries = await readdir(join(native, 'lib'), { withFileTypes: true });
  return entries.filter((entry) => entry.isSymbolicLink()).length;
}

describe('the binaries', () => {
  test("get the links that npm's install scripts did not make, from two at once and again", async () => {
    const native = await packageWithoutLinks();
    const dataDir = await existingLibrary();
    expect(await linksIn(native)).toBe(0);
    const found = await Promise.all([findBinaries(dataDir, { native }), findBinaries(dataDir, { native })]);
    expect(found).toEqual([join(native, 'bin'), join(native, 'bin')]);
    const links = await linksIn(native);
    expect(links).toBeGreaterThan(10);
    const binDir = await findBinaries(dataDir, { native });
    expect(await linksIn(native)).toBe(links);
    await (await start(dataDir, { binDir })).stop();
  });

  test.runIf(isRoot)('are copied to a directory that PostgreSQL can reach', async () => {
    const native = await packageWithoutLinks();
    await chmod(dirname(native), 0o700);
    const shared = await freshDirectory('shared');
    const dataDir = await existingLibrary();
    const copy = () => findBinaries(dataDir, { native, shared });
    const [binDir, same] = await Promise.all([copy(), copy()]);
    expect(same).toBe(binDir);
    expect(binDir).toMatch(new RegExp(`^${shared}/postgres-[^/]+/native/bin$`));
    expect((await readdir(shared)).length).toBe(1);
    await (await start(dataDir, { binDir })).stop();
    const closed = await findBinaries(dataDir, { native, shared: dirname(native) });
    expect(closed.startsWith(`${dataDir}/postgres-`)).toBe(true);
    expect(reachableByDatabaseUser(closed)).toBe(true);
  });
});

describe('file ownership', () => {
  test.runIf(isRoot)('takes over a cluster of another user as root', async () => {
    const dataDir = await freshDirectory();
    const first = await start(dataDir);
    await ask(first.connection, 'create table kept as select 42 as answer');
    await first.stop();
    const cluster = join(dataDir, 'postgres');
    const entries = await readdir(cluster, { recursive: true });
    for (const entry of ['.', ...entries]) await lchown(join(cluster, entry), 4711, 4711);
    await chmod(cluster, 0o755);
    const second = await start(dataDir);
    expect(await ask(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    const owners = await Promise.all(entries.map((entry) => lstat(join(cluster, entry)).catch(() => null)));
    expect(owners.filter((found) => found !== null && found.uid === 4711)).toEqual([]);
  });

  test('starts under a restrictive umask', async () => {
    const dataDir = await freshDirectory(join('made', 'by', 'us'));
    const ready = `
      process.umask(0o077);
      const { startEmbedded } = await import(${JSON.stringify(embeddedModule)});
      const database = await startEmbedded({ dataDir: process.argv[1], log() {} });
      await database.stop();
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', ready, dataDir], { cwd: serverDir });
    children.push(child);
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
  });

  test('does not use an existing socket directory of another user', async () => {
    const dataDir = await freshDirectory('long '.repeat(30));
    const host = socketDirectory(dataDir);
    const elsewhere = await freshDirectory('elsewhere');
    await mkdir(elsewhere);
    directories.push(host);
    await symlink(elsewhere, host);
    await expect(start(dataDir)).rejects.toThrow(`${host} belongs to another user`);
    expect(await readlink(host)).toBe(elsewhere);
    expect(await readdir(elsewhere)).toEqual([]);
  });
});

test('ignores another server on the default port', async () => {
  const occupant = createServer().listen(5432, '127.0.0.1');
  await Promise.race([once(occupant, 'listening'), once(occupant, 'error')]);
  const dataDir = await existingLibrary();
  const database = await start(dataDir);
  expect(await ask(database.connection, 'select inet_server_port() as port')).toEqual([{ port: null }]);
  await database.stop();
  occupant.close();
});
