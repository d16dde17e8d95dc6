import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import {
  type ProviderSettings,
  providerSettingNames,
  readProviderSettings,
} from './identity/providers/settings.ts';
import { locateProgram } from './media/ffmpeg/program.ts';
import { findProgram } from './media/program.ts';
import { DATABASE_UID, reachableByDatabaseUser } from './platform/database/database-user.ts';
import { type MailServer, readMailServer, readSender, type Sender } from './platform/mail/address.ts';
import {
  type BackupS3Settings,
  backupS3SettingNames,
  readBackupS3Settings,
  readS3Settings,
  type S3Settings,
  s3SettingNames,
} from './platform/storage/s3-settings.ts';
import {
  readTracingSettings,
  type TracingSettings,
  tracingSettingNames,
} from './platform/tracing/settings.ts';

/** All settings of the process (SETTING-1). Passed as a value; never read on import. */
export interface Config {
  host: string;
  port: number;
  /** Directory of the library's files and of the embedded database. */
  dataDir: string;
  /** Public address, without a trailing slash; null when unset. */
  baseUrl: string | null;
  /** Null: the embedded PostgreSQL. */
  databaseUrl: string | null;
  /**
   * The direct address of PostgreSQL when `databaseUrl` leads to a transaction pooler; null when `databaseUrl` is
   * direct.
   */
  databaseDirectUrl: string | null;
  /** A streaming replica of `databaseUrl` for reads; null: all reads use the primary. */
  databaseReplicaUrl: string | null;
  /** Directory with initdb and postgres; null: the ones from npm. */
  postgresBinDir: string | null;
  /** As root: the uid and gid that the embedded PostgreSQL runs as. */
  postgresUid: number;
  admin: { username: string; password: string } | null;
  /** A sample library for trying things out (SETTING-10); set by the command, not by a setting. */
  demo: boolean;
  /** Null: generated on the first start and stored in the library. */
  scrambleKey: string | null;
  /** The key that seals secrets; null: in the file `secret.key` of the data directory (RUN-41). */
  secretKey: string | null;
  /** Address of the visual encoder, without a trailing slash; null: no search by picture. */
  encoderUrl: string | null;
  /** The program ffmpeg; `off`: only the npm package's; null: the system's, if there is one. */
  ffmpeg: string | null;
  /** The program soffice; `off`: none; null: the system's, if there is one. */
  libreoffice: string | null;
  /** The program gs (Ghostscript), with the same values. */
  ghostscript: string | null;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  rateLimits: boolean;
  /**
   * Requests per minute (RATE-2, RATE-3): sign-ins of an address and name; requests of an account and of an address
   * without an account, and the same for bytes of files; requests of a peer (FED-75). Per hour: requests for access and test messages of an account.
   */
  limits: {
    signIn: number;
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
  /** How long an impersonation lasts, in minutes (IMPERSONATION-5). */
  impersonationMinutes: number;
  /** Largest file, in bytes. */
  maxFileBytes: number;
  /** Number of processes that serve; with more than one, another process runs the jobs. */
  processes: number;
  /** Where `vitrine worker` serves its health and metrics; null: nowhere. */
  workerPort: number | null;
  /** The secret that a scrape of `/metrics` presents; null: there are no metrics. */
  metricsToken: string | null;
  /** The kinds of jobs that this process runs (RUN-21); null: all. */
  jobs: readonly string[] | null;
  /** How long a stopping process keeps serving while it reports not ready, in seconds. */
  drainSeconds: number;
  /** How long requests and jobs in progress may take to finish after that, in seconds. */
  stopSeconds: number;
  /** Bytes of the library's volume reserved for the database. */
  reserveBytes: number;
  /** How long a session lives after its last use, in days. */
  sessionDays: number;
  /**
   * Whether peers may have private addresses, such as those of a studio's own network, and how many bytes of originals
   * fetched from peers are kept.
   */
  federation: {
    privateAddresses: boolean;
    cacheBytes: number;
    /** Bounds of the work that a peer can cause (FED-95). */
    catchUpPages: number;
    catchUpSeconds: number;
    catchUpIds: number;
    resendSeconds: number;
    renditionBytes: number;
    openOffers: number;
    openOffersPerAddress: number;
  };
  /** Mail server and sender; null values may be stored in the library instead. */
  mail: { server: MailServer | null; from: Sender | null };
  /** Encrypts backups; null: backups are not encrypted, unless a key file is given. */
  backupPassphrase: string | null;
  /** Directories that verify passwords (SIGNIN-5); none by default. */
  identityProviders: readonly ProviderSettings[];
  /** The bucket for files; null: they are in the data directory. */
  s3: S3Settings | null;
  /** The service of buckets for backups; null: that of `s3`. */
  backupS3: BackupS3Settings | null;
  /** Where traces go; null: nothing is traced. */
  tracing: TracingSettings | null;
}

/** An invalid setting, which stops the start; its message is the one line to print. */
export class ConfigError extends Error {}

const names = [
  'VITRINE_HOST',
  'VITRINE_PEER_CATCH_UP_IDS',
  'VITRINE_PEER_CATCH_UP_PAGES',
  'VITRINE_PEER_CATCH_UP_SECONDS',
  'VITRINE_PEER_LIMIT',
  'VITRINE_PEER_LOGGED_REFUSALS',
  'VITRINE_PEER_OFFERS',
  'VITRINE_PEER_OFFERS_PER_ADDRESS',
  'VITRINE_PEER_RENDITION_BYTES',
  'VITRINE_PEER_RESEND_SECONDS',
  'VITRINE_PORT',
  'VITRINE_DATA',
  'VITRINE_BASE_URL',
  'VITRINE_DATABASE_POOLING',
  'VITRINE_DATABASE_DIRECT_URL',
  'VITRINE_DATABASE_REPLICA_URL',
  'VITRINE_POSTGRES_BIN',
  'VITRINE_POSTGRES_UID',
  'VITRINE_ADMIN_USERNAME',
  'VITRINE_ADMIN_PASSWORD',
  'VITRINE_SCRAMBLE_KEY',
  'VITRINE_SECRET_KEY',
  'VITRINE_ENCODER_URL',
  'VITRINE_FFMPEG',
  'VITRINE_LIBREOFFICE',
  'VITRINE_GHOSTSCRIPT',
  'VITRINE_LOG_LEVEL',
  'VITRINE_RATE_LIMITS',
  'VITRINE_SIGN_IN_LIMIT',
  'VITRINE_CALLER_LIMIT',
  'VITRINE_CALLER_BYTES_LIMIT',
  'VITRINE_ANONYMOUS_LIMIT',
  'VITRINE_ANONYMOUS_BYTES_LIMIT',
  'VITRINE_REQUEST_LIMIT',
  'VITRINE_TEST_MAIL_LIMIT',
  'VITRINE_TRUSTED_PROXIES',
  'VITRINE_CONNECTIONS_PER_ADDRESS',
  'VITRINE_UPLOADS_PER_ADDRESS',
  'VITRINE_UPLOADS_PER_ACCOUNT',
  'VITRINE_IMPERSONATION_MINUTES',
  'VITRINE_MAX_FILE_BYTES',
  'VITRINE_PROCESSES',
  'VITRINE_JOBS',
  'VITRINE_WORKER_PORT',
  'VITRINE_METRICS_TOKEN',
  'VITRINE_DRAIN_SECONDS',
  'VITRINE_STOP_SECONDS',
  'VITRINE_RESERVE_BYTES',
  'VITRINE_SESSION_DAYS',
  'VITRINE_FEDERATION_PRIVATE_ADDRESSES',
  'VITRINE_FEDERATION_CACHE_BYTES',
  'VITRINE_SMTP_URL',
  'VITRINE_MAIL_FROM',
  'VITRINE_BACKUP_PASSPHRASE',
  ...providerSettingNames,
  ...s3SettingNames,
  ...backupS3SettingNames,
  ...tracingSettingNames,
] as const;
type Name = (typeof names)[number];

/** RATE-4: budgets for bytes of files are ten times as high. */
const BYTES_FACTOR = 10;
const MOST_REQUESTS = 1_000_000;
/** The least number of characters of a passphrase that encrypts backups. */
export const LEAST_PASSPHRASE = 12;
/** The least number of characters of the key that seals secrets. */
const LEAST_SECRET_KEY = 32;
const MOST_BYTES_REQUESTS = MOST_REQUESTS * BYTES_FACTOR;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

function isName(text: string): text is Name {
  return names.some((name) => name === text);
}

/** Returns whether a directory is the data directory of a library. */
function isDataDirectory(directory: string): boolean {
  return existsSync(join(directory, 'library', 'incoming'));
}

/** Reads `vitrine.env` in the working directory; the environment takes precedence. */
function gather(env: NodeJS.ProcessEnv, directory: string): Record<string, string | undefined> {
  const file = join(directory, 'vitrine.env');
  const text = existsSync(file) ? readFileSync(file, 'utf8').replace(/^\uFEFF/, '') : '';
  // The parser ignores lines without `=`, so refuse them: the operator would believe that the setting applies.
  const half = /^[ \t]*(?:export[ \t]+)?((?:VITRINE_|DATABASE_URL)\w*)[^=\r\n]*$/m.exec(text)?.[1];
  if (half !== undefined)
    throw new ConfigError(`${half} in vitrine.env has no "=" and a value after its name`);
  const fromFile = parseEnv(text);
  return { ...fromFile, ...env };
}

function wholeNumber(name: Name, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most) {
    throw new ConfigError(
      `${name} must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`,
    );
  }
  return number;
}

function oneOf<const T extends string>(name: Name, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === text);
  if (found === undefined)
    throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not ${JSON.stringify(text)}`);
  return found;
}

function address(name: Name, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigError(`${name} must be an http or https address, not ${JSON.stringify(text)}`);
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    throw new ConfigError(`${name} must be an address without ? and #, not ${JSON.stringify(text)}`);
  }
  return text.replace(/\/+$/, '');
}

/** Returns the address of a PostgreSQL server or a pooler; null when unset. */
function databaseAddress(name: Name | 'DATABASE_URL', text: string): string | null {
  if (text !== '' && !/^postgres(ql)?:\/\//.test(text)) {
    throw new ConfigError(`${name} must begin with postgres:// or postgresql://`);
  }
  return text === '' ? null : text;
}

/** Returns whether this is an IP address or a CIDR range. */
function isRange(text: string): boolean {
  const [, host = '', bits] = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(host)] ?? 0;
  return most > 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= most));
}

/** Returns the trusted proxies. `loopback` and `uniquelocal` (private networks) stand for their ranges. */
function proxies(text: string | null): string[] {
  const entries = text === null ? [] : text.split(',').map((entry) => entry.trim());
  const wrong = entries.find((entry) => !['loopback', 'uniquelocal'].includes(entry) && !isRange(entry));
  if (wrong === undefined) return entries;
  throw new ConfigError(
    `VITRINE_TRUSTED_PROXIES must list IP addresses and ranges such as 10.0.0.0/8, separated by commas, not ${JSON.stringify(wrong)}`,
  );
}

/** Returns a secret that nobody can guess: long, and of characters that a header may have. */
function secretText(name: Name, text: string | null, least: number): string | null {
  if (text === null || (/^[!-~]{1,200}$/.test(text) && text.length >= least)) return text;
  throw new ConfigError(`${name} must have ${least} to 200 letters, digits and signs without blanks`);
}

/** Returns the passphrase of backups; its length is checked at the start, not at the first backup. */
function passphrase(name: Name, text: string | null): string | null {
  if (text === null || text.length >= LEAST_PASSPHRASE) return text;
  throw new ConfigError(`${name} must have at least ${LEAST_PASSPHRASE} characters`);
}

/** Returns the kinds of jobs in a list; null for `all`. Which kinds exist is checked when the jobs start. */
function kindsOfJobs(text: string): string[] | null {
  if (text === 'all') return null;
  if (text === 'none') return [];
  const kinds = text.split(',').map((kind) => kind.trim());
  if (kinds.every((kind) => /^[a-z][a-z-]*$/.test(kind))) return kinds;
  throw new ConfigError(
    `VITRINE_JOBS must be all, none, or kinds of jobs separated by commas, not ${JSON.stringify(text)}`,
  );
}

/** Returns the library's public address; it is visible to everyone, so it must not contain credentials. */
function publicAddress(name: Name, text: string): string {
  const found = address(name, text);
  const { username, password } = new URL(found);
  if (username !== '' || password !== '')
    throw new ConfigError(`${name} must not carry a name or a password`);
  return found;
}

/** Returns the first administrator's name, under the rules for any name. */
function administratorName(name: Name, text: string): string {
  if (!/^\S(.{0,98}\S)?$/.test(text)) {
    throw new ConfigError(`${name} must have 1 to 100 characters and neither begin nor end with a blank`);
  }
  return text;
}

/** Returns the program of a setting, which must exist; `off` and null are returned unchanged. */
function ffmpegProgram(name: Name, text: string | null): string | null {
  if (text === null || text === 'off') return text;
  if (!isAbsolute(text) || locateProgram(text) === null) {
    throw new ConfigError(
      `${name} must be the absolute path of an ffmpeg with its ffprobe beside it, or off, not ${JSON.stringify(text)}`,
    );
  }
  return text;
}

/** Returns a program without an npm alternative, with the same rules. */
function namedProgram(name: Name, program: string, text: string | null): string | null {
  if (text === null || text === 'off') return text;
  if (!isAbsolute(text) || findProgram(text, program) === null) {
    throw new ConfigError(
      `${name} must be the absolute path of ${program}, or off, not ${JSON.stringify(text)}`,
    );
  }
  return text;
}

/** Parses a mail setting, or throws a refusal that names the setting but not its password. */
function mailPart<T extends object>(
  name: Name,
  text: string | null,
  read: (text: string) => T | string,
): T | null {
  const part = text === null ? null : read(text);
  if (typeof part === 'string') throw new ConfigError(`${name} ${part}`);
  return part;
}

/**
 * The default data directory: the working directory if it is one, else `./data`, or as root `/var/lib/vitrine` when others cannot reach the working directory.
 */
function defaultDataDir(directory: string, reachable: (dir: string) => boolean): string {
  if (isDataDirectory(directory)) return directory;
  const isRoot = process.getuid?.() === 0;
  return isRoot && !reachable(directory) ? '/var/lib/vitrine' : join(directory, 'data');
}

/**
 * Reads every setting; throws a ConfigError that names an invalid one. `reachable` returns whether the database's user
 * can enter a directory.
 */
export function readConfig(
  env: NodeJS.ProcessEnv,
  directory: string,
  reachable: (dir: string) => boolean = reachableByDatabaseUser,
): Config {
  const given = gather(env, directory);
  for (const name of Object.keys(given)) {
    if (name.startsWith('VITRINE_') && !isName(name)) throw new ConfigError(`unknown setting ${name}`);
  }
  const value = (name: Name): string | null => {
    const text = given[name];
    return text === undefined || text === '' ? null : text;
  };
  const username = value('VITRINE_ADMIN_USERNAME');
  const password = value('VITRINE_ADMIN_PASSWORD');
  if ((username === null) !== (password === null)) {
    throw new ConfigError(
      'VITRINE_ADMIN_USERNAME and VITRINE_ADMIN_PASSWORD go together: set both or neither',
    );
  }
  const number = (name: Name, unset: number, least: number, most: number) =>
    wholeNumber(name, value(name) ?? String(unset), least, most);
  const databaseUrl = databaseAddress('DATABASE_URL', given.DATABASE_URL ?? '');
  const databaseDirectUrl = databaseAddress(
    'VITRINE_DATABASE_DIRECT_URL',
    value('VITRINE_DATABASE_DIRECT_URL') ?? '',
  );
  const pooling = oneOf('VITRINE_DATABASE_POOLING', value('VITRINE_DATABASE_POOLING') ?? 'session', [
    'session',
    'transaction',
  ]);
  if ((pooling === 'transaction') !== (databaseDirectUrl !== null)) {
    throw new ConfigError(
      'VITRINE_DATABASE_POOLING=transaction and VITRINE_DATABASE_DIRECT_URL go together: set both or neither',
    );
  }
  if (databaseDirectUrl !== null && databaseUrl === null) {
    throw new ConfigError('VITRINE_DATABASE_DIRECT_URL needs a DATABASE_URL, the address of the pooler');
  }
  const databaseReplicaUrl = databaseAddress(
    'VITRINE_DATABASE_REPLICA_URL',
    value('VITRINE_DATABASE_REPLICA_URL') ?? '',
  );
  if (databaseReplicaUrl !== null && databaseUrl === null) {
    throw new ConfigError('VITRINE_DATABASE_REPLICA_URL needs a DATABASE_URL, the address of its primary');
  }
  const dataDir = value('VITRINE_DATA');
  const baseUrl = value('VITRINE_BASE_URL');
  const encoderUrl = value('VITRINE_ENCODER_URL');
  const caller = number('VITRINE_CALLER_LIMIT', 600, 1, MOST_REQUESTS);
  const anonymous = number('VITRINE_ANONYMOUS_LIMIT', 600, 1, MOST_REQUESTS);
  return {
    host: value('VITRINE_HOST') ?? '127.0.0.1',
    port: number('VITRINE_PORT', 8420, 0, 65_535),
    dataDir: resolve(directory, dataDir ?? defaultDataDir(directory, reachable)),
    baseUrl: baseUrl === null ? null : publicAddress('VITRINE_BASE_URL', baseUrl),
    databaseUrl,
    databaseDirectUrl,
    databaseReplicaUrl,
    postgresBinDir: value('VITRINE_POSTGRES_BIN'),
    postgresUid: number('VITRINE_POSTGRES_UID', DATABASE_UID, 1, 4_294_967_294),
    admin:
      username === null || password === null
        ? null
        : { username: administratorName('VITRINE_ADMIN_USERNAME', username), password },
    demo: false,
    scrambleKey: value('VITRINE_SCRAMBLE_KEY'),
    secretKey: secretText('VITRINE_SECRET_KEY', value('VITRINE_SECRET_KEY'), LEAST_SECRET_KEY),
    encoderUrl: encoderUrl === null ? null : address('VITRINE_ENCODER_URL', encoderUrl),
    ffmpeg: ffmpegProgram('VITRINE_FFMPEG', value('VITRINE_FFMPEG')),
    libreoffice: namedProgram('VITRINE_LIBREOFFICE', 'soffice', value('VITRINE_LIBREOFFICE')),
    ghostscript: namedProgram('VITRINE_GHOSTSCRIPT', 'gs', value('VITRINE_GHOSTSCRIPT')),
    logLevel: oneOf('VITRINE_LOG_LEVEL', value('VITRINE_LOG_LEVEL') ?? 'info', logLevels),
    rateLimits: oneOf('VITRINE_RATE_LIMITS', value('VITRINE_RATE_LIMITS') ?? 'on', ['on', 'off']) === 'on',
    limits: {
      signIn: number('VITRINE_SIGN_IN_LIMIT', 10, 1, MOST_REQUESTS),
      caller,
      callerBytes: number('VITRINE_CALLER_BYTES_LIMIT', caller * BYTES_FACTOR, 1, MOST_BYTES_REQUESTS),
      anonymous,
      anonymousBytes: number(
        'VITRINE_ANONYMOUS_BYTES_LIMIT',
        anonymous * BYTES_FACTOR,
        1,
        MOST_BYTES_REQUESTS,
      ),
      peer: number('VITRINE_PEER_LIMIT', 1200, 1, MOST_REQUESTS),
      loggedRefusals: number('VITRINE_PEER_LOGGED_REFUSALS', 1, 1, MOST_REQUESTS),
      asks: number('VITRINE_REQUEST_LIMIT', 30, 1, MOST_REQUESTS),
      testMails: number('VITRINE_TEST_MAIL_LIMIT', 10, 1, MOST_REQUESTS),
    },
    trustedProxies: proxies(value('VITRINE_TRUSTED_PROXIES')),
    concurrency: {
      connectionsPerAddress: number('VITRINE_CONNECTIONS_PER_ADDRESS', 1000, 1, 1_000_000),
      uploadsPerAddress: number('VITRINE_UPLOADS_PER_ADDRESS', 100, 1, 1_000_000),
      uploadsPerAccount: number('VITRINE_UPLOADS_PER_ACCOUNT', 20, 1, 1_000_000),
    },
    impersonationMinutes: number('VITRINE_IMPERSONATION_MINUTES', 30, 1, 1440),
    maxFileBytes: number('VITRINE_MAX_FILE_BYTES', 20 * 1024 ** 3, 1, Number.MAX_SAFE_INTEGER),
    processes: number('VITRINE_PROCESSES', 1, 1, 64),
    workerPort: value('VITRINE_WORKER_PORT') === null ? null : number('VITRINE_WORKER_PORT', 0, 0, 65_535),
    metricsToken: secretText('VITRINE_METRICS_TOKEN', value('VITRINE_METRICS_TOKEN'), 16),
    jobs: kindsOfJobs(value('VITRINE_JOBS') ?? 'all'),
    drainSeconds: number('VITRINE_DRAIN_SECONDS', 0, 0, 600),
    stopSeconds: number('VITRINE_STOP_SECONDS', 8, 1, 3600),
    reserveBytes: number('VITRINE_RESERVE_BYTES', 512 * 1024 ** 2, 0, Number.MAX_SAFE_INTEGER),
    sessionDays: number('VITRINE_SESSION_DAYS', 30, 1, 3650),
    federation: {
      privateAddresses:
        oneOf(
          'VITRINE_FEDERATION_PRIVATE_ADDRESSES',
          value('VITRINE_FEDERATION_PRIVATE_ADDRESSES') ?? 'off',
          ['on', 'off'],
        ) === 'on',
      cacheBytes: number('VITRINE_FEDERATION_CACHE_BYTES', 10 * 1024 ** 3, 0, Number.MAX_SAFE_INTEGER),
      catchUpPages: number('VITRINE_PEER_CATCH_UP_PAGES', 1000, 1, 1_000_000),
      catchUpSeconds: number('VITRINE_PEER_CATCH_UP_SECONDS', 60, 1, 3600),
      catchUpIds: number('VITRINE_PEER_CATCH_UP_IDS', 100_000, 1, 10_000_000),
      resendSeconds: number('VITRINE_PEER_RESEND_SECONDS', 60, 0, 86_400),
      renditionBytes: number('VITRINE_PEER_RENDITION_BYTES', 128 * 1024 ** 2, 1, Number.MAX_SAFE_INTEGER),
      openOffers: number('VITRINE_PEER_OFFERS', 100, 1, 100_000),
      openOffersPerAddress: number('VITRINE_PEER_OFFERS_PER_ADDRESS', 10, 1, 100_000),
    },
    mail: {
      server: mailPart('VITRINE_SMTP_URL', value('VITRINE_SMTP_URL'), readMailServer),
      from: mailPart('VITRINE_MAIL_FROM', value('VITRINE_MAIL_FROM'), readSender),
    },
    backupPassphrase: passphrase('VITRINE_BACKUP_PASSPHRASE', value('VITRINE_BACKUP_PASSPHRASE')),
    identityProviders: readProviderSettings({
      value,
      directory,
      refusal: (message) => new ConfigError(message),
    }),
    s3: readS3Settings({ value, refusal: (message) => new ConfigError(message) }),
    backupS3: readBackupS3Settings({ value, refusal: (message) => new ConfigError(message) }),
    tracing: readTracingSettings({ value, refusal: (message) => new ConfigError(message) }),
  };
}
