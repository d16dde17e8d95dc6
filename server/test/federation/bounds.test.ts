import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { resendChanges } from '../../src/federation/changes.ts';
import { signHttp } from '../../src/federation/protocol/http-signature.ts';
import { upload } from '../support/library.ts';
import { jpeg } from '../support/pictures.ts';
import { openInstall, PROTOCOL, pair, rowsOf, settle, sharePost } from './installs.ts';

const harbour = await openInstall('Harbour');
const studio = await openInstall('Studio', {
  VITRINE_PEER_CATCH_UP_PAGES: '2',
  VITRINE_PEER_RENDITION_BYTES: '300',
  VITRINE_PEER_OFFERS: '2',
});
const strict = await openInstall('Strict', { VITRINE_RATE_LIMITS: 'on' });
const { peerOfOne, peerOfOther } = await pair(harbour, studio);
const alice = await harbour.join('alice');

/** Sends an offer that claims to come from this address, and returns the answer. */
async function offerFrom(url: string): Promise<{ status: number; text: string }> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const id = `${url}/federation/instance`;
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const instance = {
    '@context': PROTOCOL,
    type: 'aa:Instance',
    id,
    url,
    name: 'Nobody',
    publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem },
    capabilities: [],
  };
  const published = new Date().toISOString();
  const body = JSON.stringify({
    '@context': PROTOCOL,
    type: 'aa:Offer',
    instance,
    nonce: randomUUID(),
    published,
  });
  const to = new URL(`${studio.address}/federation/peers/offer`);
  const keyId = `${id}#main-key`;
  const { host: _, ...headers } = signHttp({
    method: 'POST',
    url: to,
    body: Buffer.from(body),
    keyId,
    privateKey,
    now: Date.now(),
  });
  const response = await fetch(to, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, text: await response.text() };
}

// FED-95
test('offers that are refused get one answer, and no more than the allowed number is open', async () => {
  const { db } = studio.database;
  const answers = [
    await offerFrom('http://127.0.0.1:9'),
    await offerFrom(studio.address),
    await offerFrom(harbour.address),
    await offerFrom('https://internal.invalid'),
  ];
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  await sql`insert into federation_peers (instance_url, public_key, state, nonce)
    select 'https://' || n || '.example', decode(repeat('00', 32), 'hex'), 'pending_inbound', 'x'
    from generate_series(1, 2) n`.execute(db);
  const full = await offerFrom('http://127.0.0.1:9');
  expect(full).toEqual(answers[0]);
  const [logged] = (await studio.root.ok('listFederationRejections')).items;
  expect(logged).toMatchObject({ reason: 'unknown_peer', detail: 'too many offers are open' });
  await sql`delete from federation_peers where state = 'pending_inbound'`.execute(db);
});

// FED-95
test('one unsigned request a minute of an address is logged', async () => {
  for (let n = 0; n < 5; n += 1)
    expect((await fetch(`${strict.address}/federation/changes?after=0`)).status).toBe(401);
  const counted = await rowsOf(
    strict,
    sql<{ n: number }>`select count(*)::int as n from federation_rejections`,
  );
  expect(counted).toEqual([{ n: 1 }]);
});

// FED-95
test('a peer has everything sent again once a minute', async () => {
  await sharePost(alice, peerOfOne, 'Again');
  await settle(harbour, studio);
  const queued = () =>
    rowsOf(
      harbour,
      sql<{ n: number }>`select count(*)::int as n from federation_outbox where status = 'queued'`,
    );
  const peer = { kind: 'peer', peerId: peerOfOne } as const;
  expect(await resendChanges(harbour.deps, peer, { all: true })).toEqual({ status: 'queued' });
  const once = await queued();
  for (let n = 0; n < 5; n += 1)
    await expect(resendChanges(harbour.deps, peer, { all: true })).rejects.toMatchObject({ status: 429 });
  expect(await queued()).toEqual(once);
  await sql`update federation_peers set resent_at = now() - interval '61 seconds'`.execute(
    harbour.database.db,
  );
  expect(await resendChanges(harbour.deps, peer, { all: true })).toEqual({ status: 'queued' });
  await settle(harbour, studio);
});

// FED-95
test('a run that catches up reads the allowed number of pages, and the next one continues', async () => {
  await sql`insert into federation_outbox (peer_id, activity, kind, object_id, status, sent_at)
    select ${peerOfOne}, 'update', 'post', gen_random_uuid(), 'sent', now() from generate_series(1, 1600)`.execute(
    harbour.database.db,
  );
  const ids = await rowsOf(harbour, sql<{ id: string }>`select activity_id as id from federation_outbox`);
  await sql`insert into federation_inbox (activity_uri, peer_id, type)
    select ${`${harbour.address}/activities/`} || x, ${peerOfOther}, 'Update'
    from unnest(${ids.map(({ id }) => id)}::text[]) x on conflict do nothing`.execute(studio.database.db);
  await sql`update federation_peers set cursor_seq = 0, cursor_id = null`.execute(studio.database.db);
  const seen = async () => {
    await sql`select graphile_worker.add_job('catch-up', ${JSON.stringify({ peer: peerOfOther })}::json)`.execute(
      studio.database.db,
    );
    await studio.runJobs();
    const [peer] = await rowsOf(
      studio,
      sql<{
        cursor: number;
      }>`select cursor_seq::int as cursor from federation_peers where id = ${peerOfOther}`,
    );
    const [read] = await rowsOf(
      harbour,
      sql<{ n: number }>`select count(*)::int as n from federation_outbox
        where status in ('sent', 'failed') and seq <= ${peer?.cursor ?? 0}`,
    );
    return read?.n;
  };
  expect(await seen()).toBe(1000);
  expect(await seen()).toBe(ids.length);
});

// FED-95
test('renditions that are larger than allowed are not fetched, and the asset is shown without them', async () => {
  const asset = await upload(alice, await jpeg(640, 480), { title: 'Large', sensitivity: 'posts' });
  await harbour.runJobs();
  const params = { id: asset.id, peer_id: peerOfOne };
  await alice.ok('putAssetPeer', { params, body: {} });
  await settle(harbour, studio);
  const [found] = await rowsOf(
    studio,
    sql<{ status: string; sizes: number[] }>`select a.processing_status as status,
      array(select (r.value ->> 'bytes')::int from jsonb_each(f.renditions) r) as sizes
      from assets a join files f on f.hash = a.file_hash where a.title = 'Large'`,
  );
  expect(found?.status).toBe('ready');
  expect(found?.sizes.every((size) => size <= 300)).toBe(true);
});
