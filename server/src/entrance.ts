import type { Operation } from '@vitrine/contract/operation';
import type { FastifyRequest } from 'fastify';
import type { Caller } from './access/caller.ts';
import { admit } from './access/door.ts';
import type { Deps } from './deps.ts';
import { authenticate, bearerOf } from './identity/authenticate.ts';
import { checkOrigin } from './platform/http/origin.ts';
import type { Budget, RateLimits } from './platform/http/rate-limit.ts';
import { Refusal } from './platform/http/refuse.ts';

const byteOperations = new Set(['getAssetFile', 'getAssetVariant']);

function budgetOf(operation: Operation): Budget {
  return byteOperations.has(operation.id) ? 'bytes' : 'requests';
}

export interface Entrance {
  /** Who is asking, after everything that stands before an operation let them through; throws otherwise. */
  enter(operation: Operation, request: FastifyRequest): Promise<Caller>;
  /** Counts a sign-in by the name in its body. */
  countWithBody(operation: Operation, request: FastifyRequest): Promise<void>;
}

/** Origin, credentials, rate limit, door, in that order. A refused credential counts for its address. */
export function openEntrance(deps: Deps, limits: RateLimits): Entrance {
  const { db, capabilities, config, log } = deps;
  const auth = { db, capabilities, sessionDays: config.sessionDays, log };
  return {
    async enter(operation, request) {
      const bearer = bearerOf(request.headers.authorization);
      if (bearer === null) checkOrigin(request.method, request.headers, config.baseUrl);
      const cookieToken = request.cookies.user ?? null;
      const budget = budgetOf(operation);
      const found = await authenticate(auth, { cookieToken, bearer }).catch(async (error: unknown) => {
        if (error instanceof Refusal) await limits.countRequest(request, null, budget);
        // Whoever's mask has slipped must be able to sign in, or see the sign-in page.
        if (operation.door === 'open' && bearer === null && error instanceof Refusal) return null;
        throw error;
      });
      const caller: Caller = found?.caller ?? { kind: 'anonymous' };
      if (found !== null)
        await limits.countRequest(request, caller.kind === 'user' ? caller.ref : null, budget);
      admit(operation, caller, found?.publicMode ?? false);
      if (operation.id === 'requestAccess' && caller.kind === 'user') {
        await limits.countAsk(request, caller.ref);
      }
      if (operation.id === 'sendTestMail' && caller.kind === 'user') {
        await limits.countTestMail(request, caller.ref);
      }
      return caller;
    },
    async countWithBody(operation, request) {
      if (operation.id !== 'login') return;
      const { body } = request;
      const name = typeof body === 'object' && body !== null && 'username' in body ? body.username : '';
      await limits.countSignIn(request, typeof name === 'string' ? name : '');
    },
  };
}
