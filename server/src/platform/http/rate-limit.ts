import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from './refuse.ts';

/** Requests a minute (choices, rate limits). */
export interface Limits {
  /** Sign-ins of one address and one name. */
  signIn: number;
  /** Requests of one account. */
  caller: number;
  /** Requests of one address that nobody signed in. */
  anonymous: number;
  /** Requests for access of one account, an hour. */
  asks: number;
}

/** A page of the feed loads some fifty pictures, so bytes have a budget of their own. */
const BYTES_FACTOR = 10;
const MINUTE_MS = 60_000;
/** Test messages of one account an hour. */
const TEST_MAILS = 10;
const HOUR_MS = 60 * MINUTE_MS;

export type Budget = 'requests' | 'bytes';

export interface RateLimits {
  /** Counts a request of this account, or of its address for null; throws 429 with `Retry-After` when spent. */
  countRequest(request: FastifyRequest, userRef: number | null, budget: Budget): Promise<void>;
  /** Counts a sign-in of this address, whatever the name; each costs a hash. */
  countSignInFrom(request: FastifyRequest): Promise<void>;
  /** Counts a sign-in of this address and name. */
  countSignIn(request: FastifyRequest, username: string): Promise<void>;
  /** Counts a request for access to something. */
  countAsk(request: FastifyRequest, userRef: number): Promise<void>;
  /** Counts a test message: nobody floods a mailbox by way of ours. */
  countTestMail(request: FastifyRequest, userRef: number): Promise<void>;
}

const unlimited: RateLimits = {
  countRequest: async () => {},
  countSignInFrom: async () => {},
  countSignIn: async () => {},
  countAsk: async () => {},
  countTestMail: async () => {},
};

/** Counters of this process; null limits count nothing (tests and benchmarks). */
export async function openRateLimits(server: FastifyInstance, limits: Limits | null): Promise<RateLimits> {
  if (limits === null) return unlimited;
  await server.register(rateLimit, { global: false });
  const keys = new WeakMap<FastifyRequest, string>();
  const counter = (max: number, timeWindow = MINUTE_MS) => {
    const count = server.createRateLimit({
      max,
      timeWindow,
      keyGenerator: (request) => keys.get(request) ?? request.ip,
    });
    return async (request: FastifyRequest, key: string) => {
      keys.set(request, key);
      const counted = await count(request);
      if (counted.isAllowed || !counted.isExceeded) return;
      throw refuse(429, 'too many requests', { 'retry-after': String(Math.max(1, counted.ttlInSeconds)) });
    };
  };
  const byCaller = { requests: counter(limits.caller), bytes: counter(limits.caller * BYTES_FACTOR) };
  const byAddress = { requests: counter(limits.anonymous), bytes: counter(limits.anonymous * BYTES_FACTOR) };
  const signInsFrom = counter(limits.caller);
  const signIns = counter(limits.signIn);
  const asks = counter(limits.asks, HOUR_MS);
  const testMails = counter(TEST_MAILS, HOUR_MS);
  return {
    countRequest: (request, userRef, budget) =>
      userRef === null ? byAddress[budget](request, request.ip) : byCaller[budget](request, String(userRef)),
    countAsk: (request, userRef) => asks(request, String(userRef)),
    countTestMail: (request, userRef) => testMails(request, String(userRef)),
    countSignInFrom: (request) => signInsFrom(request, request.ip),
    countSignIn: (request, username) =>
      signIns(request, `${request.ip} ${username.toLowerCase().slice(0, 500)}`),
  };
}
