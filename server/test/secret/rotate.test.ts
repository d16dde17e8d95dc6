import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readKeys } from '../../src/exchange/activitypub/actors.ts';
import { readInstallKey } from '../../src/exchange/federation/identity.ts';
import { readActorKeys } from '../../src/exchange/federation/keys.ts';
import { secretCommand } from '../../src/operate/secret/command.ts';
import { rotateSecretKey } from '../../src/operate/secret/rotate.ts';
import { sealedColumns } from '../../src/operate/secret/sealed-values.ts';
import { readFormerKeys } from '../../src/people/identity/former-keys.ts';
import { readProviders } from '../../src/people/identity/provider-registry.ts';
import { keepSecretKey, readKeyFile } from '../../src/people/identity/secret-key.ts';
import { readMail } from '../../src/people/mail/settings.ts';
import { unsubscribeAddress } from '../../src/people/notifications/unsubscribe.ts';
import { readPushKey } from '../../src/people/push/key.ts';
import { originalKey } from '../../src/platform/storage/object-key.ts';
import { openPair, rowsOf, settle } from '../federation/installs.ts';
import { publish, upload } from '../support/library.ts';
import { signIn, totpCode } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const { harbour, studio, peerOfOne } = await openPair();
const { deps, config } = harbour;
const [ada, bob] = [await harbour.join('ada'), await studio.join('bob')];

/** Reads the key as a start does. */
async function restart(place = config): Promise<void> {
  deps.secretKey = await keepSecretKey(deps.db, place);
  deps.formerSecretKeys = await readFormerKeys(deps.db, deps.secretKey);
}

const mirrored = async () =>
  (
    await rowsOf(
      studio,
      sql<{ id: string; hash: string }>`select id, file_hash as hash from assets where title = 'Plan'`,
    )
  )[0];
/** Returns the bytes of the shared file at the peer, fetched anew. */
async function fetched(): Promise<string> {
  const found = await mirrored();
  await studio.deps.storage.delete(originalKey(found?.hash ?? ''));
  return (await bob.send(`/assets/${found?.id}/file`)).text;
}

// RUN-54
test('the list of sealed columns is complete', async () => {
  const columns = await rowsOf(
    harbour,
    sql<{ name: string }>`select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and column_name like '%sealed%' order by 1`,
  );
  const known = sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted();
  expect(columns.map(({ name }) => name)).toEqual(known);
});

// RUN-54, PUSH-2
test('every secret, recovery code and sent address works with the next key, and restricted files reach peers', async () => {
  await harbour.setPublicMode(true);
  await harbour.root.ok('updateActivityPub', { body: { enabled: true } });
  await harbour.root.ok('updateMailSettings', { body: { smtp_url: 'smtp://post:letter@mail.example' } });
  await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
  const provider = { name: 'studio', kind: 'oidc', label: 'Studio', client_id: 'vitrine' } as const;
  const secrets = { issuer: 'https://login.example', client_secret: 'of the client' };
  await harbour.root.ok('createProvider', { body: { ...provider, ...secrets } });
  await ada.ok('updateFollowableAccount', { body: { followable: true } });
  // Larger than what is kept in memory.
  const content = plainFile('plan'.repeat(20_000));
  const asset = await upload(ada, content, { title: 'Plan', sensitivity: 'restricted' });
  const post = await publish(ada, [asset], { title: 'Restricted' });
  const params = { id: post.id, peer_id: peerOfOne };
  await ada.ok('putPostPeer', { params, body: { person: 'bob', confirm_sensitive: true } });
  await settle(harbour, studio);
  await harbour.root.ok('rotateInstallKey');
  await settle(harbour, studio);
  const { url } = await ada.ok('createPostLink', { params: { id: post.id }, body: {} });
  const { secret_base32: secret } = await ada.ok('enrollTwoFactor');
  const { recovery_codes: codes } = await ada.ok('confirmTwoFactor', { body: { code: totpCode(secret) } });
  const address = unsubscribeAddress(deps.secretKey, harbour.address, ada.ref);
  const expected = Buffer.from(content).toString();
  expect((await fetched()) === expected).toBe(true);

  const read = async () => {
    const { rows } = await sql<{ id: string }>`select id from activitypub_actors`.execute(deps.db);
    const actor = await readKeys(deps, rows[0]?.id ?? '');
    return {
      mail: (await readMail(deps))?.server,
      provider: (await readProviders(deps)).map((one) =>
        one.kind === 'oidc' ? one.clientSecret : one.decryption,
      ),
      install: (await readInstallKey(deps)).publicKey,
      push: await readPushKey(deps),
      person: (await readActorKeys(deps, ada.ref))?.signingPrivate.export({ type: 'pkcs8', format: 'pem' }),
      actor: actor !== null,
      links: (await ada.ok('listOwnLinks')).items.map((link) => link.url),
    };
  };
  const before = await read();
  expect(before.links).toEqual([url]);
  const former = deps.secretKey;
  for (let round = 0; round < 2; round += 1) {
    const { sealed } = await rotateSecretKey(deps.db, config, null);
    expect(sealed?.filter(({ count }) => count === 0)).toEqual([]);
    await restart();
    expect(await read()).toEqual(before);
  }
  expect(deps.secretKey).not.toBe(former);
  expect(deps.formerSecretKeys).toContain(former);
  await settle(harbour, studio);
  expect((await fetched()) === expected).toBe(true);

  const later = totpCode(secret, Date.now() + 30_000);
  expect((await signIn(harbour, 'ada', undefined, later)).status).toBe(200);
  expect((await signIn(harbour, 'ada', undefined, codes[0])).status).toBe(200);
  expect((await signIn(harbour, 'ada', undefined, codes[0])).status).toBe(401);
  expect((await fetch(address)).status).toBe(200);
  const inDatabase = await rowsOf(harbour, sql<{ text: string }>`select value::text as text from settings`);
  expect(inDatabase.filter(({ text }) => text.includes(former) || text.includes(deps.secretKey))).toEqual([]);
});

// RUN-54
test('VITRINE_SECRET_KEY replaces the key of a file, and another setting the first one', async () => {
  const [one, two] = ['first-key-of-at-least-32-characters', 'second-key-of-at-least-32-characters'];
  const place = { ...config, secretKey: one };
  const first = await rotateSecretKey(deps.db, place, null);
  expect(first).toMatchObject({ source: 'VITRINE_SECRET_KEY', isFinished: false });
  expect(await rotateSecretKey(deps.db, place, null)).toMatchObject({ sealed: null });
  await restart(place);
  expect((await readMail(deps))?.server).toMatchObject({ password: 'letter' });

  const next = { ...config, secretKey: two };
  const file = join(await temporaryDirectory(), 'former');
  await expect(rotateSecretKey(deps.db, next, null)).rejects.toThrow(
    /secret\.key is not the key of this library; name a file with the present key: --former FILE/,
  );
  await expect(secretCommand(config, ['rotate', '--former', file], () => {})).rejects.toThrow(
    `there is no file ${file}`,
  );
  await writeFile(file, `${one}\n`);
  await rotateSecretKey(deps.db, next, await readKeyFile(file));
  await restart(next);
  expect((await readMail(deps))?.server).toMatchObject({ password: 'letter' });
});

// RUN-54
test('a secret that cannot be read stops the rotation before anything changes', async () => {
  const place = { ...config, secretKey: deps.secretKey };
  const stored = sql<{ value: unknown }>`select key, value from settings order by key`;
  const before = await rowsOf(harbour, stored);
  const { rows } = await sql<{ sealed: Buffer }>`select sealed_secret as sealed from two_factor`.execute(
    deps.db,
  );
  await sql`update two_factor set sealed_secret = decode(repeat('00', 60), 'hex')`.execute(deps.db);
  const file = join(await temporaryDirectory(), 'former');
  await writeFile(file, deps.secretKey);
  await expect(
    rotateSecretKey(deps.db, { ...config, secretKey: null }, await readKeyFile(file)),
  ).rejects.toThrow('second factors: one cannot be read with the present key; nothing was changed');
  expect(await rowsOf(harbour, stored)).toEqual(before);
  await sql`update two_factor set sealed_secret = ${rows[0]?.sealed}`.execute(deps.db);
  // The setting back to the file.
  const { sealed } = await rotateSecretKey(deps.db, { ...config, secretKey: null }, await readKeyFile(file));
  expect(sealed).not.toBeNull();
  await restart();
  expect(await readFile(join(config.dataDir, 'secret.key'), 'utf8')).toBe(`${deps.secretKey}\n`);
  expect(deps.secretKey).not.toBe(place.secretKey);
});

// RUN-54
test('the command refuses a library that is served', async () => {
  const own = { ...config, databaseUrl: harbour.databaseUrl };
  const key = deps.secretKey;
  await expect(secretCommand(own, ['rotate'], () => {})).rejects.toThrow(
    'processes of this library are running; stop all of them, also workers',
  );
  await expect(secretCommand(own, ['turn'], () => {})).rejects.toThrow('vitrine secret rotate');
  await expect(secretCommand(own, ['rotate', '--older'], () => {})).rejects.toThrow(/--older/);
  expect(await keepSecretKey(deps.db, config)).toBe(key);
});
