import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { cloneTemplate } from '../support/clone.ts';
import { startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

/** Of everybody in a studio. */
export const password = 'a long password';

/** Milliseconds that anything on a page may take; a busy machine needs them. */
const patience = 20_000;

export interface StudioOptions {
  /** Settings of the service over the tests' own. */
  readonly env?: Record<string, string>;
  /** Whether it has its administrator `mara` and its name, Studio North, already. */
  readonly isSetUp?: boolean;
  /** The database that comes with it, in the data directory, as its users have it; else one of the test server. */
  readonly embedded?: boolean;
}

/** The service as its users run it, with a browser in front of it: one for each test file. */
export interface Studio {
  readonly address: string;
  /** The data directory; also a place for files to be uploaded. */
  readonly directory: string;
  readonly browser: Browser;
  /** Everything the service printed so far. */
  output(): string;
  /** Everything that any page threw, and what browsers refused it for its Content-Security-Policy. */
  readonly faults: string[];
  /** A page with cookies of its own. Addresses may be given as paths. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** A page of somebody who is signed in, without the form for it; it shows nothing yet. */
  enter(username: string, options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

async function setUp(address: string): Promise<void> {
  const answer = await fetch(`${address}/api/v1/setup/complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'mara', password, site_name: 'Studio North' }),
  });
  expect(answer.status, await answer.text()).toBe(201);
  // Nobody uses the session that came with it: it would be one more in the lists of sessions.
  const cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const out = await fetch(`${address}/api/v1/auth/logout`, { method: 'POST', headers: { cookie } });
  expect(out.ok, await out.text()).toBe(true);
}

/** Starts the service on an empty library, and a browser. */
export async function openStudio(options: StudioOptions = {}): Promise<Studio> {
  const { env = {}, isSetUp = true, embedded = false } = options;
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-studio-'));
  await chmod(directory, 0o755);
  const clone = embedded ? undefined : await cloneTemplate();
  const service = await startProcess(directory, {
    ...(clone === undefined ? {} : { DATABASE_URL: clone.url }),
    ...env,
  });
  const { address } = service;
  const [browser] = await Promise.all([openBrowser(), isSetUp ? setUp(address) : undefined]);
  const faults: string[] = [];

  async function openPage(given: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      baseURL: address,
      viewport: { width: 1280, height: 900 },
      ...given,
    });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Permissions-Policy/.test(message.text())) faults.push(message.text());
    });
    return page;
  }

  return {
    address,
    directory,
    browser,
    output: service.output,
    faults,
    openPage,
    async enter(username, given) {
      const page = await openPage(given);
      const { status, text } = await callFrom(page, 'POST', '/auth/login', { username, password });
      expect(status, text).toBe(200);
      return page;
    },
    async close() {
      await browser.close();
      service.child.kill('SIGTERM');
      expect(await service.exited).toBe(0);
      await clone?.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
