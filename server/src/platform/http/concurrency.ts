import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { refuse } from './refuse.ts';

/** Limits for concurrent connections and uploads. */
export interface ConcurrencyLimits {
  connectionsPerAddress: number;
  uploadsPerAddress: number;
  uploadsPerAccount: number;
}

/** Connections above the limit that get a response; further ones are dropped. */
const MOST_REFUSED = 50;

const RETRY_AFTER_SECONDS = '5';

/** Counts concurrent uses by key. */
function openCounter() {
  const counts = new Map<string, number>();
  return {
    of: (key: string) => counts.get(key) ?? 0,
    add(key: string, step: 1 | -1) {
      const count = (counts.get(key) ?? 0) + step;
      if (count > 0) counts.set(key, count);
      else counts.delete(key);
    },
  };
}

/** The address ranges of the names that the setting for trusted proxies accepts. */
const namedRanges: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Returns whether an address is in one of these addresses, CIDR ranges and named ranges. */
export function addressList(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges.flatMap((entry) => namedRanges[entry] ?? [entry])) {
    const [address = '', bits] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => address !== '' && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * Limits the open connections of an address; `exempt` are proxies, which stand for many clients. Returns the check for
 * a request, which throws 429 on a connection above the limit. Connections far above it are dropped without a response.
 * The second socket that Fastify opens for `localhost` is not limited: only this machine can reach it.
 */
export function limitConnections(
  server: Server,
  perAddress: number,
  exempt: readonly string[],
): (request: IncomingMessage) => void {
  const isExempt = addressList(exempt);
  const open = openCounter();
  const tooMany = new WeakSet<object>();
  server.prependListener('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    if (isExempt(address)) return;
    open.add(address, 1);
    socket.once('close', () => open.add(address, -1));
    const over = open.of(address) - perAddress;
    if (over > 0) tooMany.add(socket);
    if (over > MOST_REFUSED) socket.destroy();
  });
  return (request) => {
    if (!tooMany.has(request.socket)) return;
    const headers = { 'retry-after': RETRY_AFTER_SECONDS, connection: 'close' };
    throw refuse('too-many-connections', {}, headers);
  };
}

export interface UploadLimits {
  /** Counts an upload until its response is closed; throws 429 when too many are in progress. Null: anonymous. */
  begin(response: ServerResponse, address: string, accountRef: number | null): void;
}

/** Limits the concurrent uploads of an address and of an account in this process. */
export function openUploadLimits({ uploadsPerAddress, uploadsPerAccount }: ConcurrencyLimits): UploadLimits {
  const under = openCounter();
  return {
    begin(response, address, accountRef) {
      const keys = [
        {
          key: `address ${address}`,
          most: uploadsPerAddress,
          code: 'too-many-uploads-from-address' as const,
        },
        ...(accountRef === null
          ? []
          : [
              {
                key: `account ${accountRef}`,
                most: uploadsPerAccount,
                code: 'too-many-uploads-by-account' as const,
              },
            ]),
      ];
      const full = keys.find(({ key, most }) => under.of(key) >= most);
      if (full !== undefined) throw refuse(full.code, {}, { 'retry-after': RETRY_AFTER_SECONDS });
      for (const { key } of keys) under.add(key, 1);
      response.once('close', () => {
        for (const { key } of keys) under.add(key, -1);
      });
    },
  };
}
