import { isIP } from 'node:net';
import { sentence } from '../../platform/language/sentence.ts';
import { oneOf, type SettingSource, wholeNumber } from './setting-source.ts';

/** What clients may cause, and which of them are proxies. */
export interface LimitSettings {
  rateLimits: boolean;
  /**
   * Requests per minute (RATE-2, RATE-3): sign-ins of an address and name, and of an address; requests of an account and of an address
   * without an account, and the same for bytes of files; requests of a peer (FED-75). Per hour: requests for access and
   * test messages of an account.
   */
  limits: {
    signIn: number;
    signInAddress: number;
    caller: number;
    callerBytes: number;
    anonymous: number;
    anonymousBytes: number;
    peer: number;
    /** Refused requests of an address that are logged a minute, unless a peer signed them (FED-95). */
    loggedRefusals: number;
    asks: number;
    testMails: number;
  };
  /** Addresses and CIDR ranges of trusted reverse proxies; none by default. */
  trustedProxies: readonly string[];
  /** Concurrency limits of one process: connections and uploads of an address, uploads of an account. */
  concurrency: { connectionsPerAddress: number; uploadsPerAddress: number; uploadsPerAccount: number };
  /** Largest file, in bytes. */
  maxFileBytes: number;
}

export const limitSettingNames = [
  'VITRINE_ANONYMOUS_BYTES_LIMIT',
  'VITRINE_ANONYMOUS_LIMIT',
  'VITRINE_CALLER_BYTES_LIMIT',
  'VITRINE_CALLER_LIMIT',
  'VITRINE_CONNECTIONS_PER_ADDRESS',
  'VITRINE_MAX_FILE_BYTES',
  'VITRINE_PEER_LIMIT',
  'VITRINE_PEER_LOGGED_REFUSALS',
  'VITRINE_RATE_LIMITS',
  'VITRINE_REQUEST_LIMIT',
  'VITRINE_SIGN_IN_ADDRESS_LIMIT',
  'VITRINE_SIGN_IN_LIMIT',
  'VITRINE_TEST_MAIL_LIMIT',
  'VITRINE_TRUSTED_PROXIES',
  'VITRINE_UPLOADS_PER_ACCOUNT',
  'VITRINE_UPLOADS_PER_ADDRESS',
] as const;
type Source = SettingSource<(typeof limitSettingNames)[number]>;

/** RATE-4: budgets for bytes of files are ten times as high. */
const BYTES_FACTOR = 10;
const MOST_REQUESTS = 1_000_000;
const MOST_BYTES_REQUESTS = MOST_REQUESTS * BYTES_FACTOR;

/** Returns whether this is an IP address or a CIDR range. */
function isRange(text: string): boolean {
  const [, host = '', bits] = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(host)] ?? 0;
  return most > 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= most));
}

/** Returns the trusted proxies. `loopback` and `uniquelocal` (private networks) stand for their ranges. */
function proxies({ value, refusal }: Source): string[] {
  const text = value('VITRINE_TRUSTED_PROXIES');
  const entries = text === null ? [] : text.split(',').map((entry) => entry.trim());
  const wrong = entries.find((entry) => !['loopback', 'uniquelocal'].includes(entry) && !isRange(entry));
  if (wrong === undefined) return entries;
  throw refusal(
    sentence(
      'VITRINE_TRUSTED_PROXIES must list IP addresses and ranges such as 10.0.0.0/8, separated by commas, not {given}',
      { given: JSON.stringify(wrong) },
    ),
  );
}

/** Reads the limits of clients. */
export function readLimitSettings(source: Source): LimitSettings {
  const requests = (name: Parameters<Source['value']>[0], unset: number, most = MOST_REQUESTS) =>
    wholeNumber(source, name, unset, 1, most);
  const caller = requests('VITRINE_CALLER_LIMIT', 600);
  const anonymous = requests('VITRINE_ANONYMOUS_LIMIT', 600);
  return {
    rateLimits: oneOf(source, 'VITRINE_RATE_LIMITS', 'on', ['on', 'off']) === 'on',
    limits: {
      signIn: requests('VITRINE_SIGN_IN_LIMIT', 10),
      signInAddress: requests('VITRINE_SIGN_IN_ADDRESS_LIMIT', 100),
      caller,
      callerBytes: requests('VITRINE_CALLER_BYTES_LIMIT', caller * BYTES_FACTOR, MOST_BYTES_REQUESTS),
      anonymous,
      anonymousBytes: requests(
        'VITRINE_ANONYMOUS_BYTES_LIMIT',
        anonymous * BYTES_FACTOR,
        MOST_BYTES_REQUESTS,
      ),
      peer: requests('VITRINE_PEER_LIMIT', 1200),
      loggedRefusals: requests('VITRINE_PEER_LOGGED_REFUSALS', 1),
      asks: requests('VITRINE_REQUEST_LIMIT', 30),
      testMails: requests('VITRINE_TEST_MAIL_LIMIT', 10),
    },
    trustedProxies: proxies(source),
    concurrency: {
      connectionsPerAddress: wholeNumber(source, 'VITRINE_CONNECTIONS_PER_ADDRESS', 1000, 1, 1_000_000),
      uploadsPerAddress: wholeNumber(source, 'VITRINE_UPLOADS_PER_ADDRESS', 100, 1, 1_000_000),
      uploadsPerAccount: wholeNumber(source, 'VITRINE_UPLOADS_PER_ACCOUNT', 20, 1, 1_000_000),
    },
    maxFileBytes: wholeNumber(source, 'VITRINE_MAX_FILE_BYTES', 20 * 1024 ** 3, 1, Number.MAX_SAFE_INTEGER),
  };
}
