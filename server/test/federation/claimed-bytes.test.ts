import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { checkBytes } from '../../src/doctor/bytes.ts';
import { publish, upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { type Install, openInstall, pair, settle } from './installs.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Shares a post with one picture, and claims that its original is `claimed`, which the install does not have. */
async function shareClaim(install: Install, peer: string, title: string, claimed: Uint8Array): Promise<void> {
  const asset = await upload(install.root, await jpeg(320, 240, { seed: 7 }), { sensitivity: 'posts' });
  await install.runJobs();
  const named = JSON.stringify({ hash: sha256(claimed), size_bytes: claimed.length });
  await sql`insert into files select (jsonb_populate_record(f, ${named}::jsonb)).* from files f
    where f.hash = ${asset.file_hash}`.execute(install.database.db);
  await sql`update assets set file_hash = ${sha256(claimed)} where id = ${asset.id}`.execute(
    install.database.db,
  );
  const post = await publish(install.root, [asset], { title });
  await install.root.ok('putPostPeer', { params: { id: post.id, peer_id: peer }, body: {} });
}

async function memberOf(install: Install, title: string): Promise<string> {
  const found = (await install.root.ok('listPosts')).items.find((post) => post.title === title);
  if (found === undefined) throw new Error(`${title} did not arrive`);
  return found.members[0]?.asset_id ?? '';
}

// FED-70
test('a peer that claims the hash of a private file neither reveals it nor affects later uploads of its bytes', async () => {
  const harbour = await openInstall('Harbour');
  const studio = await openInstall('Studio');
  const { peerOfOther } = await pair(harbour, studio);
  const alice = await harbour.join('alice');
  const eve = await harbour.join('eve');
  const secret = await jpeg(640, 480, { seed: 1 });
  const later = await jpeg(640, 480, { seed: 2 });
  const hidden = await upload(alice, secret, { sensitivity: 'restricted' });
  await harbour.runJobs();
  expect(hidden.file_hash).toBe(sha256(secret));
  await shareClaim(studio, peerOfOther, 'Of a file here', secret);
  await shareClaim(studio, peerOfOther, 'Of a file to come', later);
  await settle(studio, harbour);

  for (const title of ['Of a file here', 'Of a file to come']) {
    const id = await memberOf(harbour, title);
    expect(await eve.ok('getAsset', { params: { id } })).toMatchObject({ processing_status: 'ready' });
    expect((await eve.send(`/assets/${id}/file`)).status).toBe(503);
    const preview = await eve.send(`/assets/${id}/variants/col`);
    const ofSecret = await alice.send(`/assets/${hidden.id}/variants/col`);
    expect([preview.status, ofSecret.status]).toEqual([200, 200]);
    expect(preview.text === ofSecret.text).toBe(false);
  }

  const own = await upload(alice, later);
  await harbour.runJobs();
  expect(own.file_hash).toBe(sha256(later));
  const shown = await alice.send(`/assets/${own.id}/variants/col`);
  const spoiled = await eve.send(`/assets/${await memberOf(harbour, 'Of a file to come')}/variants/col`);
  expect([shown.status, shown.text === spoiled.text]).toEqual([200, false]);

  const lines: string[] = [];
  const report = await checkBytes(harbour.deps, {
    after: '',
    repair: false,
    signal: AbortSignal.timeout(60_000),
    print: (line) => lines.push(line),
    progress: () => {},
  });
  expect({ lines, files: report.files }).toEqual({ lines: [], files: 2 });

  await studio.root.ok('removePeer', { params: { id: peerOfOther } });
  await settle(studio, harbour);
  expect((await alice.send(`/assets/${hidden.id}/file`)).status).toBe(200);
  expect((await alice.send(`/assets/${own.id}/file`)).status).toBe(200);
});
