import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { writeSetting } from '../../src/core/settings.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import { clip } from '../media/clips.ts';
import { headOf, openWire } from '../platform/wire.ts';
import { cloneTemplate } from '../support/clone.ts';
import { formOf, type Library, openLibrary, publish, upload } from '../support/library.ts';
import { comeToWait } from '../support/locks.ts';
import { jpeg, plainFile } from '../support/pictures.ts';
import { startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type Json, type RemotePerson, startPerson, TYPE } from './remote.ts';

/** The address of ada's actor. */
let actor: string;

/** Opens a library with a public address that visitors may read, where ActivityPub is off. */
async function openPublic(env: Record<string, string>): Promise<Library> {
  const opened = await openLibrary(env);
  await writeSetting(opened.database.db, 'base_url', opened.address);
  await opened.setPublicMode(true);
  return opened;
}

const directory = await temporaryDirectory();
const library = await openPublic({ VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on' });
const root = await library.join('root', 'admin');
const ada = await library.join('ada');
const [bob, eve] = [await startPerson('bob'), await startPerson('eve')];
const file = await upload(ada, plainFile(), {}, 'notes.bin');
afterAll(() => Promise.all([bob?.close(), eve?.close()]));
afterEach(() => {
  bob.refuseWith = () => null;
});

async function read(path: string, accept = TYPE) {
  const url = path.startsWith('http') ? path : library.address + path;
  const response = await fetch(url, { headers: { accept }, redirect: 'manual' });
  const text = await response.text();
  return { status: response.status, text, location: response.headers.get('location') };
}

async function readJson(path: unknown): Promise<Json> {
  const { status, text } = await read(String(path));
  expect(status, text).toBe(200);
  return JSON.parse(text) as Json;
}

const webFinger = (name: string) =>
  `/.well-known/webfinger?resource=acct:${name}@${new URL(library.address).host}`;

async function actorOf(name: string): Promise<Json> {
  const { links } = (await readJson(webFinger(name))) as { links: { rel: string; href: string }[] };
  return readJson(links.find(({ rel }) => rel === 'self')?.href);
}

/** Sends a body that is not signed. */
async function post(url: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': TYPE, ...headers }, body });
  return response.status;
}

const own = () => ada.ok('getFollowableAccount');
const setFollowable = (followable: boolean) => ada.ok('updateFollowableAccount', { body: { followable } });
const sharedInbox = () => `${library.address}/ap/inbox`;
const inbox = () => `${actor}/inbox`;
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

const noteIn = (object: unknown) => (object as Json | undefined)?.id;
const publishNote = (title: string, visibility: 'public' | 'org-only' = 'public') =>
  publish(ada, [file], { title, visibility });
/** Runs the jobs, and returns the activities that arrived since the last call. */
async function arrived(): Promise<Json[]> {
  await library.runJobs();
  return bob.received.splice(0).map(({ activity }) => activity);
}
/** Makes pending deliveries due, and sends them. */
async function retry(): Promise<void> {
  const { db } = library.database;
  await sql`update activitypub_deliveries set next_attempt_at = now()`.execute(db);
  await sql`select graphile_worker.add_job('keep-activitypub', '{}'::json)`.execute(db);
  await library.runJobs();
  await library.runJobs();
}

async function followAnew(): Promise<void> {
  expect((await bob.send(inbox(), follow(crypto.randomUUID()))).status).toBe(202);
  await arrived();
}

describe('ActivityPub', () => {
  // AP-1
  test('is off by default, and again when it is switched off or visitors are shut out', async () => {
    const unknown = '/ap/users/00000000-0000-4000-8000-000000000000';
    const paths = [webFinger('ada'), '/.well-known/nodeinfo', '/ap/nodeinfo/2.1', unknown];
    const statuses = () => Promise.all(paths.map(async (path) => (await read(path)).status));
    expect(await statuses()).toEqual([404, 404, 404, 404]);
    expect(await post(sharedInbox(), '{}')).toBe(404);
    expect(await root.ok('getActivityPub')).toMatchObject({ enabled: false, serving: false });
    const early = await ada.refused('updateFollowableAccount', { body: { followable: true } });
    expect(early.status).toBe(409);

    const on = await root.ok('updateActivityPub', { body: { enabled: true } });
    expect(on).toMatchObject({ enabled: true, serving: true, address: library.address });
    expect(await statuses()).toEqual([404, 200, 200, 404]);
    await library.setPublicMode(false);
    expect(await statuses()).toEqual([404, 404, 404, 404]);
    await library.setPublicMode(true);
  });

  // AP-2, AP-4
  test('serves only the accounts that opted in', async () => {
    expect((await read(webFinger('ada'))).status).toBe(404);
    expect(await setFollowable(true)).toEqual({
      available: true,
      followable: true,
      handle: `@ada@${new URL(library.address).host}`,
      followers_count: 0,
      likes_count: 0,
      boosts_count: 0,
    });
    const document = await actorOf('ada');
    const url = `${library.address}/users/ada`;
    expect(document).toMatchObject({ type: 'Person', preferredUsername: 'ada', url });
    expect(document.id).toMatch(/\/ap\/users\/[0-9a-f-]{36}$/);
    expect(JSON.stringify(document)).toContain('BEGIN PUBLIC KEY');
    expect(await actorOf('ADA')).toEqual(document);
    expect((await read(webFinger('root'))).status).toBe(404);
    const page = await read(String(document.id), 'text/html');
    expect(page).toMatchObject({ status: 302, location: '/users/ada' });
    expect(await readJson('/ap/nodeinfo/2.1')).toMatchObject({
      software: { name: 'vitrine' },
      protocols: ['activitypub'],
      usage: { users: { total: 1 } },
    });

    const hidden = await library.join('hidden');
    await hidden.ok('updateUser', { params: { ref: hidden.ref }, body: { hide_from_anonymous: true } });
    for (const account of [hidden, await library.join('two words')]) {
      const refused = await account.refused('updateFollowableAccount', { body: { followable: true } });
      expect(refused.status).toBe(409);
    }
  });

  // AP-5
  test('returns 410 for an actor that was ended, and gives the account a new one', async () => {
    const { id } = await actorOf('ada');
    await setFollowable(false);
    expect((await read(String(id))).status).toBe(410);
    expect((await read(webFinger('ada'))).status).toBe(404);
    await setFollowable(true);
    actor = String((await actorOf('ada')).id);
    expect([actor === id, (await read(String(id))).status]).toEqual([false, 410]);
  });

  // AP-3, AP-6
  test('serves public posts as notes with described pictures, without mature and restricted files', async () => {
    const description = 'Boats at a quay in the fog';
    const quay = await upload(ada, await jpeg(640, 480), { description, sensitivity: 'posts' });
    const mature = await upload(ada, plainFile('mature'), { sensitivity: 'posts', mature: 'true' });
    const restricted = await upload(ada, plainFile('restricted'), { sensitivity: 'restricted' });
    await library.runJobs();
    const { id } = await publish(ada, [quay, mature, restricted], {
      title: 'Morning <script>',
      description: 'Fog & light\n\nSecond',
      tags: ['black & white'],
      visibility: 'public',
    });
    await publishNote('Internal', 'org-only');
    await publish(ada, [mature], { title: 'Only mature', visibility: 'public' });
    await publish(ada, [quay], { title: 'Draft', visibility: 'public', draft: true });
    const outbox = await readJson(`${actor}/outbox`);
    expect(outbox).toMatchObject({ type: 'OrderedCollection', totalItems: 1 });
    const { orderedItems } = await readJson(outbox.first);
    expect([orderedItems].flat()).toMatchObject([{ type: 'Create', actor }]);
    const note = await readJson(`${actor}/posts/${id}`);
    const url = `${library.address}/posts/${id}`;
    expect(note).toMatchObject({ type: 'Note', attributedTo: actor, url });
    expect(note.content).toContain('Morning &lt;script&gt;');
    expect(note.content).toContain('<p>Fog &amp; light</p><p>Second</p>');
    const pictures = [note.attachment].flat() as Json[];
    expect(pictures).toMatchObject([{ type: 'Image', name: description, mediaType: 'image/webp' }]);
    expect((await fetch(String(pictures[0]?.url))).status).toBe(200);
    for (const absent of ['sensitive', 'summary']) expect(note).not.toHaveProperty(absent);
    const page = await read(String(note.id), 'text/html');
    expect(page).toMatchObject({ status: 302, location: `/posts/${id}` });
    await ada.ok('updatePost', { params: { id }, body: { visibility: 'org-only' } });
    expect((await read(String(note.id))).status).toBe(404);
  });

  // AP-6
  test('attaches films and sounds as such, once they can be played', async () => {
    const video = { encoder: 'libx264' };
    const title = 'Harbour film';
    const film = await upload(ada, await clip({ format: 'mp4', video, seconds: 1 }), {
      title,
      sensitivity: 'posts',
    });
    const sound = await upload(
      ada,
      await clip({ format: 'mp3', audio: { encoder: 'libmp3lame' }, seconds: 1 }),
      {
        sensitivity: 'posts',
      },
    );
    const other = await upload(
      ada,
      await clip({ format: 'aiff', audio: { encoder: 'pcm_s16be' }, seconds: 1 }),
      {
        sensitivity: 'posts',
      },
    );
    const { id } = await publish(ada, [film, sound, other], { title: 'Moving', visibility: 'public' });
    const { db } = library.database;
    await library.runJobs();
    await sql`update transcodes set state = 'running' where file_hash = ${film.file_hash}`.execute(db);
    expect((await read(`${actor}/posts/${id}`)).status).toBe(404);
    await sql`update transcodes set state = 'done' where file_hash = ${film.file_hash}`.execute(db);
    const attached = [(await readJson(`${actor}/posts/${id}`)).attachment].flat() as Json[];
    expect(attached).toMatchObject([
      {
        type: 'Video',
        mediaType: 'video/mp4',
        width: 320,
        height: 180,
        name: title,
        icon: { type: 'Image' },
      },
      { type: 'Audio', mediaType: 'audio/mpeg' },
      { type: 'Audio', mediaType: 'audio/mp4' },
    ]);
    expect(attached[0]?.duration).toMatch(/^PT1(\.\d+)?S$/);
    for (const { url, mediaType } of attached) {
      const served = await fetch(String(url));
      expect([served.status, served.headers.get('content-type')]).toEqual([200, mediaType]);
    }
    await ada.ok('deletePost', { params: { id }, body: undefined });
  });

  // AP-19
  test('writes the text of a profile as HTML', async () => {
    await ada.ok('updateUser', {
      params: { ref: ada.ref },
      body: { bio: 'Fog & <b>light</b>\nSecond\n\nThird' },
    });
    const { summary } = await readJson(actor);
    expect(summary).toBe('<p>Fog &amp; &lt;b&gt;light&lt;/b&gt;<br />Second</p><p>Third</p>');
    await ada.ok('updateUser', { params: { ref: ada.ref }, body: { bio: '' } });
  });

  // AP-18
  test('answers any kind of client with JSON for actors, and for notes if the request is signed', async () => {
    const { id } = await publishNote('Negotiated');
    const note = `${actor}/posts/${id}`;
    const statusOf = async (url: string, accept: string, signature?: string) => {
      const headers = { accept, ...(signature === undefined ? {} : { signature }) };
      return (await fetch(url, { headers, redirect: 'manual' })).status;
    };
    const mastodon = `${TYPE}, application/ld+json; profile="https://www.w3.org/ns/activitystreams", text/html;q=0.1`;
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    for (const url of [actor, note]) {
      for (const accept of [TYPE, 'application/LD+json', mastodon, 'application/*'])
        expect(await statusOf(url, accept), `${url} ${accept}`).toBe(200);
      for (const accept of [browser, 'text/html, */*', `text/html, ${TYPE}`])
        expect(await statusOf(url, accept), `${url} ${accept}`).toBe(302);
    }
    for (const path of ['outbox', 'followers']) expect(await statusOf(`${actor}/${path}`, '*/*')).toBe(200);
    expect(await statusOf(actor, '*/*')).toBe(200);
    expect(await statusOf(note, '*/*')).toBe(302);
    expect(await statusOf(note, '*/*', 'keyId="https://remote.example/key",signature="AA=="')).toBe(200);
    await ada.ok('deletePost', { params: { id }, body: undefined });
  });

  // AP-20
  test('leads clients that want JSON from the page of a post to its note', async () => {
    const { id } = await publishNote('Found by its page');
    const page = `/posts/${id}`;
    expect(await read(page)).toMatchObject({ status: 302, location: `${actor}/posts/${id}` });
    for (const accept of ['text/html', '*/*']) expect((await read(page, accept)).location).toBeNull();
    await ada.ok('updatePost', { params: { id }, body: { visibility: 'private' } });
    expect((await read(page)).status).toBe(404);
    await ada.ok('deletePost', { params: { id }, body: undefined });
  });

  // AP-17, HTTP-41
  test('answers absolute addresses of any host like their paths', { tags: ['not-proxied'] }, async () => {
    const path = actor.slice(library.address.length);
    const statusOf = async (method: string, target: string, accept = TYPE) => {
      const body = method === 'POST' ? '{}' : '';
      const headers = { accept, connection: 'close', 'content-type': TYPE };
      const wire = await openWire(library);
      await wire.send(headOf(method, `http://other.example${target}`, body.length, headers) + body);
      return (await wire.ended).status;
    };
    for (const target of [path, `${path}/outbox`, `${path}/followers`, webFinger('ada'), '/ap/nodeinfo/2.1'])
      expect(await statusOf('GET', target), target).toBe(200);
    expect(await statusOf('GET', path, 'text/html')).toBe(302);
    for (const target of ['/ap/inbox', `${path}/inbox`]) expect(await statusOf('POST', target)).toBe(400);
  });
});

describe('a follower', () => {
  // AP-7, AP-8, AP-9, AP-12, AP-14, VERSION-11
  test('is accepted and sent what becomes public, changes and ceases to be, until they leave', async () => {
    await publishNote('Before');
    await library.runJobs();
    expect((await bob.send(inbox(), follow())).status).toBe(202);
    const accept = { type: 'Accept', actor, object: { id: `${bob.uri}#follow-1`, type: 'Follow' } };
    expect(await arrived()).toMatchObject([accept]);
    expect(await own()).toMatchObject({ followers_count: 1 });
    const followers = await readJson(`${actor}/followers`);
    expect(followers).toMatchObject({ totalItems: 1 });
    expect(JSON.stringify(followers)).not.toContain(bob.uri);

    const fields = { title: 'Quay', description: 'Boats', sensitivity: 'posts' };
    const quay = await upload(ada, await jpeg(64, 48), fields);
    const { id } = await publish(ada, [quay], { title: 'Morning', visibility: 'public', draft: true });
    const params = { id };
    await publishNote('Internal', 'org-only');
    expect(await arrived()).toEqual([]);

    await ada.ok('publishPost', { params, body: undefined });
    const note = `${actor}/posts/${id}`;
    const object = { id: note, type: 'Note', attachment: [{ type: 'Image', name: 'Boats' }] };
    expect(await arrived()).toMatchObject([{ type: 'Create', actor, object }]);
    await ada.ok('updatePost', { params, body: { title: 'Noon' } });
    const updates = await arrived();
    expect(updates).toMatchObject([{ type: 'Update', object: { id: note } }]);
    expect(JSON.stringify(updates)).toContain('Noon');
    // Nothing changed that followers see.
    await ada.ok('updatePost', { params, body: { comments_enabled: false } });
    expect(await arrived()).toEqual([]);

    await ada.ok('addAssetVersion', {
      params: { id: quay.id },
      body: formOf(await jpeg(96, 72), {}, 'q.jpg'),
    });
    const replaced = { type: 'Image', width: 96, height: 72 };
    expect(await arrived()).toMatchObject([{ type: 'Update', object: { id: note, attachment: [replaced] } }]);

    await ada.ok('updateAsset', { params: { id: quay.id }, body: { mature: true } });
    expect(await arrived()).toMatchObject([{ type: 'Delete', object: { id: note, type: 'Tombstone' } }]);
    await ada.ok('updateAsset', { params: { id: quay.id }, body: { mature: false } });
    expect(await arrived()).toMatchObject([{ type: 'Create', object: { id: note } }]);
    await ada.ok('deletePost', { params, body: undefined });
    expect(await arrived()).toMatchObject([{ type: 'Delete', object: { id: note } }]);

    await bob.send(inbox(), undo(follow()));
    expect(await own()).toMatchObject({ followers_count: 0 });
    await publishNote('After');
    expect(await arrived()).toEqual([]);
  });

  // AP-9
  test('is reached with draft-cavage first, and with RFC 9421 if that is refused', async () => {
    await followAnew();
    bob.attempts.splice(0);
    await publishNote('First');
    await library.runJobs();
    expect(bob.attempts).toEqual(['draft-cavage']);
    bob.refuseWith = (request) => (request.headers['signature-input'] === undefined ? 401 : null);
    await publishNote('Second');
    await library.runJobs();
    expect(bob.attempts).toEqual(['draft-cavage', 'draft-cavage', 'rfc9421']);
    const keyId = `${actor}#main-key`;
    expect(bob.received.splice(0)).toMatchObject([
      { scheme: 'draft-cavage', keyId },
      { scheme: 'rfc9421', keyId },
    ]);
  });

  // AP-10
  test('receives pending activities once and in order when their system is reachable again', async () => {
    const waiting = async () => (await root.ok('getActivityPub')).waiting_count;
    bob.refuseWith = () => 503;
    const { id } = await publishNote('Waiting');
    await library.runJobs();
    await ada.ok('updatePost', { params: { id }, body: { title: 'Waited' } });
    await library.runJobs();
    expect(await waiting()).toBe(2);
    bob.refuseWith = () => null;
    await retry();
    expect((await arrived()).map(({ type }) => type)).toEqual(['Create', 'Update']);
    expect(await waiting()).toBe(0);

    // After three days it is given up.
    bob.refuseWith = () => 503;
    await publishNote('Lost');
    await library.runJobs();
    const { db } = library.database;
    await sql`update activitypub_deliveries set created_at = now() - interval '4 days'`.execute(db);
    await retry();
    expect([await waiting(), await arrived()]).toEqual([0, []]);
  });

  // AP-13, AP-14
  test('can like and boost a public post, which counts without a local like', async () => {
    const { id } = await publishNote('Liked');
    const hidden = await publishNote('Hidden', 'org-only');
    const by = { actor: bob.uri, object: `${actor}/posts/${id}` };
    const like = { ...by, id: `${bob.uri}#like`, type: 'Like' };
    const boost = { ...by, id: `${bob.uri}#boost`, type: 'Announce' };
    for (const activity of [like, boost, { ...like, id: `${bob.uri}#like-again` }])
      expect((await bob.send(inbox(), activity)).status).toBe(202);
    await bob.send(inbox(), { ...like, id: `${bob.uri}#no`, object: `${actor}/posts/${hidden.id}` });
    expect(await own()).toMatchObject({ likes_count: 1, boosts_count: 1 });
    expect(await ada.ok('getPost', { params: { id } })).toMatchObject({ like_count: 0 });
    await bob.send(inbox(), undo(like));
    await bob.send(inbox(), { ...by, id: `${bob.uri}#d`, type: 'Delete', object: boost.id });
    expect(await own()).toMatchObject({ likes_count: 0, boosts_count: 0 });
  });

  // AP-14
  test('undoes what they did by its id alone, and nothing that others did', async () => {
    const { id } = await publishNote('Undone');
    const object = `${actor}/posts/${id}`;
    const acts = [
      follow('by-id'),
      { id: `${bob.uri}#like-by-id`, type: 'Like', actor: bob.uri, object },
      { id: `${bob.uri}#boost-by-id`, type: 'Announce', actor: bob.uri, object },
    ];
    for (const act of acts) expect((await bob.send(inbox(), act)).status).toBe(202);
    await library.runJobs();
    const counts = { followers_count: 1, likes_count: 1, boosts_count: 1 };
    expect(await own()).toMatchObject(counts);
    const undoOf = (act: Json, by: RemotePerson): Json => ({ ...undo(act, by), object: act.id });
    for (const act of acts) expect((await eve.send(inbox(), undoOf(act, eve))).status).toBe(202);
    expect(await own()).toMatchObject(counts);
    for (const act of acts) expect((await bob.send(inbox(), undoOf(act, bob))).status).toBe(202);
    expect(await own()).toMatchObject({ followers_count: 0, likes_count: 0, boosts_count: 0 });
    await ada.ok('deletePost', { params: { id }, body: undefined });
    await arrived();
  });

  // AP-15
  test('cannot write into the library with replies', async () => {
    const { id } = await publishNote('Quiet');
    const inReplyTo = `${actor}/posts/${id}`;
    const note = { id: `${bob.uri}/1`, type: 'Note', attributedTo: bob.uri, inReplyTo, content: 'Hello' };
    const reply = { id: `${bob.uri}#create`, type: 'Create', actor: bob.uri, object: note };
    expect((await bob.send(inbox(), reply)).status).toBe(202);
    expect((await ada.ok('listComments', { params: { id } })).items).toEqual([]);
  });

  // AP-1, AP-8
  test('receives nothing while ActivityPub is disabled, and missed changes once it is enabled', async () => {
    await followAnew();
    const { id } = await publishNote('Seen');
    expect(await arrived()).toHaveLength(1);
    await root.ok('updateActivityPub', { body: { enabled: false } });
    await ada.ok('deletePost', { params: { id }, body: undefined });
    await publishNote('Meanwhile');
    expect(await arrived()).toEqual([]);
    await root.ok('updateActivityPub', { body: { enabled: true } });
    expect((await arrived()).map(({ type }) => type).toSorted()).toEqual(['Create', 'Delete']);
  });

  // AP-1, AP-10
  test('receives no more of a queue once ActivityPub is disabled', async () => {
    bob.refuseWith = () => 503;
    const { id } = await publishNote('Queued');
    await library.runJobs();
    await ada.ok('updatePost', { params: { id }, body: { title: 'Queued twice' } });
    await library.runJobs();
    bob.refuseWith = async () => {
      await root.ok('updateActivityPub', { body: { enabled: false } });
      return null;
    };
    await retry();
    expect((await arrived()).map(({ type }) => type)).toEqual(['Create']);
    bob.refuseWith = () => null;
    await root.ok('updateActivityPub', { body: { enabled: true } });
    expect((await arrived()).map(({ type }) => type)).toEqual(['Update']);
  });

  // AP-14
  test('is forgotten when their account is deleted, by nobody else', async () => {
    expect(await own()).toMatchObject({ followers_count: 1 });
    const deletion = { type: 'Delete', object: bob.uri };
    const gone = ({ uri }: RemotePerson) => ({ ...deletion, id: `${uri}#gone`, actor: uri });
    expect((await eve.send(inbox(), undo(follow(), eve))).status).toBe(202);
    await eve.send(inbox(), gone(eve));
    expect(await own()).toMatchObject({ followers_count: 1 });
    await bob.send(sharedInbox(), gone(bob));
    expect(await own()).toMatchObject({ followers_count: 0 });
  });
});

describe('an inbox', () => {
  // AP-16
  test('refuses activities without a valid signature of their actor', async () => {
    const before = await own();
    const tamper = (body: string) => body.replace('Follow', 'Block_');
    const statuses = [
      await bob.send(inbox(), follow('a'), { unsigned: true }),
      await bob.send(inbox(), follow('b'), { tamper }),
      await eve.send(inbox(), follow('c')),
      await eve.send(inbox(), follow('d'), { keyId: `${bob.uri}#main-key` }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401, 401]);
    const nobody = await bob.send(inbox(), { ...follow('e'), actor: undefined });
    expect(nobody.status).toBeGreaterThanOrEqual(400);
    expect(await own()).toEqual(before);
  });

  // AP-17
  test('refuses large, malformed and deeply nested bodies, and never fails', async () => {
    expect(await post(inbox(), `{"a":"${'x'.repeat(300_000)}"}`)).toBe(413);
    expect(await post(inbox(), '{')).toBe(400);
    expect(await post(inbox(), `${'['.repeat(5000)}${']'.repeat(5000)}`)).toBe(400);
    expect(await post(inbox(), '{}', { 'content-type': 'text/plain' })).toBe(415);
    // LANGUAGE-9
    const headers = { 'content-type': TYPE, 'accept-language': 'de' };
    const malformed = await fetch(inbox(), { method: 'POST', headers, body: '{' });
    expect(await malformed.json()).toEqual({
      error: 'die Aktivität ist fehlerhaft: der Inhalt ist kein JSON in UTF-8',
    });
    const bodies = ['null', '1', '"text"', '[]', '{}', '{"type":5}', '{"@context":"https://127.0.0.1:1/x"}'];
    for (const body of bodies) expect(await post(inbox(), body), body).toBeLessThan(500);

    const before = await own();
    const values = [null, -1e300, '', { type: 'Follow' }, 'https://a.example/\u0000'];
    const keys = ['id', 'type', 'actor', 'object', '@context', 'to', 'published', 'signature', 'proof'];
    for (const change of keys.flatMap((key) => values.map((value) => ({ [key]: value })))) {
      const activity = { ...follow(crypto.randomUUID()), type: 'Block', ...change };
      const { status } = await bob.send(inbox(), activity);
      expect(status, JSON.stringify(change)).toBeLessThan(500);
    }
    expect(await own()).toEqual(before);
  });

  // AP-11
  test('rejects documents that are compressed, too large, redirected or from another install', async () => {
    const send = (response: ServerResponse, body: string | Buffer, headers = {}) =>
      response.writeHead(200, { 'content-type': TYPE, ...headers }).end(body);
    const cases: Record<string, RemotePerson['serve']> = {
      compressed: (response) => send(response, gzipSync('{}'), { 'content-encoding': 'gzip' }),
      large: (response) => send(response, 'x'.repeat(2 * 1024 ** 2)),
      redirected: (response, path) => response.writeHead(302, { location: path }).end(),
      foreign: (response) => send(response, JSON.stringify(bob.document)),
      failing: (response) => response.writeHead(500).end(),
    };
    const before = await own();
    for (const [name, serve] of Object.entries(cases)) {
      const person = await startPerson(name);
      person.serve = serve;
      const { status } = await person.send(inbox(), follow('a', actor, person));
      await person.close();
      expect([400, 401], name).toContain(status);
    }
    expect(await own()).toEqual(before);
  });

  // AP-11
  test('refuses followers whose inbox is on another host', async () => {
    const person = await startPerson('far');
    person.document.inbox = bob.inbox;
    await person.send(inbox(), follow('a', actor, person));
    expect(await arrived()).toEqual([]);
    await person.close();
  });

  // AP-17
  test('refuses an activity with 503 while the database has no connection; it takes effect later', async () => {
    const { db } = library.database;
    const { id } = await publishNote('Liked twice');
    await arrived();
    const object = `${actor}/posts/${id}`;
    const like = { id: `${bob.uri}#later`, type: 'Like', actor: bob.uri, object };
    await sql`create function lose_connection() returns trigger language plpgsql as
      'begin raise exception using errcode = ''57P01''; end'`.execute(db);
    await sql`create trigger lost before insert on activitypub_reactions
      execute function lose_connection()`.execute(db);
    expect((await bob.send(inbox(), like)).status).toBe(503);
    await sql`drop trigger lost on activitypub_reactions`.execute(db);
    const { likes_count } = await own();
    expect((await bob.send(inbox(), like)).status).toBe(202);
    expect((await own()).likes_count).toBe(likes_count + 1);
  });
});

// AP-7, TRANSFER-1
test('followers lose the posts of an account that are transferred to another one', async () => {
  await followAnew();
  const { id } = await publishNote('Handed over');
  const [{ type, object } = {}] = await arrived();
  expect(type).toBe('Create');
  const heir = await library.join('heir');
  await root.ok('transferUser', { params: { ref: ada.ref }, body: { to: heir.ref } });
  expect(await arrived()).toContainEqual(
    expect.objectContaining({ type: 'Delete', object: expect.objectContaining({ id: noteIn(object) }) }),
  );
  await root.ok('transferUser', { params: { ref: heir.ref }, body: { to: ada.ref } });
  await ada.ok('deletePost', { params: { id }, body: undefined });
  await arrived();
});

// AP-5
test('a person who opts out is removed from the systems of their followers', async () => {
  await followAnew();
  await setFollowable(false);
  expect(await arrived()).toMatchObject([{ type: 'Delete', actor, object: actor }]);
  expect((await bob.send(inbox(), follow('late'))).status).toBe(404);
});

describe('a deleted account', () => {
  const deleteAccount = ({ ref }: { ref: number }) => root.status('DELETE', `/admin/users/${ref}`);
  /** An account that bob follows. */
  const followed = async (name: string) => {
    const account = await library.join(name);
    await account.ok('updateFollowableAccount', { body: { followable: true } });
    const id = String((await actorOf(name)).id);
    expect((await bob.send(`${id}/inbox`, follow(name, id))).status).toBe(202);
    await arrived();
    return { account, id };
  };
  const rowOf = async (id: string) => {
    const { rows } = await sql`select user_ref, withdrawn_at is not null as withdrawn,
        num_nonnulls(public_key, private_key_sealed)::int as keys,
        (select count(*) from activitypub_followers f where f.actor_id = ap.id)::int as followers
      from activitypub_actors ap where id = ${id.split('/').at(-1)}`.execute(library.database.db);
    return rows[0];
  };

  // AP-5, AP-7, USER-12
  test('is removed from the systems of its followers, and its actors stay 410', async () => {
    const { account, id: former } = await followed('cleo');
    await account.ok('updateFollowableAccount', { body: { followable: false } });
    await account.ok('updateFollowableAccount', { body: { followable: true } });
    const id = String((await actorOf('cleo')).id);
    await bob.send(`${id}/inbox`, follow('cleo-2', id));
    const own = await upload(account, plainFile('cleo'), {}, 'cleo.bin');
    const { id: post } = await publish(account, [own], { title: 'Left behind', visibility: 'public' });
    await arrived();
    expect((await read(`${id}/posts/${post}`)).status).toBe(200);
    await account.ok('updatePost', { params: { id: post }, body: { title: 'Pending' } });

    bob.refuseWith = () => 503;
    expect(await deleteAccount(account)).toBe(204);
    await library.runJobs();
    await retry();
    // The keys are kept until the Delete is sent.
    expect(await rowOf(id)).toEqual({ user_ref: null, withdrawn: true, keys: 2, followers: 0 });
    bob.refuseWith = () => null;
    await retry();
    expect(await arrived()).toMatchObject([{ type: 'Delete', actor: id, object: id }]);
    await retry();
    expect(await rowOf(id)).toEqual({ user_ref: null, withdrawn: true, keys: 0, followers: 0 });

    for (const address of [id, former]) {
      const { status, text } = await read(address);
      expect([status, text.includes('cleo')]).toEqual([410, false]);
    }
    for (const address of [`${id}/posts/${post}`, `${id}/outbox`, `${id}/followers`, webFinger('cleo')])
      expect((await read(address)).status, address).toBe(404);
    expect((await bob.send(`${id}/inbox`, follow('late', id))).status).toBe(404);
    // Its posts stay in the library, and are not sent any more.
    await root.ok('deletePost', { params: { id: post }, body: undefined });
    await retry();
    expect(await arrived()).toEqual([]);
    expect(await root.ok('getActivityPub')).toMatchObject({ accounts_count: 0, waiting_count: 0 });
  });

  // AP-5, AP-12
  test('ends also for followers and actors that are added concurrently', async () => {
    const { db } = library.database;
    const dora = await followed('dora');
    const emil = await library.join('emil');
    await sql`create function wait_for_test() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(99); return new; end'`.execute(db);
    for (const table of ['activitypub_followers', 'activitypub_actors'])
      await sql`create trigger wait before insert on ${sql.table(table)}
        for each row execute function wait_for_test()`.execute(db);
    const deletionDuring = async (account: { ref: number }, change: () => Promise<unknown>) => {
      const work = await db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(99)`.execute(tx);
        const changing = change();
        await comeToWait(db, 1);
        const deleting = deleteAccount(account);
        await Promise.race([comeToWait(db, 2), deleting]);
        return [changing, deleting];
      });
      return (await Promise.all(work))[1];
    };
    const person = await startPerson('late');
    const following = follow('meanwhile', dora.id, person);
    const status = await deletionDuring(dora.account, () => person.send(`${dora.id}/inbox`, following));
    expect([status, await rowOf(dora.id)]).toMatchObject([204, { withdrawn: true, followers: 0 }]);
    await library.runJobs();
    expect(person.received.map(({ activity }) => activity.type)).toEqual(['Delete']);
    await person.close();

    const optIn = () => emil.ok('updateFollowableAccount', { body: { followable: true } });
    expect(await deletionDuring(emil, optIn)).toBe(204);
    const { rows } = await sql`select from activitypub_actors where withdrawn_at is null`.execute(db);
    expect(rows).toHaveLength(0);
    for (const table of ['activitypub_followers', 'activitypub_actors'])
      await sql`drop trigger wait on ${sql.table(table)}`.execute(db);
  });
});

const guarded = await openPublic({
  VITRINE_RATE_LIMITS: 'on',
  VITRINE_ANONYMOUS_LIMIT: '3',
  VITRINE_TRUSTED_PROXIES: 'loopback',
});
await (await guarded.join('root', 'admin')).ok('updateActivityPub', { body: { enabled: true } });

describe('a library that allows no private addresses and limits requests', () => {
  // AP-11
  test('sends requests to public addresses only', async () => {
    let requests = 0;
    eve.serve = (response) => {
      requests += 1;
      response.end('{}');
    };
    const activity = follow('a', `${guarded.address}/ap/users/x`, eve);
    const { status } = await eve.send(`${guarded.address}/ap/inbox`, activity);
    expect([400, 401]).toContain(status);
    expect(requests).toBe(0);
  });

  // RATE-3
  test('counts requests of one address, which do not delay those of another', async () => {
    const url = `${guarded.address}/ap/users/none/inbox`;
    const statusFrom = (address: string) =>
      post(url, JSON.stringify(follow()), { 'x-forwarded-for': address });
    const flood = [];
    for (let n = 0; n < 5; n += 1) flood.push(await statusFrom('203.0.113.1'));
    expect(flood.slice(0, 3)).not.toContain(429);
    expect(flood.slice(3)).toEqual([429, 429]);
    expect(await statusFrom('203.0.113.2')).not.toBe(429);
  });
});

// AP-1
test('the service starts without loading the protocol library', async () => {
  const { settings, url, drop } = await cloneTemplate();
  const { db, close } = openPool(settings, 1);
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        if (/fedify|fastify/.test(name)) console.log(name);
        return next(name, context);
      },
    });`;
  const service = await startProcess(directory, {
    DATABASE_URL: url,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}`,
  });
  // By then, it has loaded what does the jobs.
  const workers = db.selectFrom('job_workers').select('worker_id');
  await expect.poll(async () => (await workers.execute()).length).toBeGreaterThan(0);
  service.child.kill();
  await service.exited;
  await close();
  await drop();
  expect(service.output()).toContain('fastify');
  expect(service.output()).not.toContain('fedify');
});
