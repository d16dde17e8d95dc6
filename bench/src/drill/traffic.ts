import { createHash } from 'node:crypto';
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
export async function openTraffic(place: Place, journal: Journal): Promise<Traffic> {
  const cookie = await signIn(place);
  const outcomes: Outcome[] = [];
  const watched = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const began = performance.now();
    const note = (what: string) => outcomes.push({ what, began, took: performance.now() - began });
    try {
      const response = await fetch(place.address() + path, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init.headers)), cookie },
        signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
      });
      const body = await response.bytes();
      note(String(response.status));
      return new Response(body.length === 0 ? null : body, response);
    } catch (error) {
      note(nameOf(error));
      throw error;
    }
  };
  const client = createClient<Operations>(routesOf(operations), {
    baseUrl: basePath,
    fetch: (url, init) => watched(String(url), init),
  });
  const newest = { asset: '', post: '' };
  let pictures = Date.now() % 1_000_000_000;

  async function writeOnce(): Promise<void> {
    pictures += 1;
    const bytes = await picture(pictures);
    const form = new FormData();
    form.append('file', new Blob([bytes]), `drill-${pictures}.jpg`);
    const asset = await client.call('createAsset', { body: form });
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
        if (!(error instanceof CallError) && !isOfFetch(error)) throw error;
        await sleep(AFTER_A_REFUSAL_MS);
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

/** Returns whether an error is a network error thrown by `fetch`, and not one of the drill itself. */
function isOfFetch(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError');
}
