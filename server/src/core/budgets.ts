import { createHash } from 'node:crypto';
import { foldName } from '@vitrine/contract/names';
import type { Operation } from '@vitrine/contract/operation';
import type { Budget, RateBudgets } from '../platform/http/rate-limit.ts';
import { Refusal } from '../platform/http/refuse.ts';
import type { Config } from './config.ts';

const MINUTE = 60;
const HOUR = 3600;

/** RATE-9: password attempts per minute for each link, from all addresses together. */
const UNLOCKS = 10;

/** GUEST-10: what guests of a link may write per minute from one address. */
const GUEST_WRITES = 30;

/** Spends an operation's budgets (RATE-1). Every method throws 429 when one of them is spent. */
export interface Budgets {
  /** Counts a request of this account, or of this address for anonymous callers. */
  spendOnEntry(operation: Pick<Operation, 'budget'>, address: string, userRef: number | null): Promise<void>;
  /** Counts against the operation's own budget, after its door was passed. */
  spendInside(operation: Operation, userRef: number): Promise<void>;
  /** Counts a request whose sender is known only once its signature is verified: of this address. */
  spendUnverified(address: string): Promise<void>;
  /** Counts a request of this peer, from all its addresses together (FED-75). */
  spendPeer(peerId: string): Promise<void>;
  /** Counts a request of a directory with this token. */
  spendDirectory(tokenId: string): Promise<void>;
  /** Counts a refused request of this address that no peer has signed; returns whether it may be logged (FED-95). */
  mayLogRefusal(address: string): Promise<boolean>;
  /** Counts a file of the web app or of the API reference, which need no credential (RATE-4). */
  spendFile(address: string): Promise<void>;
  /** Counts a sign-in of this address and name. */
  spendSignIn(address: string, username: string): Promise<void>;
  /** Counts an attempt at the password of a share link, whether or not the link exists. */
  spendUnlock(token: string): Promise<void>;
  /** Counts what a guest of a share link writes from this address, whether or not the link exists. */
  spendGuest(token: string, address: string): Promise<void>;
}

/** Names are hashed: the text may be a password typed into the wrong field, and may contain any character. */
function hashOf(username: string): string {
  return createHash('sha256')
    .update(foldName(username.slice(0, 1000)))
    .digest('base64url');
}

const hashOfToken = (token: string) => createHash('sha256').update(token).digest('base64url');

/** Creates the budgets of this install, counted in `rates`. */
export function openBudgets(rates: RateBudgets, limits: Config['limits']): Budgets {
  const requests = (name: string, limit: number): Budget => ({
    name,
    limit,
    windowSeconds: MINUTE,
    exact: false,
  });
  const byCaller = {
    requests: requests('caller', limits.caller),
    bytes: requests('caller-bytes', limits.callerBytes),
  };
  const byAddress = {
    requests: requests('address', limits.anonymous),
    bytes: requests('address-bytes', limits.anonymousBytes),
  };
  const files = requests('files', limits.anonymousBytes);
  const byPeer = requests('peer', limits.peer);
  const byDirectory = requests('directory', limits.peer);
  const refusals: Budget = {
    name: 'logged-refusals',
    limit: limits.loggedRefusals,
    windowSeconds: MINUTE,
    exact: true,
  };
  // RATE-2: each sign-in costs a hash, whatever the name.
  const signInsFrom: Budget = {
    name: 'sign-ins-from',
    limit: limits.signInAddress,
    windowSeconds: MINUTE,
    exact: true,
  };
  const signIns: Budget = { name: 'sign-in', limit: limits.signIn, windowSeconds: MINUTE, exact: true };
  // The set-up code may be guessed as often as a password.
  const setUps: Budget = { name: 'set-up', limit: limits.signIn, windowSeconds: MINUTE, exact: true };
  const unlocks: Budget = { name: 'unlock', limit: UNLOCKS, windowSeconds: MINUTE, exact: true };
  const guests: Budget = { name: 'guest', limit: GUEST_WRITES, windowSeconds: MINUTE, exact: true };
  const inside = {
    ask: { name: 'ask', limit: limits.asks, windowSeconds: HOUR, exact: true },
    testMail: { name: 'test-mail', limit: limits.testMails, windowSeconds: HOUR, exact: true },
  } satisfies Record<string, Budget>;
  return {
    async spendOnEntry({ budget }, address, userRef) {
      if (budget === 'signIn') return rates.spend(signInsFrom, address);
      if (budget === 'setUp') await rates.spend(setUps, address);
      const kind = budget === 'bytes' ? 'bytes' : 'requests';
      if (userRef === null) return rates.spend(byAddress[kind], address);
      return rates.spend(byCaller[kind], String(userRef));
    },
    async spendInside({ budget }, userRef) {
      if (budget === 'ask' || budget === 'testMail') await rates.spend(inside[budget], String(userRef));
    },
    spendUnverified: (address) => rates.spend(byAddress.bytes, address),
    spendFile: (address) => rates.spend(files, address),
    spendPeer: (peerId) => rates.spend(byPeer, peerId),
    spendDirectory: (tokenId) => rates.spend(byDirectory, tokenId),
    async mayLogRefusal(address) {
      try {
        await rates.spend(refusals, address);
        return true;
      } catch (error) {
        if (error instanceof Refusal && error.status === 429) return false;
        throw error;
      }
    },
    spendUnlock: (token) => rates.spend(unlocks, hashOfToken(token)),
    spendGuest: (token, address) => rates.spend(guests, `${address} ${hashOfToken(token)}`),
    spendSignIn: (address, username) => rates.spend(signIns, `${address} ${hashOf(username)}`),
  };
}
