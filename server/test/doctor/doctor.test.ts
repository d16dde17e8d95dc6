import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check } from '@vitrine/contract/doctor';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import {
  judgeClock,
  judgeConnections,
  judgeDatabaseUser,
  judgeDatabaseVersion,
  judgeDurability,
} from '../../src/doctor/database.ts';
import { examineAll } from '../../src/doctor/examine.ts';
import { judgeWaiting } from '../../src/doctor/jobs.ts';
import { judgeNode } from '../../src/doctor/programs.ts';
import { judgeAddress } from '../../src/doctor/site.ts';
import { judgeDisk } from '../../src/doctor/storage.ts';
import { claimLiveness } from '../../src/platform/jobs/liveness.ts';
import { originalKey, renditionKey } from '../../src/platform/storage/object-key.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, plainText } from '../support/pictures.ts';
import { bin } from '../support/process.ts';
import { freePort } from '../support/programs.ts';

const GIB = 1024 ** 3;

let library: Library;
let root: Account;
let programs: string;

beforeAll(async () => {
  library = await openLibrary();
  root = await library.join('root', 'admin');
  programs = await mkdtemp(join(tmpdir(), 'vitrine-programs-'));
});

afterAll(() => rm(programs, { recursive: true, force: true }));

function found(checks: readonly Check[], code: string): Check {
  const check = checks.find((one) => one.code === code);
  if (check === undefined) throw new Error(`nothing was said of ${code}`);
  return check;
}

/** Returns the doctor's finding with this code. */
async function ask(code: string): Promise<Check> {
  return found((await root.ok('getDoctor')).checks, code);
}

/** Returns the same finding with other settings or other paths of programs. */
async function askWith(code: string, config: Partial<Config>, searchPath = ''): Promise<Check> {
  const { db, storage } = library.deps;
  return found(await examineAll({ db, storage, config: { ...library.config, ...config }, searchPath }), code);
}

// RUN-26
test('warns when the collector of traces does not answer', async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const tracing = { url: `http://${host}/v1/traces`, headers: {}, serviceName: 'vitrine', share: 1 };
  expect(await askWith('traces', { tracing })).toMatchObject({
    status: 'warning',
    detail: `traces are lost: ${host} does not answer`,
  });
  expect(await ask('traces')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^off/) });
});

describe('every check', () => {
  // ADMIN-7
  test('has a title and a detail, and a remedy only if it found a problem', async () => {
    const { checks } = await root.ok('getDoctor');
    expect(new Set(checks.map(({ code }) => code)).size).toBe(checks.length);
    for (const { code, title, detail, status, remedy } of checks) {
      expect([code, title, detail].every((text) => /\S/.test(text))).toBe(true);
      expect([code, remedy === null]).toEqual([code, status === 'ok']);
      expect([code, detail]).not.toEqual([code, expect.stringContaining('could not be looked at')]);
    }
  });

  // ADMIN-7
  test('reports a check that failed as a problem and continues with the others', async () => {
    const { db, storage } = library.deps;
    const broken = { ...storage, head: () => Promise.reject(new Error('the disk is on fire')) };
    await upload(root, plainText('anything'));
    const checks = await examineAll({ db, storage: broken, config: library.config, searchPath: '' });
    expect(found(checks, 'files_on_disk')).toMatchObject({
      status: 'problem',
      detail: 'it could not be looked at: the disk is on fire',
    });
    expect(found(checks, 'scramble_key').status).toBe('ok');
  });
});

describe('the database', () => {
  // RUN-3
  test('runs under a uid that nothing else uses', async () => {
    expect(await ask('database_user')).toMatchObject({ status: 'ok' });
    expect(judgeDatabaseUser(65_521, false, [])).toMatchObject({ status: 'ok' });
    expect(judgeDatabaseUser(65_534, true, [])).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('uid 65534, which is an account of this system'),
      remedy: expect.stringContaining('VITRINE_POSTGRES_UID'),
    });
    expect(judgeDatabaseUser(65_521, false, [4711])).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('as does process 4711'),
    });
  });

  test('is PostgreSQL 15 or newer', async () => {
    expect(await ask('database_version')).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^PostgreSQL \d/),
    });
    expect(judgeDatabaseVersion(140_012)).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('14.12'),
    });
    expect(judgeDatabaseVersion(150_000).status).toBe('ok');
  });

  test('is a problem if it belongs to another version of Vitrine', async () => {
    const { db } = library.deps;
    expect((await ask('migrations')).status).toBe('ok');
    await db.insertInto('migrations').values({ name: '9999_future.sql' }).execute();
    expect(await ask('migrations')).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('9999_future'),
    });
    await db.deleteFrom('migrations').where('name', '=', '9999_future.sql').execute();
    const known = await db
      .deleteFrom('migrations')
      .where('name', 'like', '0006%')
      .returning('name')
      .execute();
    expect(await ask('migrations')).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('0006_'),
    });
    await db.insertInto('migrations').values(known).execute();
    expect((await ask('migrations')).status).toBe('ok');
  });

  test('is a problem without fsync, and a warning without synchronous_commit', async () => {
    const { rows } = await sql<{ fsync: string }>`select current_setting('fsync') as fsync`.execute(
      library.deps.db,
    );
    expect((await ask('database_durability')).status).toBe(rows[0]?.fsync === 'on' ? 'ok' : 'problem');
    const all = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
    expect(judgeDurability(all).status).toBe('ok');
    expect(judgeDurability({ ...all, fsync: 'off' })).toMatchObject({
      status: 'problem',
      remedy: expect.stringContaining('fsync = on'),
    });
    expect(judgeDurability({ ...all, full_page_writes: 'off' }).status).toBe('problem');
    expect(judgeDurability({ ...all, synchronous_commit: 'off' }).status).toBe('warning');
  });

  test('is a warning when connections run out', async () => {
    expect((await ask('database_connections')).detail).toMatch(/^\d+ of \d+ connections/);
    expect([judgeConnections(79, 100).status, judgeConnections(80, 100).status]).toEqual(['ok', 'warning']);
  });

  test('has the same time as the service', async () => {
    expect((await ask('clock')).status).toBe('ok');
    expect([4000, -6000, 61_000, -3_600_000].map((ahead) => judgeClock(ahead).status)).toEqual([
      'ok',
      'warning',
      'problem',
      'problem',
    ]);
  });
});

describe('the disk', () => {
  test('is a warning with little space and a problem below one gigabyte', async () => {
    expect((await ask('disk_space')).detail).toMatch(/GiB of .* GiB are free/);
    const room = (free: number, total: number) =>
      judgeDisk({ free_bytes: free * GIB, total_bytes: total * GIB }).status;
    expect([room(50, 100), room(4, 20), room(40, 1000), room(0.9, 100)]).toEqual([
      'ok',
      'warning',
      'warning',
      'problem',
    ]);
  });

  test('is a warning if others can read the directory of the library', async () => {
    const directory = join(library.config.dataDir, 'library');
    expect((await ask('data_directory')).status).toBe('ok');
    await chmod(directory, 0o755);
    expect(await ask('data_directory')).toMatchObject({
      status: 'warning',
      remedy: `chmod 700 ${directory}`,
    });
    await chmod(directory, 0o700);
    expect((await ask('data_directory')).status).toBe('ok');
  });

  test('is a problem if nothing can be written', async () => {
    const { incomingDir } = library.deps.storage;
    await rename(incomingDir, `${incomingDir}.away`);
    expect((await ask('data_directory')).status).toBe('problem');
    await rename(`${incomingDir}.away`, incomingDir);
  });

  test('is a problem that names a missing or truncated file', async () => {
    const asset = await upload(root, plainText('will be lost, and found again'));
    const key = originalKey(asset.file_hash ?? '');
    const path = join(library.config.dataDir, 'library', key);
    expect((await ask('files_on_disk')).status).toBe('ok');
    await rename(path, `${path}.away`);
    expect(await ask('files_on_disk')).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining(key),
    });
    await rename(`${path}.away`, path);
    expect((await ask('files_on_disk')).status).toBe('ok');
    await truncate(path, 3);
    expect((await ask('files_on_disk')).status).toBe('problem');
    await library.deps.db.deleteFrom('assets').execute();
    await library.deps.db.deleteFrom('files').execute();
    expect((await ask('files_on_disk')).detail).toBe('there are none yet');
  });

  test('is a warning if a preview is missing', async () => {
    const asset = await upload(root, await jpeg(64, 64));
    await library.runJobs();
    expect((await ask('files_on_disk')).status).toBe('ok');
    await rm(join(library.config.dataDir, 'library', renditionKey(asset.file_hash ?? '', 'col.webp')));
    expect((await ask('files_on_disk')).status).toBe('warning');
    await library.deps.db.deleteFrom('assets').execute();
    await library.deps.db.deleteFrom('files').execute();
  });
});

describe('jobs', () => {
  const clear = () =>
    sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`.execute(
      library.deps.db,
    );

  beforeAll(clear);

  test('are a warning that names them if they failed permanently', async () => {
    expect((await ask('jobs_failed')).status).toBe('ok');
    const { db } = library.deps;
    for (const name of ['render', 'render', 'sweep'])
      await sql`select graphile_worker.add_job(${name}, max_attempts => 1)`.execute(db);
    await sql`select graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs))`.execute(
      db,
    );
    expect(await ask('jobs_failed')).toMatchObject({
      status: 'warning',
      detail: 'jobs that were given up: 2 render, 1 sweep',
    });
    await clear();
  });

  test('are a warning when overdue, and a problem after an hour', async () => {
    const waiting = async (ago: string) => {
      await sql`select graphile_worker.add_job('sweep', run_at => now() - ${ago}::interval, job_key => 'waits')`.execute(
        library.deps.db,
      );
      return (await ask('jobs_waiting')).status;
    };
    expect([
      await waiting('-1 day'),
      await waiting('1 minute'),
      await waiting('11 minutes'),
      await waiting('2 hours'),
    ]).toEqual(['ok', 'ok', 'warning', 'problem']);
    expect(judgeWaiting(59.4).detail).toContain('59 minutes');
    await clear();
  });

  test('are a problem while no worker runs', async () => {
    expect((await ask('workers')).status).toBe('problem');
    const liveness = await claimLiveness(library.database.pool, library.deps.log);
    liveness.register('worker-of-this-test');
    await expect.poll(async () => (await ask('workers')).status).toBe('ok');
    await liveness.release();
    expect((await ask('workers')).status).toBe('problem');
  });

  test('do not count a worker that was killed', async () => {
    await library.deps.db.insertInto('job_workers').values({ worker_id: 'dead', process: 12_345 }).execute();
    expect((await ask('workers')).status).toBe('problem');
    await library.deps.db.deleteFrom('job_workers').execute();
  });
});

describe('the site', () => {
  test('is a warning without an https address, and a problem in public mode', async () => {
    expect((await ask('public_address')).status).toBe('warning');
    await root.ok('updateSite', { body: { base_url: 'http://pictures.example' } });
    expect((await ask('public_address')).status).toBe('warning');
    await library.setPublicMode(true);
    expect((await ask('public_address')).status).toBe('problem');
    await root.ok('updateSite', { body: { base_url: 'https://pictures.example' } });
    expect((await ask('public_address')).status).toBe('ok');
    expect((await askWith('public_address', { baseUrl: 'http://environment.example' })).status).toBe(
      'problem',
    );
    await library.setPublicMode(false);
    await root.ok('updateSite', { body: { clear_base_url: true } });
    expect(judgeAddress('http://localhost:8420', true).status).toBe('ok');
  });

  test('reports how many posts are public', async () => {
    expect((await ask('public_mode')).detail).toMatch(/^off/);
    await library.setPublicMode(true);
    expect((await ask('public_mode')).detail).toBe('on: anyone can see 0 posts');
    const asset = await upload(root, plainText('for all'));
    for (const visibility of ['public', 'org-only'] as const) await publish(root, [asset], { visibility });
    await publish(root, [asset], { visibility: 'public', draft: true });
    expect((await ask('public_mode')).detail).toBe('on: anyone can see 1 post');
    await library.setPublicMode(false);
  });

  test('is a problem if its keys are missing', async () => {
    const { db } = library.deps;
    for (const key of ['scramble_key', 'secret_key'] as const) {
      expect((await ask('scramble_key')).status).toBe('ok');
      const [row] = await db
        .deleteFrom('settings')
        .where('key', '=', key)
        .returning(['key', 'value'])
        .execute();
      expect(await ask('scramble_key')).toMatchObject({
        status: 'problem',
        detail: expect.stringContaining('is gone'),
      });
      const given = await askWith('scramble_key', { scrambleKey: 'from the environment' });
      expect(given.status).toBe(key === 'scramble_key' ? 'ok' : 'problem');
      const value = JSON.stringify(row?.value);
      await db.insertInto('settings').values({ key, value }).execute();
    }
    expect((await ask('scramble_key')).status).toBe('ok');
  });

  test('names administrators without two-factor sign-in', async () => {
    const { db } = library.deps;
    await sql`update users set status = 'disabled' where ref <> ${root.ref}`.execute(db);
    const chief = await library.join('mona-chief');
    await library.join('nobody');
    await db
      .insertInto('user_capability_grants')
      .values({ user_ref: chief.ref, capability: 'system.admin' })
      .execute();
    const named = async () => (await ask('second_factor')).detail;
    expect(await named()).toMatch(/: mona-chief, root$/);
    expect(await named()).not.toContain('nobody');
    const confirm = (user_ref: number, confirmed_at: string | null) =>
      db
        .insertInto('two_factor')
        .values({ user_ref, sealed_secret: Buffer.from('x'), confirmed_at })
        .onConflict((conflict) => conflict.column('user_ref').doUpdateSet({ confirmed_at }))
        .execute();
    await confirm(chief.ref, null);
    expect(await named()).toContain('chief');
    await confirm(chief.ref, new Date().toISOString());
    expect(await named()).not.toContain('chief');
    await confirm(root.ref, new Date().toISOString());
    expect(await ask('second_factor')).toMatchObject({ status: 'ok' });
    await db.deleteFrom('two_factor').execute();
  });

  test('is a warning without a mail server', async () => {
    const { db } = library.deps;
    expect((await ask('mail')).status).toBe('warning');
    await sql`insert into settings (key, value) values ('mail', '{"smtp_url": "sealed"}')`.execute(db);
    expect((await ask('mail')).status).toBe('ok');
    await sql`update settings set value = '{"from_name": "Studio"}' where key = 'mail'`.execute(db);
    expect((await ask('mail')).status).toBe('warning');
  });

  test('without rate limits is a warning', async () => {
    expect((await ask('rate_limits')).status).toBe('warning');
    expect((await askWith('rate_limits', { rateLimits: true })).status).toBe('ok');
  });
});

describe('programs', () => {
  test.each(['perl', 'ffmpeg'])(
    '%s is found where the environment says, and missed when it is not there',
    async (name) => {
      expect(await askWith(name, {}, programs)).toMatchObject({
        status: 'warning',
        remedy: expect.stringContaining(`apt install ${name}`),
      });
      const path = join(programs, name);
      await writeFile(path, '');
      expect((await askWith(name, {}, programs)).status).toBe('warning');
      await chmod(path, 0o755);
      expect(await askWith(name, {}, `/nowhere::${programs}`)).toMatchObject({ status: 'ok', detail: path });
    },
  );

  test('Node has a supported version', async () => {
    expect((await ask('node')).status).toBe('ok');
    expect([judgeNode('24.0.0').status, judgeNode('22.19.0').status]).toEqual(['ok', 'problem']);
  });

  test('reports whether HEIC can be read', async () => {
    expect((await ask('heic')).detail).toMatch(/\S/);
  });
});

describe('vitrine doctor', () => {
  interface Ended {
    code: number | null;
    out: string;
    err: string;
  }

  function run(env: Record<string, string>): Promise<Ended> {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [bin, 'doctor'], { env: { PATH, HOME, ...env }, cwd: tmpdir() });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (part: Buffer) => out.push(part));
    child.stderr.on('data', (part: Buffer) => err.push(part));
    return new Promise((resolve) => {
      child.once('close', (code) =>
        resolve({ code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }),
      );
    });
  }

  async function databaseUrl(): Promise<string> {
    const { host, port, user, password } = JSON.parse(inject('server'));
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(library.deps.db);
    const url = new URL(`postgres://localhost/${rows[0]?.name}`);
    url.username = user;
    url.password = password ?? '';
    url.searchParams.set('host', host);
    url.searchParams.set('port', String(port));
    return url.href;
  }

  // ADMIN-7
  test('prints the same on the command line and exits with 1 when there is a problem', async () => {
    const { code, out, err } = await run({
      VITRINE_DATA: library.config.dataDir,
      DATABASE_URL: await databaseUrl(),
      VITRINE_RATE_LIMITS: 'off',
    });
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(/^PROBLEM {2}Workers: no process works on jobs/m);
    expect(out).toMatch(/^ {9}Start Vitrine/m);
    expect(out).toMatch(/^ok {7}Node: Node \d+/m);
    const { checks } = await root.ok('getDoctor');
    for (const { title } of checks) expect(out).toContain(` ${title}: `);
    const problems = checks.filter(({ status }) => status === 'problem').length;
    expect(out).toContain(`problems: ${problems}, warnings: `);
  });

  // ADMIN-7
  test('creates no library where there is none', async () => {
    const none = await run({ VITRINE_DATA: join(programs, 'none') });
    expect([none.code, none.err.trim()]).toEqual([
      1,
      `there is no library in ${join(programs, 'none')}; set VITRINE_DATA to where it is`,
    ]);
    const gone = await run({
      VITRINE_DATA: library.config.dataDir,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    });
    expect([gone.code, gone.out]).toEqual([1, expect.stringMatching(/PROBLEM {2}Database/)]);
  });
});
