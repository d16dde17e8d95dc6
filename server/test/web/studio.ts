import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { startWorkerFor } from '../../src/main.ts';
import { sharedBrowser } from '../support/browser.ts';
import { type Library, openLibrary } from '../support/library.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

/** Of everybody in a studio. */
export const password = 'a long password';

/** Milliseconds that anything on a page may take; a busy machine needs them. */
const patience = 20_000;

/** The service with a browser in front of it: one for each test file. */
export interface Studio {
  readonly address: string;
  /** The data directory; also a place for files to upload. */
  readonly directory: string;
  /** Everything that any page threw, and what browsers refused it for its Content-Security-Policy. */
  readonly faults: string[];
  /** A page with cookies of its own. Addresses may be given as paths. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** A page of somebody who is signed in, without the form for it; it shows nothing yet. */
  enter(username: string, options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

interface Service {
  readonly address: string;
  readonly directory: string;
  stop(): Promise<void>;
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

async function furnish({ address, directory, stop }: Service): Promise<Studio> {
  const browser = await sharedBrowser();
  const faults: string[] = [];
  const contexts: BrowserContext[] = [];

  async function openPage(given: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      baseURL: address,
      viewport: { width: 1280, height: 900 },
      // Rendering every frame of a transition takes a tenth of the browser's time.
      reducedMotion: 'reduce',
      ...given,
    });
    contexts.push(context);
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
    faults,
    openPage,
    async enter(username, given) {
      const page = await openPage(given);
      const { status, text } = await callFrom(page, 'POST', '/auth/login', { username, password });
      expect(status, text).toBe(200);
      return page;
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await stop();
    },
  };
}

/**
 * Starts the service and its job worker in this process, on a library that has its administrator `mara` and its name,
 * Studio North. The library closes after the file's tests. `env` are settings over the tests' own.
 */
export async function openStudio(env: Record<string, string> = {}): Promise<Studio & { library: Library }> {
  const library = await openLibrary(env);
  const { address, config, deps, database } = library;
  const worker = await startWorkerFor(deps, { ...database, lost: new Promise(() => {}) });
  await setUp(address);
  return { ...(await furnish({ address, directory: config.dataDir, stop: worker.stop })), library };
}

/** Starts the service as its users do, before set-up: a process on an empty directory, with a database of its own. */
export async function startStudio(
  env: Record<string, string> = {},
): Promise<Studio & Pick<ServiceProcess, 'output'>> {
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-studio-'));
  await chmod(directory, 0o755);
  const { address, output, child, exited } = await startProcess(directory, env);
  const stop = async () => {
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    await rm(directory, { recursive: true, force: true });
  };
  return { ...(await furnish({ address, directory, stop })), output };
}
