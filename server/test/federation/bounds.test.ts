import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { resendChanges } from '../../src/exchange/federation/changes.ts';
import { signHttp } from '../../src/exchange/federation/protocol/http-signature.ts';
import { clip } from '../media/clips.ts';
import { upload } from '../support/library.ts';
import { listen } from '../support/listen.ts';
import { jpeg } from '../support/pictures.ts';
import {
  type Install,
  keepFederation,
  openInstall,
  PROTOCOL,
  pair,
  rowsOf,
  settle,
  sharePost,
  verifyOffers,
} from './installs.ts';

const harbour = await openInstall('Harbour');
const studio = await openInstall('Studio', {
  VITRINE_PEER_CATCH_UP_PAGES: '2',
  VITRINE_PEER_RENDITION_BYTES: '300',
  VITRINE_PEER_OFFERS: '8',
  VITRINE_PEER_OFFERS_PER_ADDRESS: '5',
  VITRINE_TRUSTED_PROXIES: 'loopback',
});
const strict = await openInstall('Strict', {
  VITRINE_RATE_LIMITS: 'on',
  VITRINE_TRUSTED_PROXIES: 'loopback',
  VITRINE_PEER_CATCH_UP_IDS: '2000',
  VITRINE_PEER_CATCH_UP_SECONDS: '2',
});
const { peerOfOne, peerOfOther } = await pair(harbour, studio);
const alice = await harbour.join('alice');

/** Sends an offer that claims to come from this address, through a proxy, and returns the answer. */
async function offerFrom(url: string, client = '203.0.113.1'): Promise<{ status: number; text: string }> {
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
    headers: { ...headers, 'content-type': 'application/json', 'x-forwarded-for': client },
    body,
  });
  return { status: response.status, text: await response.text() };
}

const pending = { status: 200, text: '{"state":"pending"}' };
const refused = { status: 403, text: '{"error":"unknown_peer","detail":"the offer is refused"}' };

/** Returns why an install refused the latest requests and offers. */
const latestDetails = async (install: Install, count: number) =>
  (await install.root.ok('listFederationRejections')).items.slice(0, count).map(({ detail }) => detail);

const forgetOffers = () => sql`delete from federation_offers`.execute(studio.database.db);

// FED-95
test('offers get one answer before anything is looked up, whatever their address is', async () => {
  let asked = 0;
  const stranger = createServer((_, response) => {
    asked += 1;
    response.writeHead(404).end();
  });
  const url = `http://127.0.0.1:${await listen(stranger)}`;
  const addresses = [url, 'http://127.0.0.1:9', harbour.address, 'https://internal.invalid'];
  for (const address of addresses) expect(await offerFrom(address)).toEqual(pending);
  expect(asked).toBe(0);
  await verifyOffers(studio);
  expect(asked).toBe(1);
  stranger.close();
  expect((await latestDetails(studio, 4)).toSorted()).toEqual([
    'its address serves another key',
    expect.stringContaining('its own address does not answer'),
    expect.stringContaining('its own address does not answer'),
    expect.stringContaining('its own address does not answer'),
  ]);
  const { items } = await studio.root.ok('listPeers');
  expect(items).toMatchObject([{ id: peerOfOther, state: 'connected' }]);
  await forgetOffers();
});

// FED-95
test('rounds of look-ups begin at fixed intervals, so that none tells how long the one before took', async () => {
  const due = sql<{ ms: number }>`select extract(epoch from j.run_at - o.at)::float8 * 1000 as ms
    from graphile_worker._private_jobs j, (select max(started_at) as at from federation_offers) o
    where j.key = 'verify-offers'`;
  await offerFrom('http://127.0.0.1:9');
  await verifyOffers(studio);
  await offerFrom('http://127.0.0.1:10');
  const [next] = await rowsOf(studio, due);
  expect(next?.ms).toBeGreaterThan(5900);
  await verifyOffers(studio);
  await forgetOffers();
});

// FED-95
test('no more offers than allowed are open in total and of one address, whatever their look-up showed', {
  tags: ['one-process'],
}, async () => {
  const { db } = studio.database;
  for (let port = 1; port <= 5; port += 1)
    expect(await offerFrom(`http://127.0.0.1:${port}`)).toEqual(pending);
  await verifyOffers(studio);
  expect(await offerFrom('http://127.0.0.1:6')).toEqual(refused);
  expect(await latestDetails(studio, 1)).toEqual(['too many offers of 203.0.113.1 are open']);
  expect(await offerFrom('http://127.0.0.1:6', '203.0.113.2')).toEqual(pending);
  await sql`insert into federation_peers (instance_url, public_key, state, nonce)
    select 'https://' || n || '.example', decode(repeat('00', 32), 'hex'), 'pending_inbound', 'x'
    from generate_series(1, 2) n`.execute(db);
  expect(await offerFrom('http://127.0.0.1:7', '203.0.113.3')).toEqual(refused);
  expect(await latestDetails(studio, 1)).toEqual(['too many offers are open']);
  await verifyOffers(studio);

  await sql`update federation_offers set received_at = now() - interval '16 minutes'`.execute(db);
  await keepFederation(studio);
  expect(await rowsOf(studio, sql`select from federation_offers`)).toEqual([]);
  expect(await offerFrom('http://127.0.0.1:8')).toEqual(pending);
  await sql`delete from federation_peers where state = 'pending_inbound'`.execute(db);
  await verifyOffers(studio);
  await forgetOffers();
});

// FED-95
test('an offer that waits for an administrator counts for the address that it came from', {
  tags: ['one-process'],
}, async () => {
  const { db } = studio.database;
  await sql`insert into federation_peers (instance_url, public_key, state, nonce, offered_from)
    select 'https://' || n || '.example', decode(repeat('00', 32), 'hex'), 'pending_inbound', 'x', '203.0.113.1'
    from generate_series(1, 5) n`.execute(db);
  expect(await offerFrom('http://127.0.0.1:9')).toEqual(refused);
  const [waiting] = (await studio.root.ok('listPeers')).items;
  await studio.root.ok('removePeer', { params: { id: waiting?.id ?? '' } });
  expect(await offerFrom('http://127.0.0.1:9')).toEqual(pending);
  await sql`delete from federation_peers where state = 'pending_inbound'`.execute(db);
  await verifyOffers(studio);
  await forgetOffers();
});

// FED-95
test('one unsigned request a minute of an address is logged', { tags: ['one-process'] }, async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const ask = async (client: string) => {
    const headers = { 'x-forwarded-for': client };
    for (let n = 0; n < 3; n += 1)
      expect((await fetch(`${strict.address}/federation/changes?after=0`, { headers })).status).toBe(401);
    const query = sql<{ n: number }>`select count(*)::int as n from federation_rejections`;
    return (await rowsOf(strict, query))[0]?.n;
  };
  try {
    expect(await ask('203.0.113.1')).toBe(1);
    expect(await ask('203.0.113.2')).toBe(2);
    await sql`update rate_budgets set ends_at = now()`.execute(strict.database.db);
    vi.advanceTimersByTime(61_000);
    expect(await ask('203.0.113.1')).toBe(3);
  } finally {
    vi.useRealTimers();
  }
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

/** A peer that lists shares for ever; `onPage` is called with the number of each page. */
async function openEndlessPeer(onPage: (page: number) => void) {
  const pages = { count: 0 };
  const server = createServer((request, response) => {
    const isShares = request.url?.startsWith('/federation/changes/shares') ?? false;
    if (isShares) pages.count += 1;
    if (isShares) onPage(pages.count);
    const shares = Array.from({ length: 500 }, (_, n) => ({
      id: `${String(pages.count).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`,
      object: 'https://endless.example/posts/1',
      target: null,
    }));
    // It ends for a reader without a bound.
    const body = isShares
      ? { shares: pages.count > 20 ? [] : shares }
      : { reset: true, latest: null, shares: 0, changes: [] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const [peer] = await rowsOf(
    strict,
    sql<{ id: string }>`insert into federation_peers (instance_url, public_key, state, nonce, capabilities)
      values (${url}, decode(repeat('00', 32), 'hex'), 'connected', 'x', '{changes-v1}') returning id`,
  );
  return {
    async catchUp() {
      await sql`select graphile_worker.add_job('catch-up', ${JSON.stringify({ peer: peer?.id })}::json)`.execute(
        strict.database.db,
      );
      await strict.runJobs();
      server.close();
      return pages.count;
    },
  };
}

// FED-95
describe('a run that catches up', { tags: ['one-process'] }, () => {
  // A busy machine could need the allowed time for the allowed ids.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  // FED-95
  test('reads the allowed number of ids', async () => {
    const endless = await openEndlessPeer(() => {});
    expect(await endless.catchUp()).toBe(5);
  });

  // FED-95
  test('ends after the allowed time', async () => {
    const endless = await openEndlessPeer((page) => {
      if (page === 2) vi.setSystemTime(Date.now() + 3000);
    });
    expect(await endless.catchUp()).toBe(2);
  });
});

// FED-95
test('renditions that are larger than allowed are not fetched, and the asset is shown without them', async () => {
  const { db } = studio.database;
  const asset = await upload(alice, await jpeg(640, 480), { title: 'Large', sensitivity: 'posts' });
  await harbour.runJobs();
  const params = { id: asset.id, peer_id: peerOfOne };
  await alice.ok('putAssetPeer', { params, body: {} });
  await settle(harbour, studio);
  const read = async () => {
    const [found] = await rowsOf(
      studio,
      sql<{ hash: string; status: string; sizes: number[] }>`select f.hash, a.processing_status as status,
        array(select (r.value ->> 'bytes')::int from jsonb_each(f.renditions) r) as sizes
        from assets a join files f on f.hash = a.file_hash where a.title = 'Large'`,
    );
    return found;
  };
  const stated = await read();
  expect(stated?.status).toBe('ready');
  expect(stated?.sizes.every((size) => size <= 300)).toBe(true);

  await sql`update files set origin_renditions = (select jsonb_object_agg(key, jsonb_set(value, '{url,size}', 'null'))
    from jsonb_each(origin_renditions)) where hash = ${stated?.hash}`.execute(db);
  await sql`update assets set processing_status = 'pending' where file_hash = ${stated?.hash}`.execute(db);
  await keepFederation(studio);
  expect(await read()).toEqual(stated);
});

// FED-95
test('subtitles that are larger than allowed are not fetched, and do not hold up others', async () => {
  const { db } = studio.database;
  const video = await upload(alice, await clip({ format: 'mp4', video: { encoder: 'mpeg4' }, seconds: 1 }), {
    title: 'Film',
    sensitivity: 'posts',
  });
  await harbour.runJobs();
  for (const [lang, text] of [
    ['de', 'Ein langer Satz. '.repeat(30)],
    ['en', 'A short sentence.'],
  ] as const) {
    const body = new FormData();
    body.append('file', new Blob([`1\n00:00:00,000 --> 00:00:01,000\n${text}\n`]), 'subtitles.srt');
    await alice.ok('putSubtitles', { params: { id: video.id, lang }, body });
  }
  await alice.ok('putAssetPeer', { params: { id: video.id, peer_id: peerOfOne }, body: {} });
  await settle(harbour, studio);
  const fetched = sql<{ lang: string }>`select s.lang from subtitles s join assets a on a.id = s.asset_id
    where a.title = 'Film'`;
  expect(await rowsOf(studio, fetched)).toEqual([{ lang: 'en' }]);

  await sql`update federated_subtitles set size_bytes = 0`.execute(db);
  await sql`delete from subtitles`.execute(db);
  await sql`select graphile_worker.add_job('fetch-subtitles', json_build_object('asset', id)) from assets
    where title = 'Film'`.execute(db);
  await studio.runJobs();
  expect(await rowsOf(studio, fetched)).toEqual([{ lang: 'en' }]);
});
