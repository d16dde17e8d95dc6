import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  lchown,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { reachableByDatabaseUser } from '../../src/platform/database/database-user.ts';
import { embeddedConnection, LibraryInUse, socketDirectory } from '../../src/platform/database/embedded.ts';
import { findBinaries, installedDirectory } from '../../src/platform/database/embedded-binaries.ts';
import { readPid } from '../../src/platform/database/embedded-orphan.ts';
import { isAlive, postmasterOf } from '../support/process.ts';
import {
  ask,
  children,
  clear,
  directories,
  embeddedModule,
  freshDirectory,
  serverDir,
  start,
} from './clusters.ts';

const isRoot = process.getuid?.() === 0;
/** A path that is longer than the path of a socket may be. */
const LONG = `${'a long name '.repeat(12)}ü`;

/** Another data directory, set by the test that creates it. */
let otherDir: string;

/** A library that tests may use, but not damage or leave running. */
const dataDir = await freshDirectory(`Zoë's 写真 , "a" = 100%`);
afterAll(clear);

const writing = `
  import { writeSync } from 'node:fs';
  import pg from 'pg';
  import { startEmbedded } from ${JSON.stringify(embeddedModule)};
  process.umask(0o077);
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

/**
 * Starts a Node process with a restrictive umask that runs the library and commits rows continuously; returns it after the
 * first commits.
 */
async function startWriter(from: number, directory = dataDir) {
  const args = ['--input-type=module', '-e', writing, directory, String(from)];
  const child = spawn(process.execPath, args, { cwd: serverDir, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  /** The numbers whose commit PostgreSQL acknowledged. */
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

describe('a library from nothing', () => {
  // SETTING-5
  test('replaces an incomplete cluster, and can be stopped repeatedly', async () => {
    // A killed start has left an initdb, which still writes.
    const left = join(dataDir, 'postgres.new-4711');
    await mkdir(left, { recursive: true });
    await writeFile(join(left, 'PG_VERSION'), '18\n');
    const script = 'i=0; while [ $i -lt 400 ] && mkdir "$1/$i" && : > "$1/$i/f"; do i=$((i+1)); done';
    children.push(spawn('sh', ['-c', script, 'sh', left], { stdio: 'ignore' }));
    while ((await readdir(left)).length < 20) await sleep(5);
    const first = await start(dataDir);
    // The reserve is created while the server runs (RUN-44).
    const entries = (await readdir(dataDir)).filter((name) => !name.startsWith('postgres.reserve'));
    expect(entries.sort()).toEqual(['instance.lock', 'postgres', 'postgres.log', 'postgres.secret']);
    expect(first.connection).toEqual(embeddedConnection(`${dataDir}/`));
    await ask(first.connection, 'create table kept as select 42 as answer');
    await Promise.all([first.stop(), first.stop()]);
    expect(await first.exited).toEqual({ code: 0, signal: null });
    await first.stop();
  });

  test('keeps its data across a stop, is private, durable and sorts by ICU, and ignores another server on the default port', async () => {
    const occupant = createServer().listen(5432, '127.0.0.1');
    await Promise.race([once(occupant, 'listening'), once(occupant, 'error')]);
    const { connection, stop } = await start(dataDir, { settings: { work_mem: '6MB' } });
    expect(await ask(connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
    const settings = await ask(
      connection,
      `select name, setting from pg_settings where name in
       ('listen_addresses', 'fsync', 'jit', 'shared_buffers', 'max_connections', 'work_mem')`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      listen_addresses: '',
      fsync: 'on',
      jit: 'off',
      shared_buffers: String((160 * 1024) / 8),
      max_connections: '60',
      work_mem: String(6 * 1024),
    });
    const [database] = await ask(
      connection,
      `select inet_server_port() as port, datlocprovider, pg_encoding_to_char(encoding) as encoding,
       (select string_agg(w, '' order by w) from unnest('{z,Z,é,e,a}'::text[]) w) as sorted
       from pg_database where datname = current_database()`,
    );
    expect(database).toEqual({ port: null, datlocprovider: 'i', encoding: 'UTF8', sorted: 'aeézZ' });
    await stop();
    occupant.close();
  });
});

// RUN-1
describe('one process at a time', () => {
  // RUN-1
  test('refuses a second start, in the same process and in another', async () => {
    const database = await start(dataDir);
    const refused = await start(dataDir).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LibraryInUse);
    expect(refused).toMatchObject({ message: `another Vitrine is using ${dataDir}` });
    const other = await startWriter(0).catch(String);
    expect(other).toContain(`another Vitrine is using ${dataDir}`);
    expect(other).not.toContain('ExperimentalWarning');
    await database.stop();
  });

  test('runs one of two concurrent first starts, under a restrictive umask, at a long path', async () => {
    otherDir = await freshDirectory(join('made', 'by us', LONG));
    const both = await Promise.allSettled([startWriter(0, otherDir), startWriter(0, otherDir)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const one of both)
      if (one.status === 'rejected') expect(String(one.reason)).toContain('another Vitrine is using');
    const { host } = embeddedConnection(otherDir);
    expect(Buffer.byteLength(join(host, '.s.PGSQL.5432'))).toBeLessThanOrEqual(100);
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    const postmaster = await postmasterOf(otherDir);
    for (const one of both) if (one.status === 'fulfilled') one.value.child.kill('SIGKILL');
    expect(await untilGone(postmaster)).toBe(true);
  });
});

// RUN-2
describe('killed with -9', () => {
  // RUN-2
  test('Node, alone or with PostgreSQL: the next start has every acknowledged row', async () => {
    const acknowledged: number[] = [];
    for (const isAlone of [true, false]) {
      const writer = await startWriter(acknowledged.length * 1000);
      expect(writer.errors()).toBe('');
      const postmaster = await postmasterOf(dataDir);
      writer.child.kill('SIGKILL');
      if (!isAlone) process.kill(postmaster, 'SIGKILL');
      await once(writer.child, 'close');
      expect(await untilGone(postmaster)).toBe(true);
      acknowledged.push(...writer.acknowledged);
    }
    const database = await start(dataDir);
    const there = new Set((await ask(database.connection, 'select n from written')).map(({ n }) => n));
    expect(acknowledged.filter((n) => !there.has(n))).toEqual([]);
    await database.stop();
  });

  test('while it is only starting: nothing stays behind', async () => {
    const args = ['--input-type=module', '-e', writing, dataDir, '3000000'];
    const child = spawn(process.execPath, args, { cwd: serverDir, stdio: 'ignore' });
    children.push(child);
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    let postmaster: number | null = null;
    while (postmaster === null) postmaster = await readPid(pidFile);
    child.kill('SIGKILL');
    expect(await untilGone(postmaster)).toBe(true);
  });

  // RUN-2
  test('PostgreSQL alone: it is restarted, and if that fails, the error is reported and the library is free', async () => {
    const lines: string[] = [];
    const database = await start(dataDir, { restarts: 2 }, (line) => lines.push(line));
    await ask(database.connection, 'create table outlives as select 42 as answer');
    const first = await postmasterOf(dataDir);
    process.kill(first, 'SIGKILL');
    const answer = () => ask(database.connection, 'select answer from outlives').catch(() => null);
    await expect.poll(answer).toEqual([{ answer: 42 }]);
    const second = await postmasterOf(dataDir);
    expect(second).not.toBe(first);
    expect(lines).toEqual(['the embedded PostgreSQL ended unexpectedly (SIGKILL); starting it again']);

    const control = join(dataDir, 'postgres', 'global', 'pg_control');
    await rename(control, `${control}.away`);
    process.kill(second, 'SIGKILL');
    expect(await database.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(lines.at(-1)).toMatch(
      /^the embedded PostgreSQL cannot be started again: PostgreSQL does not start: .*pg_control/,
    );
    await database.stop();
    await rename(`${control}.away`, control);
    await (await start(dataDir)).stop();
  });

  test('starts although its process id now belongs to an unrelated process or the server of another library', async () => {
    const first = await start(dataDir);
    const paths = [
      join(dataDir, 'postgres/postmaster.pid'),
      join(first.connection.host, '.s.PGSQL.5432.lock'),
    ];
    const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    await first.stop();
    const { uid, gid } = await stat(join(dataDir, 'postgres'));
    const stranger = spawn('sleep', ['600'], { ...(isRoot ? { uid, gid } : {}), stdio: 'ignore' });
    children.push(stranger);
    const other = await start(otherDir);
    for (const pid of [stranger.pid, await postmasterOf(otherDir)]) {
      // The stop has removed a socket directory outside of the library.
      await mkdir(first.connection.host, { recursive: true, mode: 0o700 });
      await lchown(first.connection.host, uid, gid);
      for (const [at, path] of paths.entries()) {
        await writeFile(path, (texts[at] ?? '').replace(/^\d+/, String(pid)));
        await lchown(path, uid, gid);
      }
      const next = await start(dataDir);
      expect(await ask(next.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
      await next.stop();
    }
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    expect(await ask(other.connection, 'select 2 as two')).toEqual([{ two: 2 }]);
    stranger.kill();
    await other.stop();
  });
});

describe('reports in one line why it cannot start:', () => {
  async function refusal(directory: string, options: Parameters<typeof start>[1] = {}): Promise<string> {
    const error: unknown = await start(directory, options).catch((thrown: unknown) => thrown);
    const message = error instanceof Error ? error.message : 'it starts';
    expect(message).not.toContain('\n');
    return message;
  }

  test('a setting PostgreSQL does not know, from its log; the library is free again after', async () => {
    const message = await refusal(dataDir, { settings: { no_such_setting: 'on' } });
    expect(message).toMatch(/^PostgreSQL does not start: .*no_such_setting/);
    await truncate(join(dataDir, 'postgres.log'), 11 * 1024 * 1024);
    await (await start(dataDir)).stop();
    expect((await stat(join(dataDir, 'postgres.log'))).size).toBeLessThan(100_000);
  });

  test('a directory of binaries without any, or with those for another C library', async () => {
    const fresh = await freshDirectory();
    const binDir = await freshDirectory('bin');
    expect(await refusal(fresh, { binDir })).toBe(`there is no ${join(binDir, 'initdb')}`);
    await mkdir(binDir, { mode: 0o755 });
    await writeFile(join(binDir, 'initdb'), '#!/lib/no-such-loader\n', { mode: 0o755 });
    expect(await refusal(fresh, { binDir })).toMatch(/glibc.*DATABASE_URL/);
    // With a library that another installation created.
    const server = join(binDir, 'postgres');
    expect(await refusal(dataDir, { binDir })).toBe(`there is no ${server}`);
    await writeFile(server, '#!/lib/no-such-loader\n', { mode: 0o755 });
    expect(await refusal(dataDir, { binDir })).toMatch(/glibc.*DATABASE_URL/);
    await chmod(server, 0o644);
    expect(await refusal(dataDir, { binDir })).toBe(`the user of PostgreSQL may not run ${server}`);
  });

  test('another file in place of the cluster', async () => {
    const taken = await freshDirectory();
    await mkdir(join(taken, 'postgres'), { recursive: true });
    await writeFile(join(taken, 'postgres', 'notes.txt'), 'mine');
    expect(await refusal(taken)).toBe(`${join(taken, 'postgres')} is not a PostgreSQL data directory`);
    expect(await readdir(taken)).toEqual(['instance.lock', 'postgres', 'postgres.secret']);
  });

  test.runIf(isRoot)('a directory that PostgreSQL’s user cannot reach, also through a link', async () => {
    const closed = await freshDirectory('closed');
    await mkdir(closed, { mode: 0o700 });
    const alias = await freshDirectory('alias');
    await symlink(closed, alias);
    for (const unreachable of [join(closed, 'deep', 'library'), join(alias, 'library')]) {
      expect(reachableByDatabaseUser(unreachable)).toBe(false);
      expect(await refusal(unreachable)).toContain(`cannot reach ${unreachable}`);
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
  const native = join(parent, 'native');
  await mkdir(parent);
  await mirror(installed, native);
  await copyFile(join(installed, '../package.json'), join(parent, 'package.json'));
  return native;
}

async function linksIn(native: string): Promise<number> {
  const entries = await readdir(join(native, 'lib'), { withFileTypes: true });
  return entries.filter((entry) => entry.isSymbolicLink()).length;
}

describe('the binaries', () => {
  test("get the links that npm's install scripts did not make, from two at once and again", async () => {
    const native = await packageWithoutLinks();
    expect(await linksIn(native)).toBe(0);
    const found = await Promise.all([findBinaries(dataDir, { native }), findBinaries(dataDir, { native })]);
    expect(found).toEqual([join(native, 'bin'), join(native, 'bin')]);
    const links = await linksIn(native);
    expect(links).toBeGreaterThan(10);
    expect(await findBinaries(dataDir, { native })).toBe(join(native, 'bin'));
    expect(await linksIn(native)).toBe(links);
  });

  test.runIf(isRoot)('are copied to a directory that PostgreSQL can reach', async () => {
    const native = await packageWithoutLinks();
    await chmod(dirname(native), 0o700);
    const shared = await freshDirectory('shared');
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

test('a start does not use an existing socket directory of another user', async () => {
  const far = await freshDirectory(LONG);
  const host = socketDirectory(far);
  const elsewhere = await freshDirectory('elsewhere');
  await mkdir(elsewhere);
  directories.push(host);
  await symlink(elsewhere, host);
  await expect(start(far)).rejects.toThrow(`${host} belongs to another user`);
  expect(await readlink(host)).toBe(elsewhere);
  expect(await readdir(elsewhere)).toEqual([]);
});
