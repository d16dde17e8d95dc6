import type { Page } from 'playwright-core';

export interface PageAnswer {
  readonly status: number;
  readonly text: string;
}

/** Calls the service from a page, with its cookie and its origin. `path` begins below `/api/v1`. */
export function callFrom(page: Page, method: string, path: string, body?: unknown): Promise<PageAnswer> {
  return page.evaluate(
    async ({ method, path, body }) => {
      const init: RequestInit = { method };
      if (body !== undefined) {
        init.headers = { 'content-type': 'application/json' };
        init.body = JSON.stringify(body);
      }
      const response = await fetch(`/api/v1${path}`, init);
      return { status: response.status, text: await response.text() };
    },
    { method, path, body },
  );
}
