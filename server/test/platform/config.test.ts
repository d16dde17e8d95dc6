import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Config, ConfigError, readConfig } from '../../src/config.ts';

let empty: string;
let furnished: string;

beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), 'vitrine-config-'));
  furnished = await mkdtemp(join(tmpdir(), 'vitrine-config-'));
});

afterAll(async () => {
  for (const directory of [empty, furnished]) await rm(directory, { recursive: true });
});

const reachable = () => true;
const read = (env: Record<string, string>, directory = empty): Config =>
  readConfig(env, directory, reachable);

/** The message of the refusal, which is all that the start prints. */
function refusalOf(env: Record<string, string>, directory = empty): string {
  try {
    read(env, directory);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify(env)} is accepted`);
}

describe('settings (choices, settings)', () => {
  test('have their defaults', () => {
    expect(read({})).toEqual({
      host: '127.0.0.1',
      port: 8420,
      dataDir: join(empty, 'data'),
      baseUrl: null,
      databaseUrl: null,
      postgresBinDir: null,
      admin: null,
      scrambleKey: null,
      logLevel: 'info',
      rateLimits: true,
      maxFileBytes: 20 * 1024 ** 3,
      sessionDays: 30,
    });
  });

  test('are all read', () => {
    expect(
      read({
        VITRINE_HOST: '0.0.0.0',
        VITRINE_PORT: '80',
        VITRINE_DATA: '/srv/pictures',
        VITRINE_BASE_URL: 'https://pictures.example/',
        VITRINE_POSTGRES_BIN: '/usr/lib/postgresql/18/bin',
        VITRINE_ADMIN_USERNAME: 'root',
        VITRINE_ADMIN_PASSWORD: 'a long password',
        VITRINE_SCRAMBLE_KEY: 'secret',
        VITRINE_LOG_LEVEL: 'warn',
        VITRINE_RATE_LIMITS: 'off',
        VITRINE_MAX_FILE_BYTES: '1000',
        VITRINE_SESSION_DAYS: '7',
        DATABASE_URL: 'postgres://vitrine@localhost/vitrine',
      }),
    ).toEqual({
      host: '0.0.0.0',
      port: 80,
      dataDir: '/srv/pictures',
      baseUrl: 'https://pictures.example',
      databaseUrl: 'postgres://vitrine@localhost/vitrine',
      postgresBinDir: '/usr/lib/postgresql/18/bin',
      admin: { username: 'root', password: 'a long password' },
      scrambleKey: 'secret',
      logLevel: 'warn',
      rateLimits: false,
      maxFileBytes: 1000,
      sessionDays: 7,
    });
  });

  test('a data directory is taken from where the command is run', () => {
    expect(read({ VITRINE_DATA: 'library' }).dataDir).toBe(join(empty, 'library'));
    expect(read({ VITRINE_DATA: '../library' }).dataDir).toBe(join(empty, '../library'));
  });

  test('the database’s user decides where the library lives by default, for root alone', () => {
    const isRoot = process.getuid?.() === 0;
    const { dataDir } = readConfig({}, empty, () => false);
    expect(dataDir).toBe(isRoot ? '/var/lib/vitrine' : join(empty, 'data'));
    expect(readConfig({ VITRINE_DATA: 'here' }, empty, () => false).dataDir).toBe(join(empty, 'here'));
  });

  test('an empty value is none, and other programs’ settings are none of ours', () => {
    const env = { VITRINE_PORT: '', DATABASE_URL: '', VITRINE_ADMIN_USERNAME: '', PORT: '1', VITRINES: 'x' };
    expect(read(env)).toEqual(read({}));
  });

  test.each([
    ['VITRINE_PORT', 'eighty'],
    ['VITRINE_PORT', '-1'],
    ['VITRINE_PORT', '65536'],
    ['VITRINE_PORT', '80.5'],
    ['VITRINE_PORT', '8e3'],
    ['VITRINE_PORT', '0x50'],
    ['VITRINE_PORT', ' 80'],
    ['VITRINE_PORT', '80\n81'],
    ['VITRINE_BASE_URL', 'pictures.example'],
    ['VITRINE_BASE_URL', 'ftp://pictures.example'],
    ['VITRINE_BASE_URL', 'javascript:alert(1)'],
    ['VITRINE_BASE_URL', 'https://'],
    ['VITRINE_LOG_LEVEL', 'loud'],
    ['VITRINE_LOG_LEVEL', 'INFO'],
    ['VITRINE_RATE_LIMITS', 'false'],
    ['VITRINE_RATE_LIMITS', 'no\nreally'],
    ['VITRINE_MAX_FILE_BYTES', '0'],
    ['VITRINE_MAX_FILE_BYTES', '20 GB'],
    ['VITRINE_MAX_FILE_BYTES', '99999999999999999999'],
    ['VITRINE_SESSION_DAYS', '0'],
    ['VITRINE_SESSION_DAYS', '3651'],
    ['VITRINE_SESSION_DAYS', 'forever'],
    ['DATABASE_URL', 'mysql://localhost/vitrine'],
    ['DATABASE_URL', 'localhost'],
  ])('%s=%j stops the start with one line that says which', (name, value) => {
    const message = refusalOf({ [name]: value });
    expect(message).toContain(name);
    expect(message).not.toMatch(/[\r\n]/);
  });

  test('half an administrator stops the start', () => {
    for (const half of [{ VITRINE_ADMIN_USERNAME: 'root' }, { VITRINE_ADMIN_PASSWORD: 'secret words' }]) {
      const message = refusalOf(half);
      expect(message).toContain('VITRINE_ADMIN_USERNAME and VITRINE_ADMIN_PASSWORD');
      expect(message).not.toMatch(/\n|secret words/);
    }
  });

  test.each(['VITRINE_PROT', 'VITRINE_', 'VITRINE_port', 'VITRINE_ADMIN', 'VITRINE_PORT_'])(
    'an unknown name %s stops the start, even with an empty value',
    (name) => {
      expect(refusalOf({ [name]: '1' })).toBe(`unknown setting ${name}`);
      expect(refusalOf({ [name]: '' })).toBe(`unknown setting ${name}`);
    },
  );
});

describe('vitrine.env', () => {
  const keep = (text: string) => writeFile(join(furnished, 'vitrine.env'), text);

  test('is read from the working directory, and the environment wins over it', async () => {
    await keep(
      '# ours\nVITRINE_PORT=9000\nVITRINE_HOST="::1"\nDATABASE_URL=postgresql://db/vitrine\nOTHER=1\n',
    );
    expect(read({}, furnished)).toMatchObject({
      port: 9000,
      host: '::1',
      databaseUrl: 'postgresql://db/vitrine',
      dataDir: join(furnished, 'data'),
    });
    expect(read({ VITRINE_PORT: '9001', DATABASE_URL: 'postgres://env/x' }, furnished)).toMatchObject({
      port: 9001,
      host: '::1',
      databaseUrl: 'postgres://env/x',
    });
  });

  test('is held to the same rules', async () => {
    await keep('VITRINE_PROT=9000\n');
    expect(refusalOf({}, furnished)).toBe('unknown setting VITRINE_PROT');
    await keep('VITRINE_PORT=ninety\n');
    expect(refusalOf({}, furnished)).toContain('VITRINE_PORT');
    expect(read({ VITRINE_PORT: '90' }, furnished).port).toBe(90);
    await keep('VITRINE_ADMIN_USERNAME=root\n');
    expect(refusalOf({}, furnished)).toContain('go together');
    expect(read({ VITRINE_ADMIN_PASSWORD: 'long enough' }, furnished).admin).toEqual({
      username: 'root',
      password: 'long enough',
    });
  });
});
