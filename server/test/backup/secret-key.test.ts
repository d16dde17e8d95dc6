import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { openService } from '../../src/boot/service.ts';
import { readKeys } from '../../src/exchange/activitypub/actors.ts';
import { readActorKeys } from '../../src/exchange/federation/keys.ts';
import { backupCommand, restoreCommand } from '../../src/operate/backup/command.ts';
import { dump } from '../../src/operate/backup/dump.ts';
import { writeManifest } from '../../src/operate/backup/manifest.ts';
import { describeKey } from '../../src/people/identity/secret-key.ts';
import { startSession } from '../../src/people/identity/sessions.ts';
import { readMail } from '../../src/people/mail/settings.ts';
import { openPair, settle, sharePost } from '../federation/installs.ts';
import { visit } from '../support/client.ts';
import { urlOf } from '../support/clone.ts';
import { sharedMedia } from '../support/library.ts';
import { signIn, totpCode } from '../support/people.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { backUp, newMachine, openBackups, scratchDirectory, settingsOfMachine } from './kit.ts';

const passphrase = 'grey heron over the weir';
const other = 'another-key-of-at-least-32-characters';

const { harbour, studio, peerOfOne } = await openPair();
const { secretKey } = harbour.deps;
await harbour.setPublicMode(true);
await harbour.root.ok('updateActivityPub', { body: { enabled: true } });
await harbour.root.ok('updateMailSettings', { body: { smtp_url: 'smtp://post:letter@mail.example' } });
const ada = await harbour.join('ada');
await ada.ok('updateFollowableAccount', { body: { followable: true } });
await sharePost(ada, peerOfOne, 'Harbour at night');
await settle(harbour, studio);
const { secret_base32: secret } = await ada.ok('enrollTwoFactor');
await ada.ok('confirmTwoFactor', { body: { code: totpCode(secret) } });

const storedKey = () => sql<{ value: unknown }>`select value from settings where key = 'secret_key'`;

afterEach(async () => {
  const record = JSON.stringify(describeKey(secretKey));
  await sql`update settings set value = ${record}::jsonb where key = 'secret_key'`.execute(harbour.deps.db);
});

/** Backs the library up with the command, as an operator does, into a directory that remains for all tests. */
async function backUpWith(backupPassphrase: string | null) {
  const directory = await temporaryDirectory();
  const lines: string[] = [];
  const config = { ...harbour.config, databaseUrl: harbour.databaseUrl, backupPassphrase };
  expect(await backupCommand(config, [directory], (line) => lines.push(line))).toBe(0);
  return { directory, said: lines.join('\n') };
}

/** Restores a backup on a new machine. */
async function restoreOn(directory: string, backupPassphrase: string | null, key: string | null = null) {
  const machine = await newMachine();
  const databaseUrl = urlOf(settingsOfMachine(machine));
  const config = {
    ...harbour.config,
    dataDir: machine.dataDir,
    databaseUrl,
    backupPassphrase,
    secretKey: key,
  };
  const lines: string[] = [];
  const restoring = restoreCommand(config, [directory], (line) => lines.push(line));
  return { machine, config, restoring, said: () => lines.join('\n') };
}

/** Returns the content of every file below a directory, decompressed. */
async function contentsOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const content = await readFile(join(parentPath, name));
      return (content[0] === 0x1f && content[1] === 0x8b ? gunzipSync(content) : content).toString('latin1');
    }),
  );
}

/** Starts the restored library. */
async function startOn({ machine, config }: Awaited<ReturnType<typeof restoreOn>>) {
  const { db, listener } = machine.database;
  const { server, deps } = await openService({
    db,
    listener,
    storage: machine.storage,
    config,
    media: sharedMedia(),
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return { address, deps, close: () => server.close() };
}

const unencrypted = await backUpWith(null);
const encrypted = await backUpWith(passphrase);

// RUN-42
test('no unencrypted backup contains the secret key, not even of a library that an earlier version made', async () => {
  expect(unencrypted.said).toContain(
    'The secret key (secret.key or VITRINE_SECRET_KEY) is not in the backup',
  );
  const text = JSON.stringify(secretKey);
  await sql`update settings set value = ${text}::jsonb where key = 'secret_key'`.execute(harbour.deps.db);
  const second = await backUpWith(null);
  for (const { directory } of [unencrypted, second]) {
    const contents = await contentsOf(directory);
    expect(contents.some((content) => content.includes('secret_key'))).toBe(true);
    expect(contents.filter((content) => content.includes(secretKey))).toEqual([]);
  }
  const restored = await restoreOn(second.directory, null, secretKey);
  expect(await restored.restoring).toBe(0);
  expect(restored.said()).not.toContain('second factors of');
});

/** Makes a backup as earlier versions did: the key is among the rows, and the manifest does not mention it. */
async function backUpAsBefore(): Promise<string> {
  const directory = await scratchDirectory();
  const text = JSON.stringify(secretKey);
  await sql`update settings set value = ${text}::jsonb where key = 'secret_key'`.execute(harbour.deps.db);
  const { manifest } = await backUp(harbour, directory);
  const repository = await openBackups(directory);
  const client = await harbour.database.pool.connect();
  const list = join(directory, 'list');
  const rows = await dump(client, repository, manifest.id, list, 'all');
  client.release(true);
  await rm(list);
  const { secretKey: _, ...earlier } = { ...manifest, ...rows };
  await writeManifest(repository, earlier);
  return directory;
}

// RUN-42
test('a backup of an earlier version has the key among its rows, so that nothing has to be entered again', async () => {
  const directory = await backUpAsBefore();
  const contents = await contentsOf(directory);
  expect(contents.some((content) => content.includes(secretKey))).toBe(true);
  const restored = await restoreOn(directory, null);
  expect(await restored.restoring).toBe(0);
  expect(restored.said()).not.toContain('missing');
  expect(restored.said()).not.toContain('removed');
  expect(restored.said()).toContain('The secret key is among the rows of this backup');

  const { address, deps, close } = await startOn(restored);
  expect(await readFile(join(restored.config.dataDir, 'secret.key'), 'utf8')).toBe(`${secretKey}\n`);
  expect((await storedKey().execute(deps.db)).rows).toMatchObject([{ value: { check: expect.any(String) } }]);
  expect((await signIn({ address }, 'ada')).status).toBe(401);
  expect(await readMail(deps)).toMatchObject({ server: { password: 'letter' } });
  await close();
});

// RUN-42
test('an encrypted backup restores the key into a private file, and every secret with it', async () => {
  const { directory, said } = encrypted;
  expect(said).not.toContain('secret key');
  const restored = await restoreOn(directory, passphrase);
  expect(await restored.restoring).toBe(0);
  expect(restored.said()).not.toMatch(/secret/i);
  const file = join(restored.config.dataDir, 'secret.key');
  expect(await readFile(file, 'utf8')).toBe(`${secretKey}\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { address, deps, close } = await startOn(restored);
  expect((await signIn({ address }, 'ada')).status).toBe(401);
  expect(await readMail(deps)).toMatchObject({ server: { password: 'letter' } });
  const keysOf = async (its: typeof deps) => (await readActorKeys(its, ada.ref))?.signingPublic;
  expect(await keysOf(deps)).toEqual(await keysOf(harbour.deps));
  await close();
});

// RUN-42
test('without its key a restored library works, has no secret that it cannot read, and says which to enter again', async () => {
  const restored = await restoreOn(unencrypted.directory, null);
  expect(await restored.restoring).toBe(0);
  const said = restored.said();
  expect(said).toContain('unless you restore again with it as VITRINE_SECRET_KEY');
  expect(said).toContain('second factors of ada: removed');
  expect(said).toContain('the mail server and its password: removed');
  expect(said).toContain(`the connections to ${studio.address} are off`);
  expect(said).toContain('the key of 1 person who is followed with ActivityPub: replaced');

  const { address, deps, close } = await startOn(restored);
  expect(deps.secretKey).not.toBe(secretKey);
  expect((await signIn({ address }, 'ada')).status).toBe(200);
  const sessionOf = async (userRef: number) => {
    const session = { userRef, days: 1, address: '127.0.0.1', userAgent: 'test' };
    return visit(address, {}, (await startSession(deps.db, session)).token);
  };
  await (await sessionOf(ada.ref)).ok('enrollTwoFactor');
  const asRoot = await sessionOf(harbour.root.ref);
  expect(await asRoot.ok('getMailSettings')).toMatchObject({ has_password: false, host: null });
  const { fingerprint } = await asRoot.ok('getFederation');
  expect(fingerprint).not.toBe((await harbour.root.ok('getFederation')).fingerprint);
  expect((await asRoot.ok('listPeers')).items).toMatchObject([
    { state: 'disabled', last_error: expect.stringContaining('connect again') },
  ]);
  // LANGUAGE-8
  const german = await asRoot.send('/admin/peers', { headers: { 'accept-language': 'de' } });
  expect(german.text).toContain('eine Wiederherstellung hat den Schlüssel dieser Bibliothek ersetzt');
  expect(await readActorKeys(deps, ada.ref)).not.toBeNull();
  const { rows } = await sql<{ id: string }>`select id from activitypub_actors`.execute(deps.db);
  expect(rows).toHaveLength(1);
  expect(await readKeys(deps, rows[0]?.id ?? '')).not.toBeNull();
  const checks = (await asRoot.ok('getDoctor')).checks;
  expect(checks.find(({ code }) => code === 'secret_key')?.status).toBe('ok');
  // It is still the same library for places with its backups.
  const [before, after] = [await storedKey().execute(harbour.deps.db), await storedKey().execute(deps.db)];
  expect(after.rows[0]?.value).toMatchObject({
    library: Reflect.get(Object(before.rows[0]?.value), 'library'),
  });
  await close();
});

// RUN-42
test('another key in the place of an encrypted backup is refused before anything is restored', async () => {
  const { directory } = encrypted;
  const refused = await restoreOn(directory, passphrase, other);
  await expect(refused.restoring).rejects.toThrow(
    'VITRINE_SECRET_KEY is not the key of the library in the backup; remove it, and restore again',
  );
  const { rowCount } = await refused.machine.pool.query("select from pg_tables where schemaname = 'public'");
  expect(rowCount).toBe(0);
  const place = await newMachine();
  await writeFile(join(place.dataDir, 'secret.key'), other);
  const config = {
    ...harbour.config,
    dataDir: place.dataDir,
    databaseUrl: urlOf(settingsOfMachine(place)),
    backupPassphrase: passphrase,
  };
  await expect(restoreCommand(config, [directory], () => {})).rejects.toThrow(/secret\.key is not the key/);
});
