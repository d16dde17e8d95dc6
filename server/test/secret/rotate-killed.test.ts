import { readdir, readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { seal } from '../../src/people/identity/seal.ts';
import { describeKey } from '../../src/people/identity/secret-key.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { cloneTemplate } from '../support/clone.ts';
import { listen } from '../support/listen.ts';
import { comeToWait } from '../support/locks.ts';
import { spawnVitrine, startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const clone = await cloneTemplate();
const { db, close } = openPool(clone.settings, 4);
const dataDir = await temporaryDirectory();
const env = { DATABASE_URL: clone.url };
const file = join(dataDir, 'secret.key');
afterAll(async () => {
  await close();
  await clone.drop();
});

const former = 'ab'.repeat(32);

async function storedValue(): Promise<unknown> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', 'secret_key')
    .executeTakeFirst();
  return row?.value ?? null;
}

const keyInFile = async () => (await readFile(file, 'utf8')).trim();

/** Locks the row of a setting until the returned function is called, so that a process waits at its change. */
async function lockSetting(key: string): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  const done = db.transaction().execute(async (tx) => {
    await sql`select from settings where key = ${key} for update`.execute(tx);
    isLocked();
    await released;
  });
  await locked;
  return () => {
    release();
    return done;
  };
}

/** Kills a command, without any notice, while it waits for a row. */
async function killAt(key: string, args: readonly string[]): Promise<void> {
  const unlock = await lockSetting(key);
  const { child, ended } = spawnVitrine(dataDir, args, env);
  expect(await comeToWait(db)).toBe(true);
  child.kill('SIGKILL');
  await ended;
  // PostgreSQL would still run the statement that waits, although its client is gone.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  await unlock();
}

/** Starts the library and stops it in order. */
async function startOnce(): Promise<void> {
  const service = await startProcess(dataDir, env);
  service.child.kill('SIGTERM');
  await service.exited;
}

// RUN-41
test('a first start that is killed between the file and the row loses nothing', async () => {
  await sql`insert into settings (key, value) values ('secret_key', ${JSON.stringify(former)}::jsonb)`.execute(
    db,
  );
  await killAt('secret_key', ['start']);
  expect(await keyInFile()).toBe(former);
  expect(await storedValue()).toBe(former);
  await startOnce();
  expect(await keyInFile()).toBe(former);
  expect(await storedValue()).toMatchObject(describeKey(former));
});

// RUN-54
test('a rotation that is killed before the database takes the key changes nothing, and can be repeated', async () => {
  const smtp_url = seal(former, 'smtp', 'smtp://post:letter@mail.example').toString('base64');
  await sql`insert into settings (key, value) values ('mail', ${JSON.stringify({ smtp_url })}::jsonb)`.execute(
    db,
  );
  await killAt('mail', ['secret', 'rotate']);
  expect(await keyInFile()).toBe(former);
  expect(await storedValue()).toMatchObject(describeKey(former));
  const next = (await readFile(`${file}.next`, 'utf8')).trim();
  await startOnce();
  expect(await keyInFile()).toBe(former);

  const { code, said } = await spawnVitrine(dataDir, ['secret', 'rotate'], env).ended;
  expect([code, said]).toEqual([0, expect.stringContaining('sealed again: address of the mail server (1)')]);
  expect(await keyInFile()).toBe(next);
  expect(await readdir(dataDir)).not.toContain('secret.key.next');
});

/** A connection to the database that kills the child as soon as a commit was confirmed, which it then never learns. */
async function openFatalRelay(target: { host: string; port: number }) {
  let victim: (() => void) | null = null;
  const relay = createServer((socket) => {
    const onward = connect(join(target.host, `.s.PGSQL.${target.port}`));
    for (const end of [socket, onward]) end.on('error', () => {});
    socket.pipe(onward);
    onward.on('data', (chunk: Buffer) => {
      if (victim !== null && chunk.includes('COMMIT\0')) victim();
      else socket.write(chunk);
    });
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  const port = await listen(relay);
  return {
    port,
    killOnCommit: (kill: () => void) => {
      victim = kill;
    },
    close: () => relay.close(),
  };
}

// RUN-54
test.each([
  ['the next start', ['start']],
  ['the next rotation', ['secret', 'rotate']],
])('a rotation that is killed before the file has the key is finished by %s', async (_, args) => {
  const before = await keyInFile();
  const relay = await openFatalRelay({ host: clone.settings.host ?? '', port: clone.settings.port ?? 5432 });
  const url = new URL(clone.url);
  url.search = '';
  url.host = `127.0.0.1:${relay.port}`;
  const unlock = await lockSetting('mail');
  const { child, ended } = spawnVitrine(dataDir, ['secret', 'rotate'], { DATABASE_URL: url.href });
  expect(await comeToWait(db)).toBe(true);
  relay.killOnCommit(() => child.kill('SIGKILL'));
  await unlock();
  await ended;
  relay.close();
  expect(child.signalCode).toBe('SIGKILL');
  const next = (await readFile(`${file}.next`, 'utf8')).trim();
  expect(await keyInFile()).toBe(before);
  expect(await storedValue()).toMatchObject({ check: describeKey(next).check });

  if (args[0] === 'start') await startOnce();
  else {
    const { code, said } = await spawnVitrine(dataDir, args, env).ended;
    expect([code, said]).toEqual([0, expect.stringContaining('finished a rotation that was interrupted')]);
  }
  expect(await keyInFile()).toBe(next);
  expect(await readdir(dataDir)).not.toContain('secret.key.next');
});
