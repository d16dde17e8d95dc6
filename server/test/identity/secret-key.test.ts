import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { examineAll } from '../../src/operate/doctor/examine.ts';
import { describeKey, type KeyPlace, keepSecretKey } from '../../src/people/identity/secret-key.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { sayError } from '../../src/platform/language/sentence.ts';
import { cloneTemplate } from '../support/clone.ts';
import { openLibrary } from '../support/library.ts';

const clone = await cloneTemplate();
const { db, close } = openPool(clone.settings, 4);
afterAll(async () => {
  await close();
  await clone.drop();
});

const former = 'ab'.repeat(32);
const other = 'another-key-of-at-least-32-characters';

async function storedValue(): Promise<unknown> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', 'secret_key')
    .executeTakeFirst();
  return row?.value ?? null;
}

async function store(value: unknown): Promise<void> {
  await sql`insert into settings (key, value) values ('secret_key', ${JSON.stringify(value)}::jsonb)
    on conflict (key) do update set value = excluded.value`.execute(db);
}

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'vitrine-key-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function machine(more: Partial<KeyPlace> = {}): Promise<KeyPlace> {
  return { dataDir: await directory(), secretKey: null, databaseUrl: null, s3: null, ...more };
}

const contentOf = ({ dataDir }: KeyPlace) => readFile(join(dataDir, 'secret.key'), 'utf8');

beforeEach(async () => {
  await db.deleteFrom('settings').where('key', '=', 'secret_key').execute();
});

// RUN-41
describe('the secret key', () => {
  test('is made once for processes that start together, in a private file and not in the database', async () => {
    const place = await machine();
    const keys = await Promise.all(Array.from({ length: 6 }, () => keepSecretKey(db, place)));
    expect(new Set(keys).size).toBe(1);
    const [key = ''] = keys;
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(await contentOf(place)).toBe(`${key}\n`);
    expect((await stat(join(place.dataDir, 'secret.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(place.dataDir)).toEqual(['secret.key']);
    expect(JSON.stringify(await storedValue())).not.toContain(key);
    expect(await keepSecretKey(db, place)).toBe(key);
  });

  test('is the setting where there is one, and then there is no file', async () => {
    const place = await machine({ secretKey: other });
    expect(await keepSecretKey(db, place)).toBe(other);
    expect(await readdir(place.dataDir)).toEqual([]);
    expect(await keepSecretKey(db, await machine({ secretKey: other }))).toBe(other);
  });

  test('moves out of the database of an earlier version, also after a kill in between', async () => {
    await store(former);
    const place = await machine();
    expect(await keepSecretKey(db, place)).toBe(former);
    expect(await contentOf(place)).toBe(`${former}\n`);
    // An earlier version would make a key if there were no row, and does not start on one that is not a text.
    expect(await storedValue()).toEqual(describeKey(former));

    await store(former);
    expect(await keepSecretKey(db, place)).toBe(former);
    expect(await storedValue()).toEqual(describeKey(former));
  });

  test('moves once for processes that start together', async () => {
    await store(former);
    const place = await machine();
    const keys = await Promise.all(Array.from({ length: 6 }, () => keepSecretKey(db, place)));
    expect(keys).toEqual(Array.from({ length: 6 }, () => former));
    expect(await storedValue()).toEqual(describeKey(former));
  });

  test('stays in the database rather than being lost beside another one', async () => {
    await store(former);
    const place = await machine();
    await writeFile(join(place.dataDir, 'secret.key'), `${other}\n`, { mode: 0o600 });
    await expect(keepSecretKey(db, place)).rejects.toThrow(/secret\.key is not the key of this library/);
    await expect(keepSecretKey(db, await machine({ secretKey: other }))).rejects.toThrow(
      /^VITRINE_SECRET_KEY is not the key of this library/,
    );
    expect(await storedValue()).toBe(former);
  });

  test('of another machine is asked for in one line, and no second key is made', async () => {
    const key = await keepSecretKey(db, await machine());
    const place = await machine();
    const refused = keepSecretKey(db, place);
    await expect(refused).rejects.toThrow(
      /^there is no .*secret\.key; copy secret\.key from .*VITRINE_SECRET_KEY/,
    );
    await expect(keepSecretKey(db, { ...place, secretKey: other })).rejects.toThrow(
      /^VITRINE_SECRET_KEY is not the key of this library; copy/,
    );
    expect(await readdir(place.dataDir)).toEqual([]);
    expect(await keepSecretKey(db, { ...place, secretKey: key })).toBe(key);
    await writeFile(join(place.dataDir, 'secret.key'), key);
    expect(await keepSecretKey(db, place)).toBe(key);
  });

  test('must be set where database and files are elsewhere and the directory may be lost', async () => {
    const { s3 } = readConfig(
      { VITRINE_S3_BUCKET: 'files', VITRINE_S3_ACCESS_KEY_ID: 'id', VITRINE_S3_SECRET_ACCESS_KEY: 'secret' },
      '/',
    );
    const place = await machine({ databaseUrl: clone.url, s3 });
    await expect(keepSecretKey(db, place)).rejects.toThrow(/^set VITRINE_SECRET_KEY/);
    expect(await storedValue()).toBeNull();
    await store(former);
    expect(await keepSecretKey(db, place)).toBe(former);
    expect(await storedValue()).toBe(former);
    expect(await keepSecretKey(db, { ...place, secretKey: former })).toBe(former);
    expect(await storedValue()).toEqual(describeKey(former));
    expect(await readdir(place.dataDir)).toEqual([]);
  });

  test('is not replaced when its file is damaged', async () => {
    const place = await machine();
    await writeFile(join(place.dataDir, 'secret.key'), 'short');
    await expect(keepSecretKey(db, place)).rejects.toThrow(/secret\.key is damaged/);
    // LANGUAGE-7
    const said = await keepSecretKey(db, place).catch((error: Error) => sayError('de', error));
    expect(said).toMatch(/secret\.key ist beschädigt; stellen Sie die Datei aus einer Kopie wieder her/);
    expect(await storedValue()).toBeNull();
  });
});

// RUN-41
test('the doctor says whether the key exists, is private, and is the one of the library', async () => {
  const { deps } = await openLibrary();
  const { storage, config } = deps;
  const look = async (more: Partial<KeyPlace> = {}) => {
    const checks = await examineAll(
      { db: deps.db, storage, config: { ...config, ...more }, searchPath: '' },
      'en',
    );
    const { status, detail } = checks.find(({ code }) => code === 'secret_key') ?? {
      status: null,
      detail: '',
    };
    return [status, detail];
  };
  const file = join(config.dataDir, 'secret.key');
  expect(await look()).toEqual(['ok', expect.stringContaining(file)]);
  await chmod(file, 0o640);
  expect(await look()).toEqual(['problem', `other users of this machine may read ${file}`]);
  await chmod(file, 0o600);
  expect(await look({ secretKey: other })).toEqual(['problem', expect.stringContaining('is not the key')]);
  expect(await look({ dataDir: await directory() })).toEqual([
    'problem',
    expect.stringContaining('there is no'),
  ]);
  const key = JSON.stringify(deps.secretKey);
  await sql`update settings set value = ${key}::jsonb where key = 'secret_key'`.execute(deps.db);
  expect(await look()).toEqual(['warning', expect.stringContaining('still in the database')]);
});
