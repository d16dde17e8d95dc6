import { type Operation, renewsSession } from '@vitrine/contract/operation';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import { admit } from '../access/door.ts';
import { requestedBytes, type ServedAssets } from '../content/assets/served.ts';
import type { Budgets } from '../core/budgets.ts';
import type { Deps, RequestedBytes } from '../core/deps.ts';
import { authenticate, bearerOf, resolveCaller } from '../people/identity/authenticate.ts';
import type { CredentialRow } from '../people/identity/credential.ts';
import { findSession } from '../people/identity/sessions.ts';
import { batchByKey } from '../platform/database/batch.ts';
import type { SessionCookie } from '../platform/http/answer.ts';
import { clientAddress } from '../platform/http/client-address.ts';
import { checkOrigin } from '../platform/http/origin.ts';
import { Refusal } from '../platform/http/refuse.ts';
import { checkRoom } from './room.ts';

export interface Entrance {
  /** Resolves the caller after all checks before an operation; throws when one fails. */
  enter(operation: Operation, request: FastifyRequest): Promise<Caller>;
  /**
   * Resolves the caller again, for a request that entered before its body was complete; throws when the caller may no
   * longer enter (HTTP-29). Counts nothing.
   */
  confirm(operation: Operation, request: FastifyRequest): Promise<Caller>;
  /** Whether the public address at the time of the request, or a trusted proxy, uses https. */
  isHttps(request: FastifyRequest): boolean;
  /**
   * The position that a replica must have replayed to serve this request, null for any; undefined when no replica may
   * serve it.
   */
  lastWriteOf(request: FastifyRequest): string | null | undefined;
  /** The renewed session cookie, when this request extended its session. */
  renewalOf(request: FastifyRequest): SessionCookie | null;
  /**
   * Counts a sign-in by the name in its body, and attempts at the password of a link and what its guests write by the
   * link's token.
   */
  countWithBody(operation: Operation, request: FastifyRequest): Promise<void>;
}

/** Returns the token of a link in the address; empty without one. */
function tokenOf({ params }: FastifyRequest): string {
  const token = typeof params === 'object' && params !== null && 'token' in params ? params.token : '';
  return typeof token === 'string' ? token : '';
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Returns the name of an account in a body, or the id of the passkey; empty without either. */
function signInName(body: unknown): string {
  const name =
    propertyOf(body, 'username') ??
    propertyOf(body, 'login') ??
    propertyOf(propertyOf(body, 'credential'), 'id');
  return typeof name === 'string' ? name : '';
}

/**
 * Checks credential, origin, rate limit and door, in that order. The public address is read with the credential, in one
 * statement, so that every process applies a new one with the next request. Refused requests count against their
 * address.
 */
export function openEntrance(
  deps: Deps,
  { served, budgets, hasReplica }: { served: ServedAssets; budgets: Budgets; hasReplica: boolean },
): Entrance {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, hasReplica, log };
  const httpsRequests = new WeakSet<FastifyRequest>();
  const lastWrites = new WeakMap<FastifyRequest, string | null>();
  const renewals = new WeakMap<FastifyRequest, SessionCookie>();
  /** Waiting requests of the same session share the statement, which starts after each of them came. */
  const readSession = batchByKey(async (cookieToken: string | null, requests: readonly Operation[]) => {
    const row = await findSession(db, cookieToken, hasReplica);
    // One of the requests records the use of the session for all, if possible one that sends the cookie again (SESSION-1).
    const recorder = Math.max(0, requests.findIndex(renewsSession));
    return requests.map((_, at) => (at === recorder ? row : { ...row, stale: false }));
  });
  /**
   * Authenticates a session and, in the same statement, reads the bytes of the request, which the handler finds in
   * `served`.
   */
  const authenticateWith = async (
    wanted: RequestedBytes,
    cookieToken: string | null,
    inspect: (row: CredentialRow) => void,
  ) => {
    const prefetched = await served.readWith(cookieToken, wanted);
    const found = await resolveCaller(auth, prefetched.credential, inspect);
    served.confirm(cookieToken, found.caller, prefetched);
    return found;
  };
  /** Reads the credential and checks the origin; null if an open door needs no credential. */
  const identify = (operation: Operation, request: FastifyRequest, onRefusal: () => Promise<void>) => {
    const bearer = bearerOf(request.headers.authorization);
    const inspect = ({ base_url }: CredentialRow) => {
      const ownAddress = config.baseUrl ?? base_url;
      const isHttps = ownAddress?.startsWith('https:') === true || request.protocol === 'https';
      if (isHttps) httpsRequests.add(request);
      // Pages never send a bearer token by themselves.
      if (bearer === null && operation.postedForm === undefined)
        checkOrigin(request.method, request.headers, ownAddress);
    };
    const cookieToken = request.cookies.user ?? null;
    const wanted = bearer === null ? requestedBytes(operation, request.params) : null;
    const authenticated = async () => {
      if (wanted !== null) return authenticateWith(wanted, cookieToken, inspect);
      if (bearer !== null) return authenticate(auth, { cookieToken, bearer }, inspect);
      return resolveCaller(auth, await readSession(cookieToken, operation), inspect);
    };
    return authenticated().catch(async (error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
      await onRefusal();
      // An expired impersonation must not block the sign-in page.
      if (operation.door === 'open' && bearer === null && error.status === 401) return null;
      throw error;
    });
  };
  return {
    lastWriteOf: (request) => lastWrites.get(request),
    renewalOf: (request) => renewals.get(request) ?? null,
    isHttps: (request) => httpsRequests.has(request),
    async enter(operation, request) {
      const address = clientAddress(request);
      const found = await identify(operation, request, () => budgets.spendOnEntry(operation, address, null));
      const caller: Caller = found?.caller ?? { kind: 'anonymous' };
      const ref = caller.kind === 'user' ? caller.ref : null;
      if (hasReplica && found !== null) lastWrites.set(request, found.lastWrite);
      if (found !== null) await budgets.spendOnEntry(operation, address, ref);
      const cookieToken = request.cookies.user ?? null;
      const maxAgeSeconds = found?.renewedForSeconds ?? null;
      if (maxAgeSeconds !== null && cookieToken !== null && renewsSession(operation))
        renewals.set(request, { token: cookieToken, maxAgeSeconds });
      admit(operation, caller, found?.publicMode ?? false);
      await checkRoom(deps, operation, request);
      if (ref !== null) await budgets.spendInside(operation, ref);
      return caller;
    },
    async confirm(operation, request) {
      const found = await identify(operation, request, async () => {});
      const caller: Caller = found?.caller ?? { kind: 'anonymous' };
      admit(operation, caller, found?.publicMode ?? false);
      return caller;
    },
    async countWithBody(operation, request) {
      const { body } = request;
      if (operation.budget === 'unlock') await budgets.spendUnlock(tokenOf(request));
      if (operation.budget === 'guest') await budgets.spendGuest(tokenOf(request), clientAddress(request));
      if (operation.budget !== 'signIn') return;
      await budgets.spendSignIn(clientAddress(request), signInName(body));
    },
  };
}
