import { createHash } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { leftOutName } from '@vitrine/contract/archives';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { writeSetting } from '../../src/core/settings.ts';
import { checkBytes } from '../../src/operate/doctor/bytes.ts';
import { type Account, publish, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { countObjects, keepFederation, memberOf, openInstall, pair, settle, sharePost } from './installs.ts';

/** Relays connections to a local address, and breaks each one after `limit.bytes` bytes of its responses. */
async function openFlakyRelay(target: string) {
  const limit = { bytes: Number.POSITIVE_INFINITY, broken: 0, beforeBreak: async () => {} };
  const sockets = new Set<Socket>();
  const relay = createServer((socket) => {
    const onward = connect(Number(new URL(target).port), '127.0.0.1');
    let passed = 0;
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        socket.destroy();
        onward.destroy();
      });
    }
    socket.pipe(onward);
    onward.on('data', (chunk) => {
      passed += chunk.length;
      if (passed <= limit.bytes) return socket.write(chunk);
      onward.pause();
      limit.broken += 1;
      return limit.beforeBreak().finally(() => socket.destroySoon());
    });
  });
  await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    limit,
    close: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}

const harbour = await openInstall('Harbour');
const studio = await openInstall('Studio', { VITRINE_FEDERATION_CACHE_BYTES: '0' });
const relay = await openFlakyRelay(harbour.address);
await writeSetting(harbour.database.db, 'base_url', relay.address);
const { peerOfOne, peerOfOther } = await pair(harbour, studio);
const [alice, bob] = [await harbour.join('alice'), await studio.join('bob')];
afterAll(() => relay?.close());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

// FED-43
test('fetched originals are removed when they take more room than allowed, and fetched again', async () => {
  await sharePost(alice, peerOfOne, 'Quay');
  await settle(harbour, studio);
  const address = `/assets/${await memberOf(bob, 'Quay')}/file`;
  const originals = () => countObjects(studio, 'originals');
  expect(await originals()).toBe(0);
  expect([await bob.status('GET', address), await originals()]).toEqual([200, 1]);
  await keepFederation(studio);
  expect(await originals()).toBe(0);
  expect(await bob.status('GET', address)).toBe(200);
});

// FED-44
test('the download of an original resumes after an interruption, encrypted or not, unless its share has ended', async () => {
  /** About 500 kB in which every line differs. */
  const longText = (name: string) =>
    Array.from({ length: 18_000 }, (_, line) => `${name} of harbour, line ${line}\n`).join('');
  await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
  for (const title of ['posts', 'restricted', 'withdrawn']) {
    const sensitivity = title === 'restricted' ? 'restricted' : 'posts';
    const asset = await upload(alice, plainFile(longText(title)), { sensitivity });
    const post = await publish(alice, [asset], { title });
    await alice.ok('putPostPeer', {
      params: { id: post.id, peer_id: peerOfOne },
      body: { person: 'bob', confirm_sensitive: true },
    });
  }
  await settle(harbour, studio);
  const fetched = async (title: string) => bob.send(`/assets/${await memberOf(bob, title)}/file`);

  const { limit } = relay;
  limit.bytes = 150_000;
  for (const title of ['posts', 'restricted']) {
    limit.broken = 0;
    const { status, text } = await fetched(title);
    expect([title, status, text.slice(2) === longText(title)]).toEqual([title, 200, true]);
    expect(limit.broken).toBeGreaterThanOrEqual(3);
  }

  limit.beforeBreak = async () => {
    const { db } = harbour.database;
    await sql`update federation_shares set revoked_at = now() where revoked_at is null`.execute(db);
  };
  limit.broken = 0;
  expect((await fetched('withdrawn')).status).toBe(503);
  expect(limit.broken).toBe(1);
  limit.bytes = Number.POSITIVE_INFINITY;
});

// DOWNLOAD-3, FED-43
test('a download in another form fetches the original, also after it was removed', async () => {
  const asset = await upload(alice, await jpeg(320, 240, { seed: 3 }), { sensitivity: 'posts' });
  const post = await publish(alice, [asset], { title: 'Pier' });
  await alice.ok('putPostPeer', { params: { id: post.id, peer_id: peerOfOne }, body: {} });
  await settle(harbour, studio);
  const presets = [
    { key: 'as-it-is', label: 'As it is', format: 'original' as const },
    { key: 'small', label: 'Small', format: 'jpeg' as const, max_dim: 100 },
    { key: 'smaller', label: 'Smaller', format: 'jpeg' as const, max_dim: 50 },
  ];
  await studio.root.ok('setDownloadSettings', { body: { presets } });
  const id = await memberOf(bob, 'Pier');
  const statuses: number[] = [];
  for (const { key } of presets) {
    await keepFederation(studio);
    expect(await countObjects(studio, 'originals')).toBe(0);
    statuses.push(await bob.status('GET', `/assets/${id}/file?preset=${key}`));
  }
  expect(statuses).toEqual([200, 200, 200]);
  await keepFederation(studio);
  const archive = await bob.ok('createArchive', { body: { ids: [id], preset: 'as-it-is' } });
  const packed = await fetch(`${studio.address}${archive.url}`, {
    headers: { cookie: `user=${bob.cookie() ?? ''}` },
  });
  expect(packed.status).toBe(200);
  expect(Buffer.from(await packed.arrayBuffer()).includes(leftOutName)).toBe(false);
});

/** Shares a post with one picture, and claims that its original is `claimed`, which the studio does not have. */
async function shareClaim(title: string, claimed: Uint8Array): Promise<void> {
  const asset = await upload(bob, await jpeg(320, 240, { seed: 7 }), { sensitivity: 'posts' });
  await studio.runJobs();
  const { db } = studio.database;
  const named = JSON.stringify({ hash: sha256(claimed), size_bytes: claimed.length });
  await sql`insert into files select (jsonb_populate_record(f, ${named}::jsonb)).* from files f
    where f.hash = ${asset.file_hash}`.execute(db);
  await sql`update assets set file_hash = ${sha256(claimed)} where id = ${asset.id}`.execute(db);
  const post = await publish(bob, [asset], { title });
  await bob.ok('putPostPeer', { params: { id: post.id, peer_id: peerOfOther }, body: {} });
}

// FED-70
test('a peer that claims the hash of a private file neither reveals it nor affects later uploads of its bytes', async () => {
  const eve = await harbour.join('eve');
  const [secret, later] = [await jpeg(320, 240, { seed: 1 }), await jpeg(320, 240, { seed: 2 })];
  const hidden = await upload(alice, secret, { sensitivity: 'restricted' });
  await harbour.runJobs();
  expect(hidden.file_hash).toBe(sha256(secret));
  const titles = ['Of a file here', 'Of a file to come'] as const;
  await shareClaim(titles[0], secret);
  await shareClaim(titles[1], later);
  await settle(studio, harbour);

  const previewOf = async (account: Account, id: string) => {
    const { status, text } = await account.send(`/assets/${id}/variants/col`);
    expect(status).toBe(200);
    return text;
  };
  for (const title of titles) {
    const id = await memberOf(eve, title);
    expect(await eve.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
    expect(await eve.status('GET', `/assets/${id}/file`)).toBe(503);
    expect((await previewOf(eve, id)) === (await previewOf(alice, hidden.id))).toBe(false);
  }

  const own = await upload(alice, later);
  await harbour.runJobs();
  expect(own.file_hash).toBe(sha256(later));
  const spoiled = await previewOf(eve, await memberOf(eve, titles[1]));
  expect((await previewOf(alice, own.id)) === spoiled).toBe(false);

  const lines: string[] = [];
  await checkBytes(harbour.deps, {
    after: '',
    repair: false,
    language: 'en',
    signal: AbortSignal.timeout(60_000),
    print: (line) => lines.push(line),
    progress: () => {},
  });
  expect(lines).toEqual([]);

  await studio.root.ok('removePeer', { params: { id: peerOfOther } });
  await settle(studio, harbour);
  for (const { id } of [hidden, own]) expect(await alice.status('GET', `/assets/${id}/file`)).toBe(200);
});
