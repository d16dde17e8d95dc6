import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Deps } from '../../core/deps.ts';
import { readSetting } from '../../core/settings.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { needsSetup } from './first-administrator.ts';

/** Returns whether this host, in URL form, is reachable from this machine only. */
function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d+){3}$/.test(name)
  );
}

/** Returns the host in a `Host` header, without port and brackets; null when there is none. */
function hostnameOf(host: string | undefined): string | null {
  if (host === undefined || !/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host)) return null;
  const address = `http://${host}`;
  return URL.canParse(address) ? new URL(address).hostname.replace(/^\[|\]$/g, '') : null;
}

/**
 * Refuses set-up under an unknown host name: with DNS rebinding, any web page could point its own name at this machine
 * and create the first administrator. `host` is the header as sent.
 */
export async function checkSetupHost(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  host: string | undefined,
): Promise<void> {
  const hostname = hostnameOf(host);
  if (hostname !== null && (isLoopback(hostname) || isIP(hostname) !== 0)) return;
  const stored = await readSetting(db, 'base_url');
  const baseUrl = config.baseUrl ?? (typeof stored === 'string' ? stored : '');
  if (hostname !== null && URL.canParse(baseUrl) && new URL(baseUrl).hostname === hostname) return;
  throw refuse('set-up-name-refused');
}

/** Letters and digits without ambiguous ones (Crockford's base 32). */
const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Returns the code that set-up requires when the server listens beyond loopback, as three groups of four characters (60
 * bits); null otherwise. It is derived from the install's secret, so that every process accepts and prints the same.
 */
export function setupCodeOf({ config, secretKey }: Pick<Deps, 'config' | 'secretKey'>): string | null {
  if (isLoopback(config.host)) return null;
  const bytes = createHmac('sha256', secretKey).update('set-up code').digest().subarray(0, 12);
  const code = [...bytes].map((byte) => symbols[byte % symbols.length]).join('');
  return code.replace(/(.{4})(?=.)/g, '$1-');
}

/** Returns the set-up code to print at the start, while the library has no administrator. */
export async function pendingSetupCode(
  deps: Pick<Deps, 'db' | 'config' | 'secretKey'>,
): Promise<string | null> {
  const code = setupCodeOf(deps);
  return code !== null && (await needsSetup(deps.db)) ? code : null;
}

/** Normalises a typed code: dashes are optional, and the letters O, I and L count as digits. */
function digest(code: string): Buffer {
  const plain = code.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  return createHash('sha256').update(plain).digest();
}

/** Refuses set-up without the required code. */
export function checkSetupCode(deps: Pick<Deps, 'config' | 'secretKey'>, given: string | undefined): void {
  const code = setupCodeOf(deps);
  if (code === null) return;
  if (given === undefined || given === '') {
    throw refuse('set-up-code-missing');
  }
  // A constant-time comparison needs inputs of equal length.
  if (!timingSafeEqual(digest(given), digest(code))) {
    throw refuse('set-up-code-wrong');
  }
}
