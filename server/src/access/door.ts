import type { TokenScope } from '@vitrine/contract/capabilities';
import type { Door, Operation } from '@vitrine/contract/operation';
import { refuse } from '../platform/http/refuse.ts';
import { type Caller, holds, type SignedIn } from './caller.ts';

/**
 * A token comes in only where its scopes reach (TOKEN-4): `admin` reaches everything but minting, and what
 * would make a session of it, which could mint.
 */
function passScope({ scope, otherScopes = [] }: Operation, caller: Caller): void {
  if (caller.kind === 'anonymous' || caller.token === null || scope === 'none') return;
  if (scope === 'session') throw refuse(403, 'this needs a session; a token may not');
  if (!otherScopes.some((other) => hasScope(caller, other))) checkScope(caller, scope);
}

/** Whether the caller comes with a session, or with a token that has this scope. */
function hasScope({ token }: SignedIn, scope: TokenScope): boolean {
  return token === null || token.scopes.includes(scope) || token.scopes.includes('admin');
}

/** Throws 403 for a token without this scope. */
export function checkScope(caller: SignedIn, scope: TokenScope): void {
  if (!hasScope(caller, scope)) throw refuse(403, `missing scope ${scope}`);
}

/** What an administrator may not do in somebody else's name (IMPERSONATION-9). */
function passImpersonation({ whileImpersonating }: Operation, caller: Caller): void {
  const isImpersonating = caller.kind === 'user' && caller.impersonator !== null;
  if (isImpersonating && whileImpersonating === 'refused') {
    throw refuse(403, 'not while acting as somebody else');
  }
}

/** Lets the caller through to an operation, or throws the 401 or 403 that says what is missing. */
export function admit(operation: Operation, caller: Caller, publicMode: boolean): void {
  passDoor(operation.door, caller, publicMode);
  passScope(operation, caller);
  passImpersonation(operation, caller);
}

/**
 * Lets the caller through an operation's door or throws.
 * ROLE-17: without credentials 401, without the capability 403; anonymous only under public mode.
 */
function passDoor(door: Door, caller: Caller, publicMode: boolean): void {
  if (door === 'open') return;
  if (caller.kind === 'anonymous') {
    if (door === 'public' && publicMode) return;
    throw refuse(401, 'sign in first');
  }
  if (typeof door === 'object' && !holds(caller, door.holds)) {
    throw refuse(403, `missing capability ${door.holds}`);
  }
}
