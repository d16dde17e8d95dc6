import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { writeSetting } from '../../src/settings.ts';
import { type Account, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { type Json, type RemotePerson, startPerson } from './remote.ts';

let library: Library;
let root: Account;
let ada: Account;
let bob: RemotePerson;
let actor: string;
let file: { id: string };

const post = (title: string, visibility: 'public' | 'org-only' = 'public') =>
  publish(ada, [file], { title, visibility });
const follow = (id = 'follow-1', object = actor, by = bob): Json => ({
  id: `${by.uri}#${id}`,
  type: 'Follow',
  actor: by.uri,
  object,
});
const undo = (undone: Json, by = bob): Json => ({
  id: `${by.uri}#undo-${String(undone.id)}`,
  type: 'Undo',
  actor: by.uri,
  object: undone,
});
const inbox = () => `${actor}/inbox`;
const own = () => ada.ok('getFollowableAccount');
/** Returns the activities that arrived since the last call. */
const arrived = () => bob.received.splice(0).map(({ activity }) => activity);

async function actorOf(name: string): Promise<string> {
  const url = `${library.address}/.well-known/webfinger?resource=acct:${name}@${new URL(library.address).host}`;
  const { links } = (await (await fetch(url)).json()) as { links: { rel: string; href: string }[] };
  return links.find(({ rel }) => rel === 'self')?.href ?? '';
}

async function followAnew(by = bob): Promise<void> {
  const id = crypto.randomUUID();
  expect((await by.send(inbox(), follow(id, actor, by))).status).toBe(202);
  await library.runJobs();
  by.received.splice(0);
}

beforeAll(async () => {
  library = await openLibrary({ VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on' });
  await writeSetting(library.database.db, 'base_url', library.address);
  root = await library.join('root', 'admin');
  ada = await library.join('ada');
  await library.setPublicMode(true);
  await root.ok('updateActivityPub', { body: { enabled: true } });
  await ada.ok('updateFollowableAccount', { body: { followable: true } });
  actor = await actorOf('ada');
  bob = await startPerson('bob');
  file = await upload(ada, plainFile(), {}, 'notes.bin');
  await library.runJobs();
});
afterAll(() => bob.close());
afterEach(() => {
  bob.refuseWith = () => null;
  bob.serve = null;
});

describe('a follower', () => {
  // AP-7, AP-8, AP-9, AP-12, AP-14
  test('is accepted and sent what becomes public, changes and ceases to be, until they leave', async () => {
    await post('Before');
    await library.runJobs();
    expect((await bob.send(inbox(), follow())).status).toBe(202);
    await library.runJobs();
    expect(arrived()).toMatchObject([
      { type: 'Accept', actor, object: { id: `${bob.uri}#follow-1`, type: 'Follow' } },
    ]);
    expect(await own()).toMatchObject({ followers_count: 1 });
    const followers = (await (
      await fetch(`${actor}/followers`, { headers: { accept: 'application/activity+json' } })
    ).json()) as Json;
    expect(followers).toMatchObject({ totalItems: 1 });
    expect(JSON.stringify(followers)).not.toContain(bob.uri);

    const quay = await upload(ada, await jpeg(640, 480), {
      title: 'Quay',
      description: 'Boats',
      sensitivity: 'posts',
    });
    const draft = await publish(ada, [quay], { title: 'Morning', visibility: 'public', draft: true });
    await publish(ada, [quay], { title: 'Internal', visibility: 'org-only' });
    await library.runJobs();
    expect(arrived()).toEqual([]);

    await ada.ok('publishPost', { params: { id: draft.id } });
    await library.runJobs();
    const note = `${actor}/posts/${draft.id}`;
    expect(arrived()).toMatchObject([
      {
        type: 'Create',
        actor,
        object: { id: note, type: 'Note', attachment: [{ type: 'Image', name: 'Boats' }] },
      },
    ]);

    await ada.ok('updatePost', { params: { id: draft.id }, body: { title: 'Noon' } });
    await library.runJobs();
    const [update, ...more] = arrived();
    expect(more).toEqual([]);
    expect(update).toMatchObject({ type: 'Update', object: { id: note } });
    expect(JSON.stringify(update)).toContain('Noon');

    // Nothing changed that followers see.
    await ada.ok('updatePost', { params: { id: draft.id }, body: { comments_enabled: false } });
    await library.runJobs();
    expect(arrived()).toEqual([]);

    await ada.ok('updateAsset', { params: { id: quay.id }, body: { mature: true } });
    await library.runJobs();
    expect(arrived()).toMatchObject([{ type: 'Delete', object: { id: note, type: 'Tombstone' } }]);
    await ada.ok('updateAsset', { params: { id: quay.id }, body: { mature: false } });
    await library.runJobs();
    expect(arrived()).toMatchObject([{ type: 'Create', object: { id: note } }]);
    await ada.ok('deletePost', { params: { id: draft.id }, body: undefined });
    await library.runJobs();
    expect(arrived()).toMatchObject([{ type: 'Delete', object: { id: note } }]);

    await bob.send(inbox(), undo(follow()));
    expect(await own()).toMatchObject({ followers_count: 0 });
    await post('After');
    await library.runJobs();
    expect(arrived()).toEqual([]);
  });

  // AP-9
  test('is reached with draft-cavage first, and with RFC 9421 if that is refused', async () => {
    await followAnew();
    bob.attempts.splice(0);
    await post('First');
    await library.runJobs();
    expect(bob.attempts).toEqual(['draft-cavage']);
    bob.refuseWith = (request) => (request.headers['signature-input'] === undefined ? 401 : null);
    await post('Second');
    await library.runJobs();
    expect(bob.attempts).toEqual(['draft-cavage', 'draft-cavage', 'rfc9421']);
    expect(bob.received.splice(0).map(({ scheme, keyId }) => [scheme, keyId])).toEqual([
      ['draft-cavage', `${actor}#main-key`],
      ['rfc9421', `${actor}#main-key`],
    ]);
  });

  // AP-10
  test('receives pending activities once and in order when their system is reachable again', async () => {
    bob.refuseWith = () => 503;
    const shown = await post('Waiting');
    await library.runJobs();
    await ada.ok('updatePost', { params: { id: shown.id }, body: { title: 'Waited' } });
    await library.runJobs();
    expect(await root.ok('getActivityPub')).toMatchObject({ waiting_count: 2 });
    bob.refuseWith = () => null;
    await sql`update activitypub_deliveries set next_attempt_at = now()`.execute(library.database.db);
    await sql`select graphile_worker.add_job('keep-activitypub', '{}'::json)`.execute(library.database.db);
    await library.runJobs();
    await library.runJobs();
    expect(arrived().map(({ type }) => type)).toEqual(['Create', 'Update']);
    expect(await root.ok('getActivityPub')).toMatchObject({ waiting_count: 0 });

    // After three days it is given up.
    bob.refuseWith = () => 503;
    await post('Lost');
    await sql`update activitypub_deliveries set created_at = now() - interval '4 days'`.execute(
      library.database.db,
    );
    await library.runJobs();
    await sql`update activitypub_deliveries set created_at = now() - interval '4 days', next_attempt_at = now()`.execute(
      library.database.db,
    );
    await sql`select graphile_worker.add_job('keep-activitypub', '{}'::json)`.execute(library.database.db);
    await library.runJobs();
    expect(await root.ok('getActivityPub')).toMatchObject({ waiting_count: 0 });
    expect(arrived()).toEqual([]);
  });

  // AP-13, AP-14
  test('can like and boost a public post, which counts without a local like', async () => {
    const shown = await post('Liked');
    const hidden = await post('Hidden', 'org-only');
    const note = `${actor}/posts/${shown.id}`;
    const like = { id: `${bob.uri}#like`, type: 'Like', actor: bob.uri, object: note };
    const boost = { id: `${bob.uri}#boost`, type: 'Announce', actor: bob.uri, object: note };
    for (const activity of [like, boost, { ...like, id: `${bob.uri}#like-again` }])
      expect((await bob.send(inbox(), activity)).status).toBe(202);
    await bob.send(inbox(), { ...like, id: `${bob.uri}#no`, object: `${actor}/posts/${hidden.id}` });
    expect(await own()).toMatchObject({ likes_count: 1, boosts_count: 1 });
    expect(await ada.ok('getPost', { params: { id: shown.id } })).toMatchObject({ like_count: 0 });
    await bob.send(inbox(), undo(like));
    await bob.send(inbox(), {
      id: `${bob.uri}#d`,
      type: 'Delete',
      actor: bob.uri,
      object: `${bob.uri}#boost`,
    });
    expect(await own()).toMatchObject({ likes_count: 0, boosts_count: 0 });
  });

  // AP-15
  test('cannot write into the library with replies', async () => {
    const shown = await post('Quiet');
    const note = `${actor}/posts/${shown.id}`;
    const reply = {
      id: `${bob.uri}#create`,
      type: 'Create',
      actor: bob.uri,
      object: { id: `${bob.uri}/1`, type: 'Note', attributedTo: bob.uri, inReplyTo: note, content: 'Hello' },
    };
    expect((await bob.send(inbox(), reply)).status).toBe(202);
    expect((await ada.ok('listComments', { params: { id: shown.id } })).items).toEqual([]);
  });

  // AP-14
  test('is forgotten when their account is deleted', async () => {
    await followAnew();
    expect(await own()).toMatchObject({ followers_count: 1 });
    await bob.send(`${library.address}/ap/inbox`, {
      id: `${bob.uri}#gone`,
      type: 'Delete',
      actor: bob.uri,
      object: bob.uri,
    });
    expect(await own()).toMatchObject({ followers_count: 0 });
  });

  // AP-1, AP-8
  test('receives nothing while ActivityPub is disabled, and missed changes once it is enabled', async () => {
    await followAnew();
    const shown = await post('Seen');
    await library.runJobs();
    expect(arrived()).toHaveLength(1);
    await root.ok('updateActivityPub', { body: { enabled: false } });
    await ada.ok('deletePost', { params: { id: shown.id }, body: undefined });
    await post('Meanwhile');
    await library.runJobs();
    expect(arrived()).toEqual([]);
    await root.ok('updateActivityPub', { body: { enabled: true } });
    await library.runJobs();
    expect(
      arrived()
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['Create', 'Delete']);
  });
});

describe('an inbox', () => {
  // AP-16
  test('refuses activities without a valid signature of their actor', async () => {
    const eve = await startPerson('eve');
    try {
      const before = await own();
      const changed = (body: string) => body.replace('Follow', 'Block_');
      expect((await bob.send(inbox(), follow('a'), { unsigned: true })).status).toBe(401);
      expect((await bob.send(inbox(), follow('b'), { tamper: changed })).status).toBe(401);
      expect((await eve.send(inbox(), follow('c'))).status).toBe(401);
      expect((await eve.send(inbox(), follow('d'), { keyId: `${bob.uri}#main-key` })).status).toBe(401);
      expect((await bob.send(inbox(), { ...follow('e'), actor: undefined })).status).toBeGreaterThanOrEqual(
        400,
      );
      expect(await own()).toEqual(before);
    } finally {
      await eve.close();
    }
  });

  // AP-14
  test('does not let callers undo or delete what others did', async () => {
    await followAnew();
    const eve = await startPerson('eve');
    try {
      expect((await eve.send(inbox(), undo(follow(), eve))).status).toBe(202);
      await eve.send(inbox(), { id: `${eve.uri}#x`, type: 'Delete', actor: eve.uri, object: bob.uri });
      expect(await own()).toMatchObject({ followers_count: 1 });
    } finally {
      await eve.close();
    }
  });

  // AP-17
  test('refuses large, malformed and deeply nested bodies, and never fails', async () => {
    const send = (body: string, type = 'application/activity+json') =>
      fetch(inbox(), { method: 'POST', headers: { 'content-type': type }, body }).then(
        ({ status }) => status,
      );
    expect(await send(`{"a":"${'x'.repeat(300_000)}"}`)).toBe(413);
    expect(await send('{')).toBe(400);
    expect(await send(`${'['.repeat(5000)}${']'.repeat(5000)}`)).toBe(400);
    expect(await send('{}', 'text/plain')).toBe(415);
    for (const body of [
      'null',
      '1',
      '"text"',
      '[]',
      '{}',
      '{"type":5}',
      '{"@context":"https://127.0.0.1:1/x"}',
    ])
      expect(await send(body), body).toBeLessThan(500);
  });

  // AP-17
  test('survives mutated activities of a known person', async () => {
    const values = [
      null,
      5,
      '',
      'x',
      [],
      {},
      ['https://a.example/'],
      { type: 'Follow' },
      'https://a.example/\u0000',
      -1e300,
    ];
    const before = await own();
    for (const key of [
      'id',
      'type',
      'actor',
      'object',
      '@context',
      'to',
      'published',
      'signature',
      'proof',
    ]) {
      for (const value of values) {
        const activity = { ...follow(crypto.randomUUID()), type: 'Block', [key]: value };
        const { status } = await bob.send(inbox(), activity);
        expect(status, `${key} ${JSON.stringify(value)}`).toBeLessThan(500);
      }
    }
    expect(await own()).toEqual(before);
  });

  // AP-11
  test('rejects documents that are compressed, too large, redirected or from another install', async () => {
    const cases: Record<string, RemotePerson['serve']> = {
      compressed: (response) =>
        response
          .writeHead(200, { 'content-type': 'application/activity+json', 'content-encoding': 'gzip' })
          .end(gzipSync(JSON.stringify({}))),
      large: (response) =>
        response
          .writeHead(200, { 'content-type': 'application/activity+json' })
          .end('x'.repeat(2 * 1024 ** 2)),
      redirected: (response, path) => response.writeHead(302, { location: path }).end(),
      foreign: (response) =>
        response
          .writeHead(200, { 'content-type': 'application/activity+json' })
          .end(JSON.stringify({ ...bob.document })),
      failing: (response) => response.writeHead(500).end(),
    };
    const before = await own();
    for (const [name, serve] of Object.entries(cases)) {
      const eve = await startPerson(name);
      eve.serve = serve;
      try {
        const { status } = await eve.send(inbox(), follow('a', actor, eve));
        expect([400, 401], name).toContain(status);
      } finally {
        await eve.close();
      }
    }
    expect(await own()).toEqual(before);
  });

  // AP-11
  test('refuses followers whose inbox is on another host', async () => {
    const eve = await startPerson('eve');
    eve.document.inbox = bob.inbox;
    try {
      await eve.send(inbox(), follow('a', actor, eve));
      await library.runJobs();
      expect(arrived()).toEqual([]);
    } finally {
      await eve.close();
    }
  });
});

// AP-17
test('an activity that meets a database without connections is refused with 503 and takes effect later', async () => {
  const { db } = library.database;
  const shown = await post('Liked twice');
  await library.runJobs();
  arrived();
  const like = { id: `${bob.uri}#later`, type: 'Like', actor: bob.uri, object: `${actor}/posts/${shown.id}` };
  const before = await own();
  await sql`create function lose_connection() returns trigger language plpgsql as
    'begin raise exception using errcode = ''57P01''; end'`.execute(db);
  await sql`create trigger lost before insert on activitypub_reactions
    execute function lose_connection()`.execute(db);
  expect((await bob.send(inbox(), like)).status).toBe(503);
  await sql`drop trigger lost on activitypub_reactions`.execute(db);
  expect((await bob.send(inbox(), like)).status).toBe(202);
  expect((await own()).likes_count).toBe(before.likes_count + 1);
});

// AP-5
test('a person who opts out is removed from the systems of their followers', async () => {
  await followAnew();
  await ada.ok('updateFollowableAccount', { body: { followable: false } });
  await library.runJobs();
  expect(arrived()).toMatchObject([{ type: 'Delete', actor, object: actor }]);
  expect((await bob.send(inbox(), follow('late'))).status).toBe(404);
});

// AP-11
test('requests go to public addresses only, unless private ones are allowed', async () => {
  const guarded = await openLibrary();
  await writeSetting(guarded.database.db, 'base_url', guarded.address);
  await guarded.setPublicMode(true);
  const admin = await guarded.join('root', 'admin');
  await admin.ok('updateActivityPub', { body: { enabled: true } });
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  try {
    const uri = `http://127.0.0.1:${port}/users/eve`;
    const activity = { ...follow('a', `${guarded.address}/ap/users/x`), actor: uri };
    const { status } = await bob.send(`${guarded.address}/ap/inbox`, activity, { keyId: `${uri}#main-key` });
    expect([400, 401]).toContain(status);
    expect(requests).toBe(0);
  } finally {
    server.close();
  }
});

// RATE-3
test('requests of one address spend a budget and do not delay those of another', async () => {
  const limited = await openLibrary({
    VITRINE_RATE_LIMITS: 'on',
    VITRINE_ANONYMOUS_LIMIT: '3',
    VITRINE_TRUSTED_PROXIES: 'loopback',
  });
  await writeSetting(limited.database.db, 'base_url', limited.address);
  await limited.setPublicMode(true);
  const administrator = await limited.join('root', 'admin');
  await administrator.ok('updateActivityPub', { body: { enabled: true } });
  const statusFrom = async (address: string) => {
    const response = await fetch(`${limited.address}/ap/users/none/inbox`, {
      method: 'POST',
      headers: { 'content-type': 'application/activity+json', 'x-forwarded-for': address },
      body: JSON.stringify(follow()),
    });
    return response.status;
  };
  const flood = [];
  for (let n = 0; n < 5; n += 1) flood.push(await statusFrom('203.0.113.1'));
  expect(flood.slice(0, 3)).not.toContain(429);
  expect(flood.slice(3)).toEqual([429, 429]);
  expect(await statusFrom('203.0.113.2')).not.toBe(429);
});
