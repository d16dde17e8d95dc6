import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { capabilities } from '@vitrine/contract/capabilities';
import { afterAll, expect, test } from 'vitest';
import { slowSvg } from '../media/hostile-files.ts';
import { requestAs, type Visitor } from '../support/client.ts';
import { rootSettings, signInAt } from '../support/first-admin.ts';
import { formOf, publish, upload } from '../support/library.ts';
import { jpeg, png, sha256 } from '../support/pictures.ts';
import { isAlive, postmasterOf, startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { base } from './clusters.ts';
import { expectSurvival, until, untilRendered } from './disturbed.ts';

const MB = 1024 * 1024;

/** One library for all tests: creating a PostgreSQL cluster costs more than most of them. */
const directory = await temporaryDirectory(base);
let service = await startProcess(directory, rootSettings);
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.exited;
});

/** Performs the acts one after the other until the service is gone. */
async function untilGone(acts: Iterable<() => Promise<unknown>>): Promise<void> {
  for (const act of acts) {
    try {
      await act();
    } catch {
      return;
    }
  }
}

/** Sends all but the last megabyte of a file with tus, and never ends the request. */
async function stallUpload({ cookie }: Visitor, bytes: Buffer<ArrayBuffer>) {
  const tus = (method: string, path: string, headers: Record<string, string>, body?: BodyInit) =>
    fetch(new URL(path, service.address), {
      method,
      headers: { 'tus-resumable': '1.0.0', cookie: `user=${cookie()}`, ...headers },
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    } as RequestInit);
  const part = (offset: number) => ({
    'upload-offset': String(offset),
    'content-type': 'application/offset+octet-stream',
  });
  const created = await tus('POST', '/api/v1/uploads', { 'upload-length': String(bytes.length) });
  const path = created.headers.get('location') ?? '';
  const sent = bytes.subarray(0, bytes.length - MB);
  const stalled = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(sent) });
  const broken = tus('PATCH', path, part(0), stalled).catch(() => null);
  const uploads = join(directory, 'library', 'uploads');
  const onDisk = async () => {
    const [name] = await readdir(uploads);
    return name === undefined ? 0 : (await stat(join(uploads, name))).size;
  };
  await expect.poll(onDisk).toBe(sent.length);
  return {
    id: path.split('/').at(-1) ?? '',
    broken,
    offset: async () => Number((await tus('HEAD', path, {})).headers.get('upload-offset')),
    finish: async (offset: number) => (await tus('PATCH', path, part(offset), bytes.subarray(offset))).status,
  };
}

/** Sends the start of a form with a new version, and never ends the request. */
async function stallVersion({ cookie }: Visitor, id: string): Promise<void> {
  const start = '--part\r\ncontent-disposition: form-data; name="file"; filename="v.png"\r\n\r\n\x89PNG';
  const stalled = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(start, 'latin1')),
  });
  await fetch(new URL(`/api/v1/assets/${id}/versions`, service.address), {
    method: 'POST',
    headers: { cookie: `user=${cookie()}`, 'content-type': 'multipart/form-data; boundary=part' },
    body: stalled,
    duplex: 'half',
  } as RequestInit).catch(() => null);
}

/** Asserts that the acknowledged versions of an asset are there, and that every version has its bytes. */
async function expectVersions(
  visitor: Visitor,
  id: string,
  added: ReadonlyMap<number, string>,
): Promise<void> {
  const { items } = await visitor.ok('listAssetVersions', { params: { id } });
  expect(items.map(({ number }) => number)).toEqual(items.map((_, place) => items.length - place));
  // At most one version was added without its response arriving.
  expect(items.length - 1 - added.size).toBeGreaterThanOrEqual(0);
  expect(items.length - 1 - added.size).toBeLessThanOrEqual(1);
  for (const { number, file_hash: hash } of items) {
    const bytes = await (await requestAs(visitor, service, `/assets/${id}/file?version=${number}`)).bytes();
    expect([number, sha256(bytes), hash]).toEqual([number, hash, added.get(number) ?? hash]);
  }
}

// UPLOAD-3, UPLOAD-12, VERSION-7
test('kill -9 of all processes loses no acknowledged change, and leaves none incomplete', async () => {
  const root = await signInAt(service.address);
  const password = 'another password';
  const asker = await root.ok('createUser', { body: { username: 'asker', password, role: 'viewer' } });
  const visitor = await signInAt(service.address, 'asker', password);
  const secret = await upload(root, await jpeg(60, 40), { sensitivity: 'restricted' });
  const collection = await root.ok('createCollection', { body: { name: 'All' } });
  const posts: string[] = [];
  for (let i = 0; i < 40; i += 1) posts.push((await publish(root, [secret])).id);
  const asks: string[] = [];
  for (const capability of [
    'content.access.request',
    ...capabilities.filter((one) => one !== 'system.admin'),
  ]) {
    const { id } = await visitor.ok('requestAccess', { params: { id: secret.id }, body: { capability } });
    asks.push(id);
  }
  const logos = await Promise.all(Array.from({ length: 12 }, (_, i) => png(40 + i, 40)));
  const bytes = Buffer.alloc(18 * MB, 'every byte of this file counts. ');
  bytes.writeUInt32BE(7, 16 * MB);
  const stalled = await stallUpload(root, bytes);
  const replaced = await upload(root, await png(50, 40), {}, 'v.png');
  const stalledVersion = stallVersion(root, replaced.id);

  const assets = new Map<string, string>();
  const published = new Set<string>();
  const decided = new Set<string>();
  const collected = new Set<string>();
  const versions = new Map<number, string>();
  let lastVersion = await png(50, 40, 100);
  let lastLogo = '';
  const uploading = function* (lane: number) {
    for (let i = 0; ; i += 1)
      yield async () => {
        const picture = await jpeg(300, 200, { seed: lane * 1000 + i });
        const asset = await upload(root, picture);
        assets.set(asset.id, sha256(picture));
        published.add((await publish(root, [asset])).id);
      };
  };
  const replacing = function* () {
    for (let seed = 101; ; seed += 1)
      yield async () => {
        lastVersion = await png(50, 40, seed);
        const body = formOf(lastVersion, {}, 'v.png');
        const { number, file_hash } = await root.ok('addAssetVersion', { params: { id: replaced.id }, body });
        versions.set(number, file_hash);
      };
  };
  const isEnough = () => assets.size >= 3 && decided.size >= 5 && collected.size >= 5 && versions.size >= 3;
  /** Keeps the last acts of a quick lane until the slow ones have begun, so that the kill interrupts it. */
  const keepSome = async (left: number) => {
    while (left <= 10 && !isEnough()) await sleep(1);
  };
  const lanes = [
    untilGone(uploading(1)),
    untilGone(uploading(2)),
    untilGone(replacing()),
    untilGone(
      asks.map((id, at) => async () => {
        await keepSome(asks.length - at);
        await root.ok('decideRequest', { params: { id }, body: { decision: 'granted' } });
        decided.add(id);
      }),
    ),
    untilGone(
      posts.map((post_id, at) => async () => {
        await keepSome(posts.length - at);
        await root.ok('addToCollection', { params: { id: collection.id, post_id } });
        collected.add(post_id);
      }),
    ),
    untilGone(
      logos.map((logo) => async () => {
        const answer = await root.ok('uploadLogo', { body: new Blob([logo], { type: 'image/png' }) });
        lastLogo = answer.logo_history?.[0]?.hash ?? '';
      }),
    ),
  ];
  const postmaster = await postmasterOf(directory);
  while (!isEnough()) await sleep(1);
  service.child.kill('SIGKILL');
  process.kill(postmaster, 'SIGKILL');
  await service.exited;
  await Promise.all([...lanes, stalled.broken, stalledVersion]);
  expect([decided.size < asks.length, collected.size < posts.length]).toEqual([true, true]);

  service = await startProcess(directory, rootSettings);
  const again = await signInAt(service.address);
  for (const id of published) await again.ok('getPost', { params: { id } });
  await untilRendered(again, [...assets.keys()]);
  for (const [id, hash] of assets) {
    const response = await requestAs(again, service, `/assets/${id}/file`);
    expect([id, sha256(await response.bytes())]).toEqual([id, hash]);
  }

  await expectVersions(again, replaced.id, versions);
  const repeated = { method: 'POST', body: formOf(lastVersion, {}, 'v.png') };
  // 409: the version was added, and only its response was lost.
  expect([201, 409]).toContain((await again.send(`/assets/${replaced.id}/versions`, repeated)).status);
  const current = await requestAs(again, service, `/assets/${replaced.id}/file`);
  expect(sha256(await current.bytes())).toBe(sha256(lastVersion));

  const offset = await stalled.offset();
  expect(offset).toBeGreaterThanOrEqual(16 * MB);
  expect(offset).toBeLessThanOrEqual(17 * MB);
  expect(await stalled.finish(offset)).toBe(204);
  const resumed = await again.ok('createAsset', { body: { upload_id: stalled.id } });
  expect(resumed).toMatchObject({ file_size_bytes: bytes.length, file_hash: sha256(bytes) });

  const requests = (await again.ok('listAllRequests', { query: { limit: 200 } })).items;
  const granted = requests.filter(({ state }) => state === 'granted');
  // At most one decision was made without its response arriving.
  expect([...decided].filter((id) => !granted.some((one) => one.id === id))).toEqual([]);
  expect(granted.length - decided.size).toBeLessThanOrEqual(1);
  const { grants } = await again.ok('getUserCapabilities', { params: { ref: asker.ref } });
  expect(grants.map(({ capability }) => capability).sort()).toEqual(
    granted.map((one) => one.requested_capability).sort(),
  );

  const listed = { params: { id: collection.id }, query: { limit: 200 } };
  const kept = (await again.ok('listCollectionPosts', listed)).items.map(({ id }) => id);
  expect(kept).toEqual(posts.slice(0, kept.length));
  expect([...collected].filter((id) => !kept.includes(id))).toEqual([]);

  const { logo_history: history = [], logo_url: url } = await again.ok('getAdminAppearance');
  expect(history.map(({ available }) => available)).toEqual(history.map(() => true));
  if (lastLogo !== '') expect(history.map(({ hash }) => hash).slice(0, 2)).toContain(lastLogo);
  expect(url?.split('v=')[1]).toBe(history.find(({ active }) => active)?.hash);
});

// RUN-1
test('a second start on the same library is refused in one line', async () => {
  const second = await startProcess(directory, rootSettings).catch((error: unknown) => String(error));
  expect(second).toBe(`Error: ended with 1: another Vitrine is using ${directory}`);
});

/** Returns the decoder processes of the service. */
async function decoders(): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/, 2).map(Number);
    return parent === service.child.pid && /decoding.child\.[jt]s/.test(line) ? [pid ?? 0] : [];
  });
}

// RUN-4
test('the embedded PostgreSQL is restarted when its postmaster is killed', async () => {
  const first = await postmasterOf(directory);
  await expectSurvival({ service, visitor: await signInAt(service.address) }, async () => {
    process.kill(first, 'SIGKILL');
    const current = () => postmasterOf(directory).catch(() => first);
    await until('another one runs', async () => (await current()) !== first);
  });
});

test('the service stops without waiting for a long rendering, and leaves no decoder and no PostgreSQL behind', async () => {
  const root = await signInAt(service.address);
  await upload(root, slowSvg({ filters: 400 }), {}, 'slow.svg');
  const rendering = async () => {
    const { items } = await root.ok('listJobs', { query: { name: 'render', state: 'running' } });
    return [items.length, (await decoders()).length > 0];
  };
  await expect.poll(rendering).toEqual([1, true]);
  const running = [...(await decoders()), await postmasterOf(directory)];
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  expect(running.filter(isAlive)).toEqual([]);
});
