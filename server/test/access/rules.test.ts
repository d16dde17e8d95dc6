import type { Capability } from '@vitrine/contract/capabilities';
import { describe, expect, test } from 'vitest';
import { checkMayWriteAccounts, checkNotSelf } from '../../src/access/accounts.ts';
import type { Caller, SignedIn } from '../../src/access/caller.ts';
import {
  readerOfNames,
  seesFullNames,
  seesPersonalData,
  seesWhereabouts,
} from '../../src/access/identities.ts';
import { checkMayPublish } from '../../src/access/posts.ts';
import { Refusal } from '../../src/platform/http/refuse.ts';

/** The rules that are not predicates over rows, each for every kind of caller. */

const OTHER = 2;
const team = '00000000-0000-4000-8000-000000000001';

function signedIn(everywhere: readonly Capability[], more: Partial<SignedIn> = {}): SignedIn {
  return {
    kind: 'user',
    ref: 1,
    username: 'mara',
    capabilities: new Set(everywhere),
    capabilitiesStatus: 'resolved',
    teamCapabilities: new Map(),
    authMethod: 'session',
    sessionId: 'session',
    token: null,
    impersonator: null,
    showRestricted: false,
    seesMature: false,
    account: { fullname: null, email: null, preferences: null, matureAllowed: true },
    ...more,
  };
}

const inTeam = (code: Capability) => signedIn([], { teamCapabilities: new Map([[code, [team]]]) });
const unresolved = signedIn([], { capabilitiesStatus: 'unavailable' });
const anonymous: Caller = { kind: 'anonymous' };

/** Returns the status of a refusal, or `fine`. */
function outcome(check: () => void): number | 'fine' {
  try {
    check();
    return 'fine';
  } catch (error) {
    if (error instanceof Refusal) return error.status;
    throw error;
  }
}

/** Callers by capability, and whether it is enough: one held in a team does not count for the library. */
const holders = (code: Capability): [string, SignedIn, boolean][] => [
  ['nobody in particular', signedIn([]), false],
  ['a holder', signedIn([code]), true],
  ['system.admin', signedIn(['system.admin']), true],
  ['a holder in a team', inTeam(code), false],
  ['a holder of others', signedIn(['content.read.all', 'posts.admin', 'assets.admin', 'teams.write']), false],
  ['one whose capabilities could not be read', unresolved, false],
  [
    'a holder behind a mask, by their own capabilities',
    signedIn([code], { impersonator: { ref: 9, username: 'root' } }),
    true,
  ],
];

describe('posts.publish: publishing', () => {
  test.each(holders('posts.publish'))('%s', (_, caller, may) => {
    expect(outcome(() => checkMayPublish(caller))).toBe(may ? 'fine' : 403);
  });
});

describe('users.write: changing accounts of others', () => {
  test.each(holders('users.write'))('%s', (_, caller, may) => {
    expect(outcome(() => checkMayWriteAccounts(caller))).toBe(may ? 'fine' : 403);
  });
});

describe('users.pii.read: personal data', () => {
  test.each(holders('users.pii.read'))('%s', (_, caller, may) => {
    expect(seesPersonalData(caller)).toBe(may);
    expect(readerOfNames(caller)).toEqual(may ? caller : anonymous);
    expect(seesWhereabouts(caller, OTHER)).toBe(may);
  });

  test('every account sees its own sessions', () => {
    for (const [, caller] of holders('users.pii.read'))
      expect(seesWhereabouts(caller, caller.ref)).toBe(true);
  });
});

// IDENTITY-2
test('full names are never shown to anonymous callers', () => {
  expect(seesFullNames(anonymous)).toBe(false);
  expect(seesFullNames(signedIn([]))).toBe(true);
  expect(seesFullNames(unresolved)).toBe(true);
});

// USER-11
test('accounts cannot use the administrators’ operations for their own password and second factor', () => {
  for (const caller of [signedIn([]), signedIn(['users.write']), signedIn(['system.admin'])]) {
    expect(outcome(() => checkNotSelf(caller, caller.ref))).toBe(403);
    expect(outcome(() => checkNotSelf(caller, OTHER))).toBe('fine');
  }
});
