import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from './client-address.ts';
import { isShared } from './prepared-bytes.ts';
import { refuse } from './refuse.ts';
import { hasBody, isFilePart, isForm } from './slow-requests.ts';

/** In bytes. A smaller body is not counted: the limit of connections bounds them. */
const SMALL = 64 * 1024;

/** Bytes in memory, in total for one address and for all of them. */
export interface UnreadLimits {
  perAddress: number;
  all: number;
}

const usualLimits: UnreadLimits = { perAddress: 64 * 1024 * 1024, all: 256 * 1024 * 1024 };

/** What one request holds in memory: its body, then its response. */
interface Held {
  address: string;
  bytes: number;
}

/**
 * Bounds the memory that clients occupy by sending bodies or reading responses slowly (HTTP-42). Streams and shared
 * bytes do not count. A request beyond the bound is refused with 429.
 */
export function openUnread({ perAddress, all }: UnreadLimits = usualLimits) {
  const ofAddress = new Map<string, number>();
  const ofRequest = new WeakMap<FastifyRequest, Held>();
  let total = 0;

  const count = (held: Held, bytes: number) => {
    const step = bytes - held.bytes;
    held.bytes = bytes;
    total += step;
    const sum = (ofAddress.get(held.address) ?? 0) + step;
    if (sum > 0) ofAddress.set(held.address, sum);
    else ofAddress.delete(held.address);
  };

  const hold = (request: FastifyRequest, reply: FastifyReply, bytes: number) => {
    const known = ofRequest.get(request);
    const counted = bytes > SMALL ? bytes : 0;
    // Nothing would end the count of a response that is closed.
    if ((known === undefined && counted === 0) || reply.raw.destroyed) return;
    const held = known ?? { address: clientAddress(request), bytes: 0 };
    const step = counted - held.bytes;
    const isOver = total + step > all || (ofAddress.get(held.address) ?? 0) + step > perAddress;
    if (step > 0 && isOver) throw refuse('too-many-large-requests', {}, { 'retry-after': '5' });
    count(held, counted);
    if (known !== undefined) return;
    ofRequest.set(request, held);
    for (const end of ['finish', 'close'] as const) reply.raw.once(end, () => count(held, 0));
  };

  return {
    /** A hook that counts the body that a request announces. */
    async countRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { raw } = request;
      if (!hasBody(raw) || isForm(raw) || isFilePart(raw)) return;
      const { bodyLimit } = request.routeOptions;
      hold(request, reply, Math.min(Number(raw.headers['content-length'] ?? bodyLimit), bodyLimit));
    },
    /** A hook that counts the body of a response, in place of that of its request and of its former size. */
    async countResponse(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
      if (Buffer.isBuffer(payload)) hold(request, reply, isShared(payload) ? 0 : payload.length);
      else if (typeof payload === 'string') hold(request, reply, Buffer.byteLength(payload));
      return payload;
    },
  };
}
