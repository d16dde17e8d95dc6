import { chmod, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check } from '@vitrine/contract/doctor';
import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Config, readConfig } from '../../src/core/config.ts';
import { checkBytes } from '../../src/operate/doctor/bytes.ts';
import { type Finding, sayFinding } from '../../src/operate/doctor/check.ts';
import { doctorCommand } from '../../src/operate/doctor/command.ts';
import {
  judgeClock,
  judgeConnections,
  judgeDatabaseUser,
  judgeDatabaseVersion,
  judgeDurability,
} from '../../src/operate/doctor/database.ts';
import { examinations, examineAll } from '../../src/operate/doctor/examine.ts';
import { judgeWaiting } from '../../src/operate/doctor/jobs.ts';
import { judgeFfmpeg, judgeNode } from '../../src/operate/doctor/programs.ts';
import { judgeAddress } from '../../src/operate/doctor/site.ts';
import { judgeDisk } from '../../src/operate/doctor/storage.ts';
import { claimLiveness } from '../../src/platform/jobs/liveness.ts';
import { verbatim } from '../../src/platform/language/sentence.ts';
import { logoKey, originalKey, renditionKey } from '../../src/platform/storage/object-key.ts';
import { objectPath, openLibrary, publish, upload } from '../support/library.ts';
import { grant } from '../support/people.ts';
import { jpeg, plainFile, plainText, png, sha256 } from '../support/pictures.ts';
import { freePort } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const GIB = 1024 ** 3;

const inEnglish = (finding: Finding) =>
  sayFinding('en', { code: 'of_this_test', title: verbatim('Title') }, finding);

const library = await openLibrary();
const root = await library.join('root', 'admin');
const { db, storage } = library.deps;
const programs = await temporaryDirectory();

function found(checks: readonly Check[], code: string): Check {
  const check = checks.find((one) => one.code === code);
  if (check === undefined) throw new Error(`nothing was said of ${code}`);
  return check;
}

/** Returns the doctor's findings: the status by code, and the detail of those that have one. */
async function examine() {
  const { checks } = await root.ok('getDoctor');
  const byCode = (text: (check: Check) => string) =>
    Object.fromEntries(checks.map((check) => [check.code, text(check)]));
  return { status: byCode(({ status }) => status), detail: byCode(({ detail }) => detail) };
}

/** Returns the finding of one check, which is the only one that runs, with other settings or other paths of programs. */
async function askWith(code: string, config: Partial<Config> = {}, searchPath = ''): Promise<Check> {
  const chosen = examinations.filter((examination) => examination.code === code);
  const deps = { db, storage, config: { ...library.config, ...config }, searchPath };
  return found(await examineAll(deps, 'en', chosen), code);
}

// ADMIN-7
test('every check has a title and a detail, and a remedy only if it found a problem', async () => {
  const { checks } = await root.ok('getDoctor');
  expect(new Set(checks.map(({ code }) => code)).size).toBe(checks.length);
  for (const { code, title, detail, status, remedy } of checks) {
    expect([code, title, detail].every((text) => /\S/.test(text))).toBe(true);
    expect([code, remedy === null]).toEqual([code, status === 'ok']);
    expect([code, detail]).not.toEqual([code, expect.stringContaining('the check failed')]);
  }
});

// LANGUAGE-8
test('findings are in the language of the reader', async () => {
  const answer = await root.send('/admin/system/doctor', { headers: { 'accept-language': 'ar' } });
  const { checks }: { checks: Check[] } = JSON.parse(answer.text);
  const isArabic = (text: string) => /\p{Script=Arabic}/u.test(text);
  // The details of these are versions and paths.
  const same = ['database_version', 'node', 'perl', 'ffmpeg'];
  expect(checks.filter(({ title }) => !isArabic(title)).map(({ code }) => code)).toEqual(
    expect.arrayContaining(['node', 'perl', 'ffmpeg', 'heic']),
  );
  expect(checks.filter(({ code, detail }) => !same.includes(code) && !isArabic(detail))).toEqual([]);
  expect(checks.filter(({ remedy }) => remedy !== null && !isArabic(remedy))).toEqual([]);
});

// ADMIN-7
test('a check that failed is a problem, and the others continue', async () => {
  const broken = { ...storage, head: () => Promise.reject(new Error('the disk is on fire')) };
  await upload(root, plainFile());
  const checks = await examineAll({ db: db, storage: broken, config: library.config, searchPath: '' }, 'en');
  expect(found(checks, 'files_on_disk')).toMatchObject({
    status: 'problem',
    detail: 'the check failed: the disk is on fire',
  });
  expect(found(checks, 'scramble_key').status).toBe('ok');
});

// RUN-3
test('judges the database, its clock and the disk', () => {
  expect(judgeDatabaseUser(65_521, false, [])).toMatchObject({ status: 'ok' });
  expect(inEnglish(judgeDatabaseUser(65_534, true, []))).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('uid 65534, which is an account of this system'),
    remedy: expect.stringContaining('VITRINE_POSTGRES_UID'),
  });
  expect(inEnglish(judgeDatabaseUser(65_521, false, [4711]))).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('as does process 4711'),
  });
  const old = { status: 'problem', detail: expect.stringContaining('14.12') };
  expect(inEnglish(judgeDatabaseVersion(140_012))).toMatchObject(old);
  expect(judgeDatabaseVersion(150_000).status).toBe('ok');
  const durable = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' };
  expect(judgeDurability(durable).status).toBe('ok');
  const careless = { status: 'problem', remedy: expect.stringContaining('fsync = on') };
  expect(inEnglish(judgeDurability({ ...durable, fsync: 'off' }))).toMatchObject(careless);
  expect(judgeDurability({ ...durable, full_page_writes: 'off' }).status).toBe('problem');
  expect(judgeDurability({ ...durable, synchronous_commit: 'off' }).status).toBe('warning');
  expect([judgeConnections(79, 100).status, judgeConnections(80, 100).status]).toEqual(['ok', 'warning']);
  const clocks = [4000, -6000, 61_000, -3_600_000].map((ahead) => judgeClock(ahead).status);
  expect(clocks).toEqual(['ok', 'warning', 'problem', 'problem']);
  const room = (free: number, total: number) =>
    judgeDisk({ free_bytes: free * GIB, total_bytes: total * GIB }).status;
  const disks = [room(50, 100), room(4, 20), room(40, 1000), room(0.9, 100)];
  expect(disks).toEqual(['ok', 'warning', 'warning', 'problem']);
  expect([judgeNode('24.0.0').status, judgeNode('22.19.0').status]).toEqual(['ok', 'problem']);
  expect(inEnglish(judgeWaiting(59.4)).detail).toContain('59 minutes');
  expect(judgeAddress('http://localhost:8420', true).status).toBe('ok');
});

describe('a library with problems', () => {
  const directory = join(library.config.dataDir, 'library');
  const overdue = (ago: string) =>
    sql`select graphile_worker.add_job('sweep', run_at => now() - ${ago}::interval, job_key => 'waits')`.execute(
      db,
    );
  const clearJobs = () =>
    sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`.execute(db);
  const deleteFiles = async () => {
    await db.deleteFrom('assets').execute();
    await db.deleteFrom('files').execute();
  };
  const takeKey = async (key: 'scramble_key' | 'secret_key') => {
    const [row] = await db.deleteFrom('settings').where('key', '=', key).returning('value').execute();
    const values = { key, value: JSON.stringify(row?.value) };
    return () => db.insertInto('settings').values(values).execute();
  };

  /** The findings of a library with nothing in it, without a worker, an address or a mail server. */
  const usual = {
    database_user: 'ok',
    database_version: 'ok',
    migrations: 'ok',
    clock: 'ok',
    data_directory: 'ok',
    files_on_disk: 'ok',
    jobs_failed: 'ok',
    jobs_waiting: 'ok',
    workers: 'problem',
    public_address: 'warning',
    scramble_key: 'ok',
    secret_key: 'ok',
    mail: 'warning',
    rate_limits: 'warning',
    node: 'ok',
    traces: 'ok',
  };

  test('has its usual findings', async () => {
    await deleteFiles();
    await clearJobs();
    await overdue('1 minute');
    const { status, detail } = await examine();
    expect(status).toMatchObject(usual);
    const { rows } = await sql<{
      fsync: string;
      superuser: boolean;
    }>`select current_setting('fsync') as fsync,
      rolsuper as superuser from pg_roles where rolname = current_user`.execute(db);
    expect(status.database_durability).toBe(rows[0]?.fsync === 'on' ? 'ok' : 'problem');
    expect(status.database_role).toBe(rows[0]?.superuser === true ? 'warning' : 'ok');
    expect(detail).toMatchObject({
      database_version: expect.stringMatching(/^PostgreSQL \d/),
      database_connections: expect.stringMatching(/^\d+ of \d+ connections/),
      disk_space: expect.stringMatching(/GB of .* GB are free/),
      files_on_disk: 'there are no files yet',
      heic: expect.stringMatching(/\S/),
      decoders: expect.stringMatching(/^decoders run as .* without (?:ways to gain rights|capabilities)/),
      public_mode: expect.stringMatching(/^off/),
      traces: expect.stringMatching(/^off/),
    });
  });

  test('names what is missing, lost, overdue or open to others', async () => {
    await db.insertInto('migrations').values({ name: '9999_future.sql' }).execute();
    await chmod(directory, 0o755);
    const asset = await upload(root, plainFile('will be lost, and found again'));
    const key = originalKey(asset.file_hash ?? '');
    await rename(objectPath(library, key), join(programs, 'away'));
    await clearJobs();
    for (const name of ['render', 'render', 'sweep'])
      await sql`select graphile_worker.add_job(${name}, max_attempts => 1)`.execute(db);
    await sql`select graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs))`.execute(
      db,
    );
    await overdue('2 hours');
    await db.insertInto('job_workers').values({ worker_id: 'dead', process: 12_345 }).execute();
    await root.ok('updateSite', { body: { base_url: 'http://pictures.example' } });
    await library.setPublicMode(true);
    for (const visibility of ['public', 'org-only'] as const) await publish(root, [asset], { visibility });
    await publish(root, [asset], { visibility: 'public', draft: true });
    const restoreKey = await takeKey('scramble_key');
    await sql`insert into settings (key, value) values ('mail', '{"smtp_url": "sealed"}')`.execute(db);

    const { status, detail } = await examine();
    expect(status).toMatchObject({
      ...usual,
      migrations: 'problem',
      data_directory: 'warning',
      files_on_disk: 'problem',
      jobs_failed: 'warning',
      jobs_waiting: 'problem',
      public_address: 'problem',
      scramble_key: 'problem',
      mail: 'ok',
    });
    expect(detail).toMatchObject({
      migrations: expect.stringContaining('9999_future'),
      files_on_disk: expect.stringContaining(key),
      jobs_failed: 'permanently failed jobs: 2 render, 1 sweep',
      public_mode: 'on: anyone can see 1 post',
      scramble_key: expect.stringContaining('is missing'),
    });
    expect((await askWith('data_directory')).remedy).toBe(`chmod 700 ${directory}`);
    expect((await askWith('scramble_key', { scrambleKey: 'from the environment' })).status).toBe('ok');

    await db.deleteFrom('migrations').where('name', '=', '9999_future.sql').execute();
    await chmod(directory, 0o700);
    await rename(join(programs, 'away'), objectPath(library, key));
    await clearJobs();
    await db.deleteFrom('job_workers').execute();
    await restoreKey();
  });

  test('names what is outdated, truncated or cannot be written', async () => {
    const sixth = db.deleteFrom('migrations').where('name', 'like', '0006%');
    const known = await sixth.returning('name').execute();
    const { incomingDir } = storage;
    const file = await db.selectFrom('files').select('hash').executeTakeFirstOrThrow();
    await truncate(objectPath(library, originalKey(file.hash)), 3);
    await overdue('11 minutes');
    const liveness = await claimLiveness(library.database.pool, library.deps.log);
    liveness.register('worker-of-this-test');
    await expect.poll(async () => (await askWith('workers')).status).toBe('ok');
    await root.ok('updateSite', { body: { base_url: 'https://pictures.example' } });
    const restoreKey = await takeKey('secret_key');
    await sql`update settings set value = '{"from_name": "Studio"}' where key = 'mail'`.execute(db);
    await rename(incomingDir, `${incomingDir}.away`);

    const { status, detail } = await examine();
    expect(status).toMatchObject({
      ...usual,
      migrations: 'problem',
      data_directory: 'problem',
      files_on_disk: 'problem',
      jobs_waiting: 'warning',
      workers: 'ok',
      public_address: 'ok',
      secret_key: 'problem',
      mail: 'warning',
    });
    expect(detail.migrations).toContain('0006_');
    const baseUrl = 'http://environment.example';
    expect((await askWith('public_address', { baseUrl })).status).toBe('problem');

    await rename(`${incomingDir}.away`, incomingDir);
    await db.insertInto('migrations').values(known).execute();
    await liveness.release();
    await restoreKey();
    await library.setPublicMode(false);
    await root.ok('updateSite', { body: { clear_base_url: true } });
    await clearJobs();
    await deleteFiles();
    expect((await examine()).status).toMatchObject(usual);
  });

  test('has a warning if a preview is missing', async () => {
    const { file_hash } = await upload(root, await jpeg(64, 64));
    await library.runJobs();
    expect((await askWith('files_on_disk')).status).toBe('ok');
    await rm(objectPath(library, renditionKey(file_hash ?? '', 'col.webp')));
    expect((await askWith('files_on_disk')).status).toBe('warning');
    await deleteFiles();
  });
});

// RUN-26
test('warns when the collector of traces does not answer, not with rate limits', async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const tracing = { url: `http://${host}/v1/traces`, headers: {}, serviceName: 'vitrine', share: 1 };
  expect(await askWith('traces', { tracing })).toMatchObject({
    status: 'warning',
    detail: `traces are lost: ${host} does not answer`,
  });
  expect((await askWith('rate_limits', { rateLimits: true })).status).toBe('ok');
});

test('names administrators without two-factor sign-in', async () => {
  await sql`update users set status = 'disabled' where ref <> ${root.ref}`.execute(db);
  const chief = await library.join('mona-chief');
  await library.join('nobody');
  await grant(library, chief, 'system.admin');
  const named = async () => (await askWith('second_factor')).detail;
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
  expect((await askWith('second_factor')).status).toBe('ok');
  await db.deleteFrom('two_factor').execute();
  await sql`update users set status = 'disabled'`.execute(db);
  expect((await askWith('second_factor')).detail).toBe('there is no administrator yet');
  await sql`update users set status = 'active' where ref = ${root.ref}`.execute(db);
});

/** Writes a program that prints this. */
async function writeProgram(name: string, prints = ''): Promise<string> {
  const path = join(programs, name);
  await writeFile(path, `#!/bin/sh\ncat <<'END'\n${prints}\nEND\n`);
  await chmod(path, 0o755);
  return path;
}

test('perl is found in the search path only', async () => {
  expect(await askWith('perl', {}, programs)).toMatchObject({
    status: 'warning',
    remedy: expect.stringContaining('apt install perl'),
  });
  const path = await writeProgram('perl');
  await chmod(path, 0o644);
  expect((await askWith('perl', {}, programs)).status).toBe('warning');
  await chmod(path, 0o755);
  expect(await askWith('perl', {}, `/nowhere::${programs}`)).toMatchObject({ status: 'ok', detail: path });
});

test('names the FFmpeg that is used: the one with the needed encoders, otherwise that of npm', async () => {
  const detail = async (config: Partial<Config> = {}) => {
    const { status, detail } = await askWith('ffmpeg', { ffmpeg: null, ...config }, programs);
    return [status, detail];
  };
  const ofNpm = ['ok', expect.stringContaining('npm')];
  expect(await detail()).toEqual(ofNpm);
  const path = await writeProgram('ffmpeg', ' V....D mpeg4 ');
  await writeProgram('ffprobe');
  expect(await detail()).toEqual(ofNpm);
  await writeProgram('ffmpeg', ' V....D libx264 \n A....D aac ');
  expect(await detail()).toEqual(['ok', path]);
  expect(await detail({ ffmpeg: 'off' })).toEqual(ofNpm);
  expect(inEnglish(judgeFfmpeg(null, false))).toMatchObject({
    status: 'warning',
    remedy: expect.stringContaining('apt install ffmpeg'),
  });
});

/** Runs the command in this process; returns its exit code and what it prints. */
async function runDoctor(config: Config, ...args: string[]): Promise<{ code: number; out: string }> {
  const lines: string[] = [];
  const code = await doctorCommand(config, args, (line) => lines.push(line));
  return { code, out: lines.join('\n') };
}

describe('vitrine doctor', () => {
  const run = (env: Record<string, string>) => runDoctor(readConfig(env, tmpdir()));

  // ADMIN-7
  test('prints the same on the command line and exits with 1 when there is a problem', async () => {
    const { code, out } = await run({
      VITRINE_DATA: library.config.dataDir,
      DATABASE_URL: library.databaseUrl,
      VITRINE_RATE_LIMITS: 'off',
    });
    expect(code).toBe(1);
    expect(out).toMatch(/^PROBLEM {2}Workers: no process runs jobs/m);
    expect(out).toMatch(/^ {9}Start Vitrine/m);
    expect(out).toMatch(/^ok {7}Node: Node \d+/m);
    const { checks } = await root.ok('getDoctor');
    for (const { title } of checks) expect(out).toContain(` ${title}: `);
    const problems = checks.filter(({ status }) => status === 'problem').length;
    expect(out).toContain(`problems: ${problems}, warnings: `);
  });

  // LANGUAGE-7
  test('prints findings in the language of the locale', async () => {
    const { out } = await run({
      VITRINE_DATA: library.config.dataDir,
      DATABASE_URL: library.databaseUrl,
      VITRINE_RATE_LIMITS: 'off',
      LANG: 'de_DE.UTF-8',
    });
    expect(out).toMatch(/^PROBLEM {2}Worker: kein Prozess arbeitet Aufgaben ab/m);
    expect(out).toMatch(/^ {9}Starten Sie Vitrine/m);
    expect(out).toMatch(/^Warnung {2}Ratenbegrenzung: aus/m);
  });

  // ADMIN-7
  test('creates no library where there is none, and reports a database that cannot be reached', async () => {
    const none = join(programs, 'none');
    await expect(run({ VITRINE_DATA: none })).rejects.toThrow(
      `there is no library in ${none}; set VITRINE_DATA to where it is`,
    );
    const gone = await run({
      VITRINE_DATA: library.config.dataDir,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    });
    expect([gone.code, gone.out]).toEqual([1, expect.stringMatching(/PROBLEM {2}Database/)]);
  });
});

describe('vitrine doctor --bytes', () => {
  const clear = async () => {
    for (const table of ['assets', 'files', 'logos'] as const) await db.deleteFrom(table).execute();
  };
  beforeAll(clear);
  afterEach(clear);

  const pathOf = (key: string) => objectPath(library, key);

  async function check(options: Partial<Parameters<typeof checkBytes>[1]> = {}) {
    const lines: string[] = [];
    const report = await checkBytes(library.deps, {
      after: '',
      repair: false,
      language: 'en',
      signal: new AbortController().signal,
      print: (line) => lines.push(line),
      progress: () => {},
      ...options,
    });
    return { ...report, lines };
  }

  test('names every lost original with its assets, titles and owners', async () => {
    const texts = ['whole', 'cut short', 'missing', 'changed'].map((text) => plainText(text));
    const assets = [];
    for (const [at, bytes] of texts.entries())
      assets.push(await upload(root, bytes, { title: `Note "${at}"\u001b[2J` }, 'note.txt'));
    const [, short, missing, changed] = texts.map((bytes) => originalKey(sha256(bytes)));
    await root.ok('deleteAsset', { params: { id: assets[2]?.id ?? '' }, body: {} });
    await truncate(pathOf(short ?? ''), 3);
    await rm(pathOf(missing ?? ''));
    await writeFile(pathOf(changed ?? ''), 'CHANGED');
    const { lines, ...report } = await check();
    expect(report).toMatchObject({ files: 4, lost: 3, previews: 0, stoppedAfter: null });
    const text = lines.join('\n');
    expect(text).toContain(
      `LOST      ${short}: has 3 of 9 bytes\n  asset ${assets[1]?.id} "Note \\"1\\"\\u001b[2J" of "root"`,
    );
    expect(text).toContain(`LOST      ${missing}: missing\n  asset ${assets[2]?.id}`);
    expect(text).toMatch(/of "root", in the trash/);
    expect(text).toContain(`LOST      ${changed}: its content has changed\n  asset ${assets[3]?.id}`);
    expect(text).not.toContain(assets[0]?.id);
  });

  // LANGUAGE-7
  test('names what is lost in the language of the locale', async () => {
    const asset = await upload(root, plainText('cut short'), { title: 'Notiz' }, 'note.txt');
    const key = originalKey(asset.file_hash ?? '');
    await truncate(pathOf(key), 3);
    const { lines } = await check({ language: 'de' });
    expect(lines).toEqual([`VERLOREN  ${key}: hat 3 von 9 Bytes`, `  Asset ${asset.id} "Notiz" von "root"`]);
  });

  test('names a lost logo', async () => {
    const bytes = await png(64, 64);
    const hash = sha256(bytes);
    const row = { hash, content_type: 'image/png', width: 64, height: 64, size_bytes: bytes.length };
    await db.insertInto('logos').values(row).execute();
    expect((await check()).lines).toEqual([`LOST      ${logoKey(hash)}: missing`]);
  });

  test('reports damaged previews, and renders them again with repair, unless the original is lost', async () => {
    const bytes = await jpeg(60, 40);
    const asset = await upload(root, bytes);
    await library.runJobs();
    expect(await check()).toMatchObject({ lost: 0, previews: 0, lines: [] });
    const preview = pathOf(renditionKey(sha256(bytes), 'col.webp'));
    await truncate(preview, 10);
    const found = await check();
    expect(found).toMatchObject({ lost: 0, previews: 1, repairing: 0 });
    const line = expect.stringMatching(/col.* missing or damaged; --repair renders them again$/);
    expect(found.lines).toEqual([line]);
    expect(await check({ repair: true })).toMatchObject({ previews: 1, repairing: 1 });
    await library.runJobs();
    expect(await check()).toMatchObject({ previews: 0 });
    expect(await root.ok('getAsset', { params: { id: asset.id } })).toMatchObject({ ladder_available: true });

    await truncate(preview, 10);
    await truncate(pathOf(originalKey(sha256(bytes))), 10);
    expect(await check({ repair: true })).toMatchObject({ lost: 1, previews: 1, repairing: 0 });
  });

  test('reports where a stopped check can resume', async () => {
    const hashes: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      const bytes = plainText(`file ${at}`);
      await upload(root, bytes, {}, 'note.txt');
      hashes.push(sha256(bytes));
    }
    hashes.sort();
    for (const hash of hashes) await rm(pathOf(originalKey(hash)));
    const stop = new AbortController();
    const { signal } = stop;
    const first = await check({ signal, progress: ({ files }) => files === 2 && stop.abort() });
    expect(first).toMatchObject({ files: 2, lost: 2, stoppedAfter: hashes[1] });
    expect(await check({ after: first.stoppedAfter ?? '' })).toMatchObject({ files: 3, lost: 3 });
  });

  test('can be stopped in the middle of a long file', async () => {
    await upload(root, new Uint8Array(8 * 1024 * 1024), {}, 'long.bin');
    const stop = new AbortController();
    const report = await check({ signal: stop.signal, progress: () => stop.abort() });
    expect(report).toMatchObject({ files: 0, stoppedAfter: '' });
    expect(report.bytes).toBeLessThan(8 * 1024 * 1024);
  });

  test('exits with 1 when something is lost, beside a running library', async () => {
    const config = { ...library.config, databaseUrl: library.databaseUrl };
    const run = (...args: string[]) => runDoctor(config, ...args);
    const bytes = plainText('to be lost');
    await upload(root, bytes, {}, 'note.txt');
    const { code, out } = await run('--bytes');
    expect(code).toBe(0);
    expect(out).toMatch(/^checked: 1 file, 10 bytes; lost: 0, with damaged previews: 0$/m);
    await rm(pathOf(originalKey(sha256(bytes))));
    expect((await run('--bytes')).code).toBe(1);
    await upload(root, bytes, {}, 'note.txt');
    expect((await run('--bytes')).code).toBe(0);
    await expect(run('--repair')).rejects.toThrow('--repair and --after go with --bytes');
    await expect(run('--bytes', '--after', 'x')).rejects.toThrow('64 hex digits');
    await expect(run('--byte')).rejects.toThrow('unknown option --byte');
  });
});
