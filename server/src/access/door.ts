import type { Capability, TokenScope } from '@vitrine/contract/capabilities';
import type { Door, Operation } from '@vitrine/contract/operation';
import { refuse } from '../platform/http/refuse.ts';
import { type Caller, holds, type SignedIn } from './caller.ts';

/**
 * TOKEN-4: a token is admitted where its scopes allow it: `admin` everywhere except creating tokens, and starting
 * sessions, which could create them.
 */
function passScope({ scope, otherScopes = [] }: Operation, caller: Caller): void {
  if (caller.kind === 'anonymous' || caller.token === null || scope === 'none') return;
  if (scope === 'session') throw refuse('session-required');
  if (!otherScopes.some((other) => hasScope(caller, other))) checkScope(caller, scope);
}

/** Returns whether the caller has a session, or a token with this scope. */
function hasScope({ token }: SignedIn, scope: TokenScope): boolean {
  return token === null || token.scopes.includes(scope) || token.scopes.includes('admin');
}

/** Throws 403 for a token without this scope. */
export function checkScope(caller: SignedIn, scope: TokenScope): void {
  if (!hasScope(caller, scope)) throw refuse('scope-missing', { scope });
}

/** Throws 403 for a caller without this capability. */
export function checkHolds(caller: SignedIn, capability: Capability): void {
  if (!holds(caller, capability)) throw refuse('capability-missing', { capability });
}

/** Throws 403 during an impersonation (IMPERSONATION-9). */
export function checkNotImpersonating(caller: Caller): void {
  if (caller.kind === 'user' && caller.impersonator !== null) throw refuse('not-while-impersonating');
}

/** ROLE-25: without the second factor that its role requires, a session is only good for setting one up. */
function passRequiredStep({ door, beforeSecondFactor }: Operation, caller: Caller): void {
  if (caller.kind === 'anonymous' || caller.requiredStep === undefined) return;
  if (door !== 'open' && beforeSecondFactor !== true) throw refuse('second-factor-required');
}

/** Checks the caller against an operation's door; throws the 401 or 403 that says what is missing. */
export function admit(operation: Operation, caller: Caller, publicMode: boolean): void {
  // First, so that the error for a token that lacks both names the scope (TOKEN-4).
  passScope(operation, caller);
  passRequiredStep(operation, caller);
  passDoor(operation.door, caller, publicMode);
  if (operation.whileImpersonating === 'refused') checkNotImpersonating(caller);
}

/**
 * Returns whether the caller of an open stream is still admitted: the same account, unless it lacks a second factor by now
 * (ROLE-25), or none in public mode (PUBLIC-1).
 */
export function staysAdmitted(before: Caller, now: Caller, publicMode: boolean): boolean {
  if (now.kind === 'anonymous') return before.kind === 'anonymous' && publicMode;
  return before.kind === 'user' && before.ref === now.ref && now.requiredStep === undefined;
}

/**
 * ROLE-17: checks an operation's door. Throws 401 without credentials, 403 without the capability; anonymous callers
 * are admitted only in public mode.
 */
function passDoor(door: Door, caller: Caller, publicMode: boolean): void {
  if (door === 'open') return;
  if (caller.kind === 'anonymous') {
    if (door === 'public' && publicMode) return;
    throw refuse('sign-in-required');
  }
  if (typeof door === 'object') checkHolds(caller, door.holds);
}
