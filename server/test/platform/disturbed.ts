import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Visitor } from '../support/client.ts';
import { jpeg } from '../support/pictures.ts';
import type { ServiceProcess } from '../support/process.ts';

/** A service that tests disturb, and an account of it. */
export interface Running {
  service: ServiceProcess;
  visitor: Visitor;
}

/** The responses that clients receive while the database is disturbed. */
interface Seen {
  /** Ids of the acknowledged assets. */
  assets: string[];
  refused: number;
  /** Responses that are neither a success nor a 503 with `Retry-After`. */
  faults: string[];
}

let seeds = 0;

/** Uploads and reads continuously until stopped. */
function keepBusy({ visitor, service }: Running): { seen: Seen; stop(): Promise<void> } {
  const seen: Seen = { assets: [], refused: 0, faults: [] };
  let over = false;
  const judge = (what: string, status: number, headers: Headers, text: string) => {
    if (status === 503 && headers.has('retry-after')) seen.refused += 1;
    else if (status >= 300) seen.faults.push(`${what}: ${status} ${text}`);
    return status < 300;
  };
  const repeat = async (what: string, once: () => Promise<void>) => {
    while (!over) {
      await once().catch((error: unknown) => {
        seen.faults.push(`${what}: ${error}`);
        over = true;
      });
    }
  };
  const read = async () => {
    const { status, headers, text } = await visitor.send('/posts');
    judge('GET /posts', status, headers, text);
    await sleep(5);
  };
  const uploadOne = async () => {
    seeds += 1;
    const body = new FormData();
    body.append('file', new Blob([await jpeg(160, 120, { seed: seeds })]), 'picture.jpg');
    const { status, headers, text } = await visitor.send('/assets', { method: 'POST', body });
    if (judge('POST /assets', status, headers, text)) seen.assets.push(JSON.parse(text).id);
  };
  const ready = async () => {
    const response = await fetch(`${service.address}/readyz`);
    judge('GET /readyz', response.status, response.headers, await response.text());
    await sleep(20);
  };
  const lanes = [
    repeat('upload', uploadOne),
    repeat('upload', uploadOne),
    repeat('read', read),
    repeat('ready', ready),
  ];
  return {
    seen,
    async stop() {
      over = true;
      await Promise.all(lanes);
    },
  };
}

/** Waits until a condition holds; fails with its description. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  withinMs = 30_000,
): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(50);
  }
}

export async function untilRendered(visitor: Visitor, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await until(`${id} is rendered`, async () => {
      const asset = await visitor.ok('getAsset', { params: { id } });
      return !asset.restricted && asset.processing_status === 'ready' && asset.ladder_available;
    });
  }
}

export async function isReady({ service }: Running): Promise<boolean> {
  return (await fetch(`${service.address}/readyz`)).status === 200;
}

/** Disturbs a busy service, and expects it to recover without losing an acknowledged write. */
export async function expectSurvival(running: Running, disturb: () => Promise<void>): Promise<Seen> {
  const { seen, stop } = keepBusy(running);
  try {
    await until('some uploads', () => seen.assets.length >= 3);
    await disturb();
    await until('ready again', () => isReady(running));
    const before = seen.assets.length;
    await until('uploads again', () => seen.assets.length >= before + 3 || seen.faults.length > 0);
  } finally {
    await stop();
  }
  expect(seen.faults).toEqual([]);
  expect(running.service.child.exitCode, running.service.output()).toBe(null);
  await untilRendered(running.visitor, seen.assets);
  return seen;
}
