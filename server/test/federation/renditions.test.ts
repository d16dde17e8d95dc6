import { createHash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { bytesKey, decryptBytes, labelOf } from '../../src/exchange/federation/files/encrypted-bytes.ts';
import { hashRenditionsOf } from '../../src/exchange/federation/files/hash-renditions.ts';
import { getBytes } from '../../src/exchange/federation/outbound.ts';
import type { OutboxRow } from '../../src/exchange/federation/outbox-row.ts';
import { casUri, parseCasUri } from '../../src/exchange/federation/protocol/addresses.ts';
import { renderChange } from '../../src/exchange/federation/render.ts';
import { requestAs } from '../support/client.ts';
import { formOf, publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import {
  envelopeOf,
  type Install,
  identityOf,
  memberOf,
  openPair,
  reasonOf,
  rowsOf,
  send,
  settle,
  skipPauses,
} from './installs.ts';

const { harbour, studio, peerOfOne } = await openPair();
const [alice, bob] = [await harbour.join('alice'), await studio.join('bob')];

interface Stored {
  object: string;
  type: string;
  bytes: number;
  sha256?: string;
}

interface WireAsset {
  url: string;
  updated: string;
  renditions: Record<string, { url: string }>;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let pictures = 0;
/** Publishes a picture of alice whose previews are made, and shares it unless `isShared` is false. */
async function picture(title: string, { isShared = true, sensitivity = 'posts' } = {}) {
  pictures += 1;
  const asset = await upload(alice, await jpeg(640, 480, { seed: pictures }), { sensitivity, title });
  const post = await publish(alice, [asset], { title });
  await harbour.runJobs();
  const body = sensitivity === 'restricted' ? { person: 'bob', confirm_sensitive: true } : {};
  if (isShared) await alice.ok('putPostPeer', { params: { id: post.id, peer_id: peerOfOne }, body });
  return { id: asset.id, hash: asset.file_hash ?? '', post: post.id };
}

/** Returns the renditions of an asset, as an install stores them. */
async function renditionsOf(install: Install, id: string): Promise<Record<string, Stored>> {
  const [file] = await rowsOf(
    install,
    sql<{ renditions: Record<string, Stored> }>`select f.renditions from assets a
      join files f on f.hash = a.file_hash where a.id = ${id}`,
  );
  return file?.renditions ?? {};
}

async function storedBytes({ deps }: Install, { object, bytes }: Stored): Promise<Buffer> {
  return Buffer.concat(await (await deps.storage.get(object, bytes)).toArray());
}

/** Requests bytes from the harbour as the studio does. */
async function fetched(path: string): Promise<Buffer> {
  const address = `${harbour.address}/assets/${path}`;
  return Buffer.concat(await (await getBytes(studio.deps, await identityOf(studio), address)).toArray());
}

/** Returns the asset of a post as the harbour sends it. */
async function announcedAsset(post: string): Promise<{ object: object; asset: WireAsset }> {
  const [row] = await rowsOf(
    harbour,
    sql<OutboxRow>`select * from federation_outbox where kind = 'post' and object_id = ${post}
      and activity in ('create', 'update') order by seq desc limit 1`,
  );
  if (row === undefined) throw new Error('the post was not shared');
  const { envelope } = await renderChange(harbour.deps, await identityOf(harbour), row);
  const { object } = JSON.parse(envelope ?? '{}');
  return { object, asset: object.members[0] };
}

/** Sends the post of a picture with other addresses of its bytes, and lets the studio fetch what it names. */
async function announceWith(post: string, urlOf: (url: string, asset: WireAsset) => string): Promise<void> {
  const { object, asset } = await announcedAsset(post);
  const renditions = Object.entries(asset.renditions).map(([key, one]) => [
    key,
    { ...one, url: urlOf(one.url, asset) },
  ]);
  const updated = new Date(Date.now() + 1000).toISOString();
  const member = {
    ...asset,
    url: urlOf(asset.url, asset),
    updated,
    renditions: Object.fromEntries(renditions),
  };
  const body = { type: 'Create', object: { ...object, updated, members: [member] } };
  await send(harbour, studio, await envelopeOf(harbour, alice, body));
  await studio.runJobs();
}

/** Replaces the stored bytes of a rendition. */
async function overwrite({ deps }: Install, object: string, bytes: Uint8Array): Promise<void> {
  const path = join(deps.storage.incomingDir, randomUUID());
  await writeFile(path, bytes);
  await deps.storage.adopt(path, object);
}

// FED-96
test('renditions are announced with their own hash, size and type, and fetched by that hash', async () => {
  const { id, hash, post } = await picture('Quay');
  await settle(harbour, studio);
  const { asset } = await announcedAsset(post);
  const stored = await renditionsOf(harbour, id);
  expect(Object.keys(asset.renditions).toSorted()).toEqual(Object.keys(stored).toSorted());
  expect(Object.keys(stored)).toContain('col');
  for (const [key, { url }] of Object.entries(asset.renditions)) {
    const bytes = await fetched(`${parseCasUri(url)?.hash}/bytes`);
    expect(parseCasUri(url)).toEqual({
      hash: sha256(bytes),
      contentType: stored[key]?.type,
      size: bytes.length,
    });
    expect((await fetched(`${hash}/bytes?variant=${key}`)).equals(bytes)).toBe(true);
  }
  const mirrored = await renditionsOf(studio, await memberOf(bob, 'Quay'));
  expect(mirrored.col?.sha256).toBe(parseCasUri(asset.renditions.col?.url ?? '')?.hash);
});

// FED-96, FED-40
test('a rendition is served by its hash as long as its asset is shared', async () => {
  const { id, post } = await picture('Withdrawn');
  const other = await picture('Kept back', { isShared: false });
  await settle(harbour, studio);
  const { sha256: own } = (await renditionsOf(harbour, id)).col ?? {};
  expect((await fetched(`${own}/bytes`)).length).toBeGreaterThan(0);
  const kept = (await renditionsOf(harbour, other.id)).col;
  const hidden = sha256(await storedBytes(harbour, kept ?? { object: '', type: '', bytes: 0 }));
  await sql`update files set renditions = jsonb_set(renditions, '{col,sha256}', ${JSON.stringify(hidden)}::jsonb)
    where hash = ${other.hash}`.execute(harbour.database.db);
  expect(await reasonOf(fetched(`${hidden}/bytes`))).toBe('unshared_object');
  await alice.ok('deletePostPeer', { params: { id: post, peer_id: peerOfOne } });
  expect(await reasonOf(fetched(`${own}/bytes`))).toBe('unshared_object');
});

// FED-96
test('a rendition of the announced size with other bytes is neither kept nor served, and is fetched later', async () => {
  const { id, hash, post } = await picture('Tampered');
  await announcedAsset(post);
  const { col } = await renditionsOf(harbour, id);
  if (col === undefined) throw new Error('the picture has no preview');
  const right = await storedBytes(harbour, col);
  const wrong = `${col.object}.wrong`;
  await overwrite(harbour, wrong, Buffer.alloc(right.length, 1));
  const serve = (object: string) =>
    sql`update files set renditions = jsonb_set(renditions, '{col,object}', ${JSON.stringify(object)}::jsonb)
      where hash = ${hash}`.execute(harbour.database.db);
  await serve(wrong);
  await settle(harbour, studio);

  const mirror = await memberOf(bob, 'Tampered');
  const before = await renditionsOf(studio, mirror);
  expect(before.col).toBeUndefined();
  expect(Object.keys(before).length).toBeGreaterThan(0);
  expect(await bob.status('GET', `/assets/${mirror}/variants/col`)).toBe(404);
  expect(await bob.ok('getAsset', { params: { id: mirror } })).toMatchObject({
    processing_status: 'pending',
  });

  await serve(col.object);
  await skipPauses(studio);
  await studio.runJobs();
  expect((await renditionsOf(studio, mirror)).col?.sha256).toBe(sha256(right));
  expect(await bob.ok('getAsset', { params: { id: mirror } })).toMatchObject({ processing_status: 'ready' });
});

// FED-96
test('renditions that an older peer names by the hash of the original are fetched by their key', async () => {
  const { id, post } = await picture('Old');
  const urlOf = (url: string, asset: WireAsset) => {
    const [own, original] = [parseCasUri(url), parseCasUri(asset.url)];
    if (own === null || original === null) throw new Error('not the address of bytes');
    return casUri({ hash: original.hash, contentType: own.contentType ?? '', size: own.size ?? 0 });
  };
  await harbour.runJobs();
  await sql`update files set renditions = '{}' where origin_peer_id is not null`.execute(studio.database.db);
  await announceWith(post, urlOf);
  const [here, there] = [
    await renditionsOf(studio, await memberOf(bob, 'Old')),
    await renditionsOf(harbour, id),
  ];
  expect(Object.keys(here)).toContain('col');
  for (const [key, { sha256: hash }] of Object.entries(here))
    expect([key, hash]).toEqual([key, there[key]?.sha256]);
});

// FED-97
test('bytes that are named without type and size are fetched and shown', async () => {
  const { id, hash, post } = await picture('Bare');
  const share = {
    type: 'aa:Share',
    object_kind: 'post',
    object: `${harbour.address}/posts/${post}`,
    target_peer: studio.address,
    scope: 'view',
  };
  await send(harbour, studio, await envelopeOf(harbour, alice, share));
  await announceWith(post, (url) => url.replace(/\?.*$/, ''));
  const mirror = await memberOf(bob, 'Bare');
  const [here, there] = [await renditionsOf(studio, mirror), await renditionsOf(harbour, id)];
  expect(here.col).toMatchObject({ type: there.col?.type, bytes: there.col?.bytes });
  expect(await bob.ok('getAsset', { params: { id: mirror } })).toMatchObject({ processing_status: 'ready' });
  expect(await bob.status('GET', `/assets/${mirror}/file`)).toBe(200);
  const sizes = await rowsOf(
    studio,
    sql<{ same: boolean }>`select size_bytes > 0 as same from files where origin_hash = ${hash}`,
  );
  expect(sizes).toEqual([{ same: true }]);
  expect(await bob.status('GET', `/assets/${mirror}/file`)).toBe(200);
});

// FED-54, FED-96
test('renditions of restricted content are verified, and encrypted under their own hash, too', async () => {
  await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
  const { id, hash } = await picture('Secret', { sensitivity: 'restricted' });
  await settle(harbour, studio);
  const { col } = await renditionsOf(harbour, id);
  if (col?.sha256 === undefined) throw new Error('the preview has no hash');
  const mirrored = await renditionsOf(studio, await memberOf(bob, 'Secret'));
  expect(mirrored.col?.sha256).toBe(col.sha256);
  expect(await reasonOf(fetched(`${col.sha256}/bytes`))).toBe('unshared_object');
  const key = bytesKey(harbour.deps.secretKey, peerOfOne, hash);
  const address = `${harbour.address}/assets/${col.sha256}/bytes?encrypted=1`;
  const sent = await getBytes(studio.deps, await identityOf(studio), address);
  const plain = await decryptBytes(sent, key, labelOf(col.sha256, null, 0)).toArray();
  expect(sha256(Buffer.concat(plain))).toBe(col.sha256);
});

// FED-96
test('a rendition that is made again while it is hashed gets the hash of its new bytes', async () => {
  const { id, hash } = await picture('Anew', { isShared: false });
  const { col } = await renditionsOf(harbour, id);
  if (col === undefined) throw new Error('the picture has no preview');
  const { db } = harbour.database;
  const { storage } = harbour.deps;
  const fresh = Buffer.alloc(col.bytes, 2);
  let isReplaced = false;
  const replacing = {
    ...storage,
    get: async (...wanted: Parameters<typeof storage.get>) => {
      const [object] = wanted;
      const bytes = await storage.get(...wanted);
      if (object !== col.object || isReplaced) return bytes;
      isReplaced = true;
      await overwrite(harbour, object, fresh);
      await sql`update files set media = media where hash = ${hash}`.execute(db);
      return bytes;
    },
  };
  const change: Pick<OutboxRow, 'activity' | 'kind' | 'object_id'> = {
    activity: 'update',
    kind: 'asset',
    object_id: id,
  };
  await hashRenditionsOf({ db, storage: replacing }, change);
  expect((await renditionsOf(harbour, id)).col?.sha256).toBe(sha256(fresh));
});

// VERSION-11
test('a new version of a shared file reaches the mirror as an update, and earlier versions never do', async () => {
  const { id, hash } = await picture('Replaced');
  await settle(harbour, studio);
  const mirror = await memberOf(bob, 'Replaced');
  const next = await jpeg(320, 240, { seed: 1000 });
  await alice.ok('addAssetVersion', { params: { id }, body: formOf(next) });
  await harbour.runJobs();
  await settle(harbour, studio);
  expect(await memberOf(bob, 'Replaced')).toBe(mirror);
  const shown = await bob.ok('getAsset', { params: { id: mirror } });
  expect(shown).toMatchObject({ processing_status: 'ready', pixel_width: 320, preview_available: true });
  const file = await requestAs(bob, studio, `/assets/${mirror}/file`);
  expect(sha256(await file.bytes())).toBe(sha256(next));
  expect(await reasonOf(fetched(`${hash}/bytes`))).toBe('unshared_object');
  expect((await bob.refused('listAssetVersions', { params: { id: mirror } })).status).toBe(404);
});
