import { isIP, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Returns the address in canonical form, IPv4-mapped IPv6 as IPv4; null when it is not an address. */
function canonical(address: string): string | null {
  const version = isIP(address);
  if (version !== 6) return version === 4 ? address : null;
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(written)?.[1] ?? written;
}

/**
 * Returns the client's address: the connection's or, through trusted proxies, the nearest address in `X-Forwarded-For`
 * that is not a trusted proxy. An invalid entry counts as absent, so the proxy that sent it is the client. Empty when
 * the connection is gone.
 */
export function clientAddress(request: FastifyRequest): string {
  const { remoteAddress } = request.raw.socket;
  if (remoteAddress === undefined) return '';
  const hops = request.ips ?? [remoteAddress];
  return hops.map(canonical).findLast((hop) => hop !== null) ?? '';
}
