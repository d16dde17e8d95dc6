import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { beforeEach, expect } from 'vitest';
import { startWorkerFor } from '../../src/boot/worker.ts';
import { writeSetting } from '../../src/core/settings.ts';
import { createFirstAdministrator } from '../../src/operate/set-up/first-administrator.ts';
import { createAccount } from '../../src/people/identity/accounts.ts';
import { sharedBrowser } from '../support/browser.ts';
import { type Library, openLibrary, password } from '../support/library.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { callFrom } from './call.ts';

/** The longest time in milliseconds for anything on a page, also on a busy machine. */
const patience = 60_000;

interface EntryOptions extends BrowserContextOptions {
  /** Whether the feed offers the first steps. Their panel may cover what a test needs, so they are hidden by default. */
  firstSteps?: boolean;
}

/** A service and a browser, one for each test file. */
export interface Studio {
  readonly address: string;
  /** The data directory; files to upload may be put there. */
  readonly directory: string;
  /** All errors of pages, and violations of their Content-Security-Policy. Closing fails if there are any. */
  readonly faults: string[];
  /** Opens a page with its own cookies. Addresses may be paths. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  /** Opens an empty page of a signed-in account, without using the sign-in form. */
  enter(username: string, options?: EntryOptions): Promise<Page>;
  close(): Promise<void>;
}

/** A studio in the process of the tests. */
export interface OpenStudio extends Studio {
  readonly library: Library;
  /** Creates a member and opens an empty page in which they are signed in. */
  join(username: string, fullname?: string, options?: EntryOptions): Promise<Page>;
}

interface Service {
  readonly address: string;
  readonly directory: string;
  stop(): Promise<void>;
}

/** Marks the first steps of an account as hidden in every document that has storage. */
function hideFirstSteps(page: Page, ref: number) {
  return page.context().addInitScript((key) => {
    try {
      localStorage.setItem(key, 'hidden');
    } catch {
      // Empty pages and framed documents have none.
    }
  }, `vitrine.first-steps.${ref}`);
}

/** `own`: a browser that closes with the studio. */
async function furnish({ address, directory, stop }: Service, own?: Browser): Promise<Studio> {
  const browser = own ?? (await sharedBrowser());
  const faults: string[] = [];
  const contexts: BrowserContext[] = [];

  // A failed wait says only what is missing. Prints what was there instead.
  beforeEach(({ onTestFailed }) =>
    onTestFailed(async () => {
      for (const page of contexts.flatMap((context) => context.pages())) {
        const shown = await page.locator('body').ariaSnapshot({ timeout: 2000 }).catch(String);
        console.error(`When the test failed, ${page.url()} showed:\n${shown}`);
      }
    }),
  );

  async function openPage(given: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      baseURL: address,
      viewport: { width: 1280, height: 900 },
      // Rendering transitions takes a tenth of the browser's time.
      reducedMotion: 'reduce',
      // Requests of a service worker bypass the routes of tests.
      serviceWorkers: 'block',
      ...given,
    });
    contexts.push(context);
    context.setDefaultTimeout(patience);
    // On the context, which may open further pages.
    context.on('weberror', (fault) => faults.push(`${fault.page()?.url()}: ${fault.error().message}`));
    context.on('console', (message) => {
      if (/Content Security Policy|Permissions-Policy/.test(message.text())) faults.push(message.text());
    });
    return context.newPage();
  }

  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    await Promise.all(contexts.map((context) => context.close()));
    await own?.close();
    await stop();
    expect(faults).toEqual([]);
  }

  return {
    address,
    directory,
    faults,
    openPage,
    async enter(username, { firstSteps = false, ...given } = {}) {
      const page = await openPage(given);
      const { status, text } = await callFrom(page, 'POST', '/auth/login', { username, password });
      expect(status, text).toBe(200);
      if (!firstSteps) await hideFirstSteps(page, JSON.parse(text).ref);
      return page;
    },
    close: () => (closed ??= close()),
  };
}

/**
 * Starts the service and its job worker in this process, on a library with the administrator `mara` and the name Studio
 * North. Both close after the file's tests. `env` overrides the tests' settings; `browser` is one of its own, and `webDir`
 * another directory of the web app.
 */
export async function openStudio(
  env: Record<string, string> = {},
  { browser, webDir }: { browser?: Browser; webDir?: string } = {},
): Promise<OpenStudio> {
  const library = await openLibrary(env, webDir === undefined ? {} : { webDir });
  const { address, config, deps, database } = library;
  await createFirstAdministrator(database.db, (tx) =>
    createAccount(tx, deps.passwords, { username: 'mara', password, role: 'admin' }),
  );
  await writeSetting(database.db, 'site_name', 'Studio North');
  const worker = await startWorkerFor(deps, { ...database, lost: new Promise(() => {}) });
  const studio = await furnish({ address, directory: config.dataDir, stop: worker.stop }, browser);
  const { close } = library;
  library.close = () => studio.close().finally(close);
  return {
    ...studio,
    library,
    async join(username, fullname, options) {
      const name = fullname === undefined ? {} : { fullname };
      await createAccount(database.db, deps.passwords, { username, password, role: 'member', ...name });
      return studio.enter(username, options);
    },
  };
}

/** Starts the service like users, before set-up: a process on an empty directory with its own database. */
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
