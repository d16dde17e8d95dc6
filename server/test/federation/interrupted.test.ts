import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { writeSetting } from '../../src/settings.ts';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { openInstall, pair, settle } from './installs.ts';

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

/** Returns about 900 kB in which every line differs. */
const longText = (name: string) =>
  Array.from({ length: 30_000 }, (_, line) => `${name} of harbour, line ${line}\n`).join('');

// FED-44
test('the download of an original resumes after an interruption, encrypted or not, unless its share has ended', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  const relay = await openFlakyRelay(harbour.address);
  onTestFinished(relay.close);
  await writeSetting(harbour.database.db, 'base_url', relay.address);
  const { peerOfOne } = await pair(harbour, studio);
  await harbour.root.ok('updateFederation', { body: { sensitive_content: 'encrypted' } });
  const bob = await studio.join('bob');
  const texts = { posts: longText('plan'), restricted: longText('secret') };
  const withdrawn = longText('withdrawn');
  for (const [title, text] of Object.entries({ ...texts, withdrawn })) {
    const sensitivity = title === 'restricted' ? 'restricted' : 'posts';
    const asset = await upload(harbour.root, plainFile(text), { sensitivity });
    const post = await publish(harbour.root, [asset], { title });
    await harbour.root.ok('putPostPeer', {
      params: { id: post.id, peer_id: peerOfOne },
      body: { person: 'bob', confirm_sensitive: true },
    });
  }
  await settle(harbour, studio);
  const posts = (await bob.ok('listPosts')).items;

  relay.limit.bytes = 250_000;
  for (const [title, text] of Object.entries(texts)) {
    const { broken } = relay.limit;
    const member = posts.find((post) => post.title === title)?.members[0];
    const sent = await bob.send(`/assets/${member?.asset_id}/file`);
    expect([sent.status, sent.text.slice(2) === text]).toEqual([200, true]);
    expect(relay.limit.broken - broken).toBeGreaterThanOrEqual(3);
  }

  relay.limit.beforeBreak = async () => {
    const { db } = harbour.database;
    await sql`update federation_shares set revoked_at = now() where revoked_at is null`.execute(db);
  };
  const [member] = posts.find(({ title }) => title === 'withdrawn')?.members ?? [];
  const { broken } = relay.limit;
  expect((await bob.send(`/assets/${member?.asset_id}/file`)).status).toBe(503);
  expect(relay.limit.broken - broken).toBe(1);
});
