import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { reportAtStart } from '../../src/operate/doctor/at-start.ts';
import { rememberBucket } from '../../src/operate/storage/buckets.ts';
import { examineAddresses } from '../../src/platform/database/open.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { objectPath, openLibrary, upload } from '../support/library.ts';
import { plainText, sha256 } from '../support/pictures.ts';
import { bin, startProcess } from '../support/process.ts';
import { freePort } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Runs `vitrine` in a directory, with these settings only. */
async function vitrine(cwd: string, args: readonly string[], settings: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [bin, ...args], { cwd, env: { PATH, HOME, ...settings } });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, 'close');
  return { code, out: await out, err: await err };
}

const users = join(await temporaryDirectory(), 'users.csv');
await writeFile(users, 'username,password\n');

const commands = [
  ['worker'],
  ['import', '.'],
  ['import-users', users],
  ['doctor'],
  ['backup', 'backups'],
  ['storage', 'check'],
  ['secret', 'rotate'],
  ['upgrade', '--discard-old'],
];

describe('a command', () => {
  // RUN-31
  test.each(commands)('creates no library where there is none: %s', async (...args) => {
    const directory = await temporaryDirectory();
    const { code, err } = await vitrine(directory, args);
    expect([code, err]).toEqual([1, expect.stringContaining('there is no library in ')]);
    expect(await readdir(directory)).toEqual([]);
  });

  test.each([
    ['--help'],
    ['start', '--help'],
    ['restore', '--help'],
    ['schema', '--help'],
    ['backup', 'list', '--help'],
  ])('describes itself and does nothing else: %s %s', async (...args) => {
    const directory = await temporaryDirectory();
    const { code, out, err } = await vitrine(directory, args);
    expect([code, out, err]).toEqual([0, expect.stringMatching(/^Usage: vitrine /), '']);
    expect(await readdir(directory)).toEqual([]);
  });

  // RUN-30
  test.skipIf(process.getuid?.() !== 0)('that root runs leaves no file of root in the library', async () => {
    const nobody = 65_534;
    const library = await openLibrary();
    const dataDir = join(await temporaryDirectory(), 'data');
    await mkdir(join(dataDir, 'library'), { recursive: true });
    for (const path of [dataDir, join(dataDir, 'library')]) await chown(path, nobody, nobody);
    const settings = { VITRINE_DATA: dataDir, DATABASE_URL: library.databaseUrl };
    const { err } = await vitrine(dataDir, ['storage', 'gc'], settings);
    expect(err).toMatch(/continuing as \S+, the owner of|belongs to \S+, who may not read/);
    const paths = await readdir(dataDir, { recursive: true });
    const owners = await Promise.all(paths.map(async (path) => (await stat(join(dataDir, path))).uid));
    expect(new Set(owners)).toEqual(new Set([nobody]));
  });
});

// RUN-36
test('the doctor refuses a direct address that leads to another database, as a start does', async () => {
  const [library, other] = [await openLibrary(), await openLibrary()];
  await expect(examineAddresses(library.databaseUrl, other.databaseUrl)).rejects.toThrow(
    /VITRINE_DATABASE_DIRECT_URL/,
  );
});

// STORAGE-6
test('a start logs that files are in a bucket that is no longer configured', async () => {
  const library = await openLibrary();
  const mara = await library.join('mara');
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
  const deps = { ...library.deps, log };
  const bytes = plainText('kept in a bucket');
  await upload(mara, bytes);
  await reportAtStart(deps);
  expect(lines).toEqual([]);

  await rm(objectPath(library, originalKey(sha256(bytes))));
  await rememberBucket(library.deps.db, {
    endpoint: null,
    region: 'us-east-1',
    bucket: 'former-files',
    prefix: '',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
    forcePathStyle: false,
    redirectSeconds: 0,
    publicEndpoint: null,
    writes: true,
  });
  await reportAtStart(deps);
  expect(lines).toEqual([expect.stringContaining('it may be in the bucket former-files')]);
});

// RUN-35
test('a start logs the loss of its replica as JSON', async () => {
  const library = await openLibrary();
  const dataDir = await temporaryDirectory();
  const port = await freePort();
  const service = await startProcess(dataDir, {
    DATABASE_URL: library.databaseUrl,
    VITRINE_SECRET_KEY: library.deps.secretKey,
    VITRINE_DATABASE_REPLICA_URL: `postgres://nobody@127.0.0.1:${port}/vitrine`,
  });
  try {
    const about = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('replica'));
    await expect.poll(about).not.toEqual([]);
    for (const line of about()) expect(JSON.parse(line)).toMatchObject({ part: 'database' });
  } finally {
    service.child.kill('SIGKILL');
    await service.exited;
  }
});
