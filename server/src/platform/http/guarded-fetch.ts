import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { isAllowedAddress, pinnedLookup } from './outbound-addresses.ts';

/** A request that was not sent, or whose response did not arrive in time and in full. */
export class OutboundFailure extends Error {}

export interface FetchLimits {
  /** Whether requests may go to private networks, and without TLS. */
  privateAddresses: boolean;
  /** For the complete response. */
  timeoutMs: number;
  mostBytes: number;
}

interface Sent {
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
}

/** Returns the address if requests may go to it, as far as that is known before its name is resolved. */
export function parseOutboundUrl(address: string, privateAddresses: boolean): URL | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  if (url.protocol !== 'https:' && !(privateAddresses && url.protocol === 'http:')) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || isAllowedAddress(host, privateAddresses) ? url : null;
}

/**
 * Sends a request to a server that people outside of this library operate, and returns its complete response. Does not
 * follow redirects, and sends nothing to addresses that are not allowed. Throws OutboundFailure.
 */
export function guardedFetch(limits: FetchLimits, address: string, sent: Sent = {}): Promise<Response> {
  const { privateAddresses, timeoutMs, mostBytes } = limits;
  const url = parseOutboundUrl(address, privateAddresses);
  const refusal = (host: string) => new OutboundFailure(`${host} has no address that requests may go to`);
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  if (url === null) return Promise.reject(new OutboundFailure('requests may not go to that address'));
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: sent.method ?? 'GET',
    // A compressed response could be a thousand times as large as its bytes.
    headers: { 'user-agent': 'Vitrine', ...sent.headers, 'accept-encoding': 'identity' },
    agent: false,
    lookup: pinnedLookup(privateAddresses, refusal),
    maxHeaderSize: 16 * 1024,
  });
  const timer = setTimeout(
    () => request.destroy(new OutboundFailure('it does not respond in time')),
    timeoutMs,
  );
  request.on('close', () => clearTimeout(timer));
  request.on('error', (error) =>
    reject(
      error instanceof OutboundFailure
        ? error
        : new OutboundFailure(
            `it cannot be reached (${'code' in error ? String(error.code) : error.message})`,
          ),
    ),
  );
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostBytes) request.destroy(new OutboundFailure('its response is too large'));
    });
    response.on('error', () => reject(new OutboundFailure('its response broke off')));
    response.on('end', () => {
      const status = response.statusCode ?? 0;
      const headers = new Headers();
      for (const [name, value] of Object.entries(response.headers)) {
        for (const line of [value ?? []].flat()) headers.append(name, line);
      }
      if (status < 200 || status > 599) return reject(new OutboundFailure(`it responds with ${status}`));
      const isEmpty = status === 204 || status === 205 || status === 304;
      resolve(new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers }));
    });
  });
  request.end(sent.body);
  return promise;
}
