import type { ShownAsset } from '@vitrine/contract/assets';
import type { PostCreate } from '@vitrine/contract/posts';
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';

/**
 * Calls the service with the session of a page, which need not show anything and may be navigating. `path` begins below
 * `/api/v1`.
 */
export async function callFrom(page: Page, method: string, path: string, body?: unknown) {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { data: JSON.stringify(body), headers };
  const response = await page.request.fetch(`/api/v1${path}`, { method, ...sent });
  return { status: response.status(), text: await response.text() };
}

/** The same, but must succeed; returns the JSON of the response, undefined without one. */
export async function call(page: Page, method: string, path: string, body?: unknown) {
  const { status, text } = await callFrom(page, method, path, body);
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? undefined : JSON.parse(text);
}

/** A file to choose in a form. */
export function fileOf(name: string, bytes: Uint8Array, mimeType = 'image/jpeg') {
  return { name, mimeType, buffer: Buffer.from(bytes) };
}

/** Uploads a picture as the page's session, public unless `fields` say otherwise. */
export async function upload(
  page: Page,
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
  name = 'p.jpg',
): Promise<ShownAsset> {
  const multipart = { sensitivity: 'public', ...fields, file: fileOf(name, bytes) };
  const answer = await page.request.post('/api/v1/assets', { multipart });
  expect(answer.status(), await answer.text()).toBe(201);
  return answer.json();
}

/** Returns how rendering an asset ended. */
export function settled(page: Page, id: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const { processing_status }: ShownAsset = await call(page, 'GET', `/assets/${id}`);
      expect(processing_status).not.toBe('pending');
      return processing_status;
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** Uploads a file and waits until it is rendered; returns its id. */
export async function uploadReady(
  page: Page,
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
  name?: string,
): Promise<string> {
  const { id } = await upload(page, bytes, fields, name);
  expect(await settled(page, id)).toBe('ready');
  return id;
}

/** Creates a post of these assets; returns its id. */
export async function publish(
  page: Page,
  title: string,
  assets: readonly string[],
  given: Partial<PostCreate> = {},
): Promise<string> {
  const members = assets.map((asset_id) => ({ asset_id }));
  return (await call(page, 'POST', '/posts', { title, members, ...given })).id;
}
