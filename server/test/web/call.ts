import type { ShownAsset } from '@vitrine/contract/assets';
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';

export interface PageAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Calls the service with the session of a page, which need not show anything and may be navigating. `path` begins below
 * `/api/v1`.
 */
export async function callFrom(
  page: Page,
  method: string,
  path: string,
  body?: unknown,
): Promise<PageAnswer> {
  const response = await page.request.fetch(`/api/v1${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { data: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status(), text: await response.text() };
}

/** The same, but must succeed; returns the JSON of the response, undefined without one. */
export async function call(page: Page, method: string, path: string, body?: unknown) {
  const { status, text } = await callFrom(page, method, path, body);
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? undefined : JSON.parse(text);
}

/** Uploads a picture as the page's session, public unless `fields` say otherwise. */
export async function upload(
  page: Page,
  bytes: Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
  name = 'p.jpg',
): Promise<ShownAsset> {
  const answer = await page.request.post('/api/v1/assets', {
    multipart: {
      sensitivity: 'public',
      ...fields,
      file: { name, mimeType: 'image/jpeg', buffer: Buffer.from(bytes) },
    },
  });
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
    { timeout: 30_000, interval: 100 },
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
