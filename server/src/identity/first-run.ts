import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { readSetting } from '../admin/settings.ts';
import type { Deps } from '../deps.ts';
import { refuse } from '../platform/http/refuse.ts';
import { needsSetup } from './accounts.ts';

/** Whether this name or address, as a URL has it, reaches only programs of this machine. */
function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d+){3}$/.test(name)
  );
}

/** The name or address in a `Host` header, without the port and brackets; null when there is none. */
function hostnameOf(host: string | undefined): string | null {
  if (host === undefined || !/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(host)) return null;
  const address = `http://${host}`;
  return URL.canParse(address) ? new URL(address).hostname.replace(/^\[|\]$/g, '') : null;
}

/**
 * Refuses set-up under a name that is not known to be ours: with DNS rebinding, any page on the web could point its own
 * name at this machine and create the first administrator. `host` is the header as sent.
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
  throw refuse(
    403,
    'set-up is refused under this name; open the library by localhost or an IP address, or set VITRINE_BASE_URL',
  );
}

/** Letters and digits that cannot be mistaken for each other (Crockford's base 32). */
const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The code that set-up asks for when the server listens beyond loopback, as three groups of four characters (60 bits);
 * null when it does not. It is derived from the install's secret, so that every process accepts and prints the same.
 */
export function setupCodeOf({ config, secretKey }: Pick<Deps, 'config' | 'secretKey'>): string | null {
  if (isLoopback(config.host)) return null;
  const bytes = createHmac('sha256', secretKey).update('set-up code').digest().subarray(0, 12);
  const code = [...bytes].map((byte) => symbols[byte % symbols.length]).join('');
  return code.replace(/(.{4})(?=.)/g, '$1-');
}

/** The set-up code while the library waits for its first administrator, to be printed at the start. */
export async function pendingSetupCode(
  deps: Pick<Deps, 'db' | 'config' | 'secretKey'>,
): Promise<string | null> {
  const code = setupCodeOf(deps);
  return code !== null && (await needsSetup(deps.db)) ? code : null;
}

/** As it is compared: people may leave out dashes, and mistake the letters O, I and L for digits. */
function digest(code: string): Buffer {
  const plain = code.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  return createHash('sha256').update(plain).digest();
}

/** Refuses set-up without the code, where one is needed. */
export function checkSetupCode(deps: Pick<Deps, 'config' | 'secretKey'>, given: string | undefined): void {
  const code = setupCodeOf(deps);
  if (code === null) return;
  if (given === undefined || given === '') {
    throw refuse(403, 'the set-up code is missing; Vitrine prints it when it starts');
  }
  // Digests have one length, which a comparison in constant time needs.
  if (!timingSafeEqual(digest(given), digest(code))) {
    throw refuse(403, 'the set-up code is wrong; Vitrine prints it when it starts');
  }
}
