import { lookup as resolve } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';

/** Ranges of private networks. Link-local addresses are never allowed, because cloud metadata services use them. */
const privateRanges = new Set(['private', 'uniqueLocal', 'loopback', 'carrierGradeNat']);

/** Returns whether requests may go to this IP address. */
export function isAllowedAddress(address: string, privateAddresses: boolean): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address inside IPv6 counts as the IPv4 address.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (privateAddresses && privateRanges.has(range)) return true;
  // Of IPv6, only 2000::/3 is the public internet; the library calls other unassigned blocks unicast, too.
  return range === 'unicast' && (parsed instanceof ipaddr.IPv4 || (parsed.parts[0] ?? 0) >> 13 === 1);
}

/**
 * Resolves a name once and lets the connection use only the allowed addresses of that answer. `refusal` creates the error
 * for a name without any.
 */
export function pinnedLookup(privateAddresses: boolean, refusal: (host: string) => Error): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { family: options.family, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const allowed = addresses.filter(({ address }) => isAllowedAddress(address, privateAddresses));
      const [first] = allowed;
      if (first === undefined) return done(refusal(hostname), '', 0);
      return options.all === true ? done(null, allowed) : done(null, first.address, first.family);
    });
  };
}

/** The longest wait for a name to resolve before a request that only stores it continues. */
const RESOLVE_MS = 2000;

/** Returns the addresses of a host; none if its name does not resolve soon. */
export async function resolveSoon(hostname: string): Promise<readonly { address: string }[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  return Promise.race([lookup(host, { all: true }).catch(() => []), delay(RESOLVE_MS, [], { ref: false })]);
}

/**
 * Returns whether requests may go to none of the addresses of a host. False for a name that does not resolve: each request
 * resolves it again.
 */
export async function leadsInside(hostname: string, privateAddresses: boolean): Promise<boolean> {
  const found = await resolveSoon(hostname);
  return found.length > 0 && found.every(({ address }) => !isAllowedAddress(address, privateAddresses));
}
