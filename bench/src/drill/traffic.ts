import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallError, type Client, createClient, routesOf } from '@vitrine/contract/client';
import { basePath, type Operations, operations } from '@vitrine/contract/operations';
import sharp from 'sharp';
import type { Journal } from './journal.ts';
import { admin, type Place } from './place.ts';

/** The outcome of a request: a status, or the reason why there was none. */
export interface Outcome {
  what: string;
  began: number;
  /** Milliseconds until the response was complete. */
  took: number;
}

/** The requests of writers and readers, with their outcomes. */
export interface Traffic {
  client: Client<Operations>;
  /** Returns all requests since the last call. */
  take(): Outcome[];
  start(): void;
  /** Stops sending requests. Resolves when the last one has been answered. */
  stop(): Promise<void>;
}

const WRITERS = 3;
const ANSWERED_WITHIN_MS = 60_000;
const AFTER_A_REFUSAL_MS = 50;
const BETWEEN_READS_MS = 100;

/** The size of a resumable upload, and how its client sends it. */
const RESUMABLE_BYTES = 1024 * 1024;
const PART_BYTES = 64 * 1024;
const BETWEEN_PARTS_MS = 20;
const CONTINUED_FOR_MS = 60_000;
const tusHeaders = { 'tus-resumable': '1.0.0' };

/** Thrown when a request of a resumable upload was refused. */
class Interrupted extends Error {}

/** Returns the name of a failed request in the table. */
function nameOf(error: unknown): string {
  const seen = [error, error instanceof Error ? error.cause : undefined];
  if (seen.some((one) => one instanceof Error && one.name === 'TimeoutError')) return 'no answer';
  const codes = seen.map((one) => (one instanceof Error && 'code' in one ? String(one.code) : ''));
  if (codes.includes('ECONNREFUSED')) return 'connection refused';
  return 'connection lost';
}

/** Creates a picture of noise, so that all files have distinct bytes. */
async function picture(seed: number): Promise<Uint8Array<ArrayBuffer>> {
  const [width, height, channels] = [160, 120, 3] as const;
  const pixels = Buffer.alloc(width * height * channels);
  let state = seed + 1;
  for (let at = 0; at < pixels.length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    pixels[at] = state >>> 16;
  }
  const jpeg = await sharp(pixels, { raw: { width, height, channels } }).jpeg().toBuffer();
  return Uint8Array.from(jpeg);
}

/** Signs in. The session survives every fault. */
export async function signIn(place: Place): Promise<string> {
  const response = await fetch(`${place.address()}${basePath}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  });
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0];
  if (!response.ok || cookie === undefined) throw new Error(`signing in is ${response.status}`);
  return cookie;
}

/** Returns the bytes of an asset's original as served. */
export async function fetchOriginal(place: Place, cookie: string, id: string): Promise<Uint8Array> {
  const response = await fetch(`${place.address()}${basePath}/assets/${id}/file`, {
    headers: { cookie },
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
  });
  if (!response.ok) throw new Error(`the bytes of ${id} are ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * Runs three writers that repeatedly upload a picture, post it, comment on the post and like it, and two concurrent
 * readers. A writer continues only after the acknowledged write is in the journal.
 */
export async function openTraffic(
  place: Place,
  journal: Journal,
  uploads: 'whole' | 'resumable',
): Promise<Traffic> {
  const cookie = await signIn(place);
  const outcomes: Outcome[] = [];
  const note = (what: string, began = performance.now()) =>
    outcomes.push({ what, began, took: performance.now() - began });
  const watched = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const began = performance.now();
    try {
      const response = await fetch(place.address() + path, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init.headers)), cookie },
        signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
      });
      const body = await response.bytes();
      note(String(response.status), began);
      return new Response(body.length === 0 ? null : body, response);
    } catch (error) {
      note(nameOf(error), began);
      throw error;
    }
  };
  const client = createClient<Operations>(routesOf(operations), {
    baseUrl: basePath,
    fetch: (url, init) => watched(String(url), init),
  });
  const newest = { asset: '', post: '' };
  let pictures = Date.now() % 1_000_000_000;

  /** Sends the rest of a resumable upload slowly. Resolves with the response. */
  function sendRest(path: string, bytes: Uint8Array<ArrayBuffer>, offset: number): Promise<Response> {
    let at = offset;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        await sleep(BETWEEN_PARTS_MS);
        controller.enqueue(bytes.subarray(at, at + PART_BYTES));
        at += PART_BYTES;
        if (at >= bytes.length) controller.close();
      },
    });
    const headers = {
      ...tusHeaders,
      'upload-offset': String(offset),
      'content-type': 'application/offset+octet-stream',
    };
    // The type of DOM's `fetch` lacks `duplex`, which Node requires of streams.
    const init = { method: 'PATCH', headers, body, duplex: 'half' };
    return watched(path, init);
  }

  /** Uploads in a way that continues after interruptions, and creates an asset of the result. */
  async function createAssetResumably(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<{ id: string }> {
    const created = await watched(`${basePath}/uploads`, {
      method: 'POST',
      headers: {
        ...tusHeaders,
        'upload-length': String(bytes.length),
        'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
      },
    });
    const path = created.headers.get('location');
    if (created.status !== 201 || path === null) throw new Interrupted('the upload was not created');
    const { pathname } = new URL(path, place.address());
    let acknowledged = 0;
    return persistently(async () => {
      const { headers, ok } = await watched(pathname, { method: 'HEAD', headers: tusHeaders });
      if (!ok) throw new Interrupted('the offset is not known');
      const offset = Number(headers.get('upload-offset'));
      if (offset < acknowledged) note(`offset ${offset} after ${acknowledged}`);
      if (offset < bytes.length) {
        const sent = await sendRest(pathname, bytes, offset);
        if (!sent.ok) throw new Interrupted('a part was refused');
        acknowledged = Number(sent.headers.get('upload-offset'));
      }
      // Repeating it returns the asset that a lost response had.
      return client.call('createAsset', { body: { upload_id: pathname.split('/').at(-1) ?? '' } });
    });
  }

  async function createAsset(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<{ id: string }> {
    if (uploads === 'resumable') return createAssetResumably(bytes, name);
    const form = new FormData();
    form.append('file', new Blob([bytes]), name);
    return client.call('createAsset', { body: form });
  }

  async function writeOnce(): Promise<void> {
    pictures += 1;
    const drawn = await picture(pictures);
    // Decoders ignore what follows a JPEG.
    const bytes = uploads === 'whole' ? drawn : Uint8Array.from([...drawn, ...randomBytes(RESUMABLE_BYTES)]);
    const asset = await createAsset(bytes, `drill-${pictures}.jpg`);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    journal.write({ kind: 'asset', id: asset.id, sha256, bytes: bytes.length });
    newest.asset = asset.id;
    const title = `Drill ${pictures}`;
    const body = { title, members: [{ asset_id: asset.id }] };
    const post = await client.call('createPost', { body });
    journal.write({ kind: 'post', id: post.id, assets: [asset.id], title });
    newest.post = post.id;
    const remark = `Remark ${pictures}`;
    const comment = await client.call('createComment', { params: { id: post.id }, body: { body: remark } });
    journal.write({ kind: 'comment', id: comment.id, post: post.id, body: remark });
    await client.call('likePost', { params: { id: post.id } });
    journal.write({ kind: 'like', post: post.id });
  }

  async function readOnce(): Promise<void> {
    await sleep(BETWEEN_READS_MS);
    await watched('/readyz');
    if (newest.post !== '') await client.call('getPost', { params: { id: newest.post } });
    if (newest.asset !== '') await watched(`${basePath}/assets/${newest.asset}/file`);
  }

  let stopped = true;
  let lanes: Promise<void>[] = [];
  const lane = async (step: () => Promise<void>) => {
    while (!stopped) {
      try {
        await step();
      } catch (error) {
        await afterFailure(error);
      }
    }
  };
  return {
    client,
    take: () => outcomes.splice(0),
    start() {
      stopped = false;
      lanes = [...Array.from({ length: WRITERS }, () => writeOnce), readOnce, readOnce].map(lane);
    },
    async stop() {
      stopped = true;
      await Promise.all(lanes);
    },
  };
}

/** Waits a moment after a request that failed. Throws errors of the drill itself. */
async function afterFailure(error: unknown): Promise<void> {
  if (!(error instanceof CallError || error instanceof Interrupted) && !isOfFetch(error)) throw error;
  await sleep(AFTER_A_REFUSAL_MS);
}

/** Repeats steps of a client that fail, as long as clients do. */
async function persistently<T>(step: () => Promise<T>): Promise<T> {
  const until = Date.now() + CONTINUED_FOR_MS;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (Date.now() > until) throw error;
      await afterFailure(error);
    }
  }
}

/** Returns whether an error is a network error thrown by `fetch`, and not one of the drill itself. */
function isOfFetch(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError');
}
