import { resolve } from 'node:path';
import type { Language } from '@vitrine/contract/languages';
import { reachableByDatabaseUser } from '../platform/database/database-user.ts';
import { languageOfCommands } from '../platform/language/command-line.ts';
import { type Sentence, sentence, WordedError } from '../platform/language/sentence.ts';
import {
  type Faulty,
  type MailServer,
  readMailServer,
  readSender,
  type Sender,
} from '../platform/mail/address.ts';
import {
  type BackupS3Settings,
  backupS3SettingNames,
  readBackupS3Settings,
  readS3Settings,
  type S3Settings,
  s3SettingNames,
} from '../platform/storage/s3-settings.ts';
import {
  readTracingSettings,
  type TracingSettings,
  tracingSettingNames,
} from '../platform/tracing/settings.ts';
import { type DatabaseSettings, databaseSettingNames, readDatabaseSettings } from './config/database.ts';
import {
  type FederationSettings,
  federationSettingNames,
  readFederationSettings,
} from './config/federation.ts';
import { type LimitSettings, limitSettingNames, readLimitSettings } from './config/limits.ts';
import { collectSettings, defaultDataDir } from './config/place.ts';
import { type ProcessSettings, processSettingNames, readProcessSettings } from './config/processes.ts';
import { type ProgramSettings, programSettingNames, readProgramSettings } from './config/programs.ts';
import { readSecretSettings, type SecretSettings, secretSettingNames } from './config/secrets.ts';
import { httpAddress, oneOf, type SettingSource, wholeNumber } from './config/setting-source.ts';
import {
  readSignInProviderSettings,
  type SignInProviderSettings,
  signInProviderSettingNames,
} from './config/sign-in-providers.ts';
import {
  type ProviderSettings,
  providerSettingNames,
  readProviderSettings,
} from './identity-provider-settings.ts';

/** All settings of the process (SETTING-1). Passed as a value; never read on import. */
export interface Config
  extends DatabaseSettings,
    LimitSettings,
    ProcessSettings,
    ProgramSettings,
    SecretSettings,
    SignInProviderSettings {
  host: string;
  port: number;
  /** Directory of the library's files and of the embedded database. */
  dataDir: string;
  /** Public address, without a trailing slash; null when unset. */
  baseUrl: string | null;
  /** A sample library for trying things out (SETTING-10); set by the command, not by a setting. */
  demo: boolean;
  /** The language in which commands print (LANGUAGE-7). */
  language: Language;
  /** Address of the visual encoder, without a trailing slash; null: no search by picture. */
  encoderUrl: string | null;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Whether push services may have private addresses and addresses without TLS. */
  pushPrivateAddresses: boolean;
  /** How long an impersonation lasts, in minutes (IMPERSONATION-5). */
  impersonationMinutes: number;
  /** Bytes of the library's volume reserved for the database. */
  reserveBytes: number;
  /** How long a session lives after its last use, in days. */
  sessionDays: number;
  federation: FederationSettings;
  /** Mail server and sender; null values may be stored in the library instead. */
  mail: { server: MailServer | null; from: Sender | null };
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
export class ConfigError extends WordedError {
  constructor(said: Sentence, options?: ErrorOptions) {
    super(said, options);
  }
}

const names = [
  'VITRINE_HOST',
  'VITRINE_PORT',
  'VITRINE_DATA',
  'VITRINE_BASE_URL',
  'VITRINE_ENCODER_URL',
  'VITRINE_LOG_LEVEL',
  'VITRINE_IMPERSONATION_MINUTES',
  'VITRINE_RESERVE_BYTES',
  'VITRINE_PUSH_PRIVATE_ADDRESSES',
  'VITRINE_SESSION_DAYS',
  'VITRINE_SMTP_URL',
  'VITRINE_MAIL_FROM',
  ...databaseSettingNames,
  ...federationSettingNames,
  ...limitSettingNames,
  ...processSettingNames,
  ...programSettingNames,
  ...providerSettingNames,
  ...s3SettingNames,
  ...backupS3SettingNames,
  ...secretSettingNames,
  ...signInProviderSettingNames,
  ...tracingSettingNames,
] as const;
type Name = (typeof names)[number] | 'DATABASE_URL';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Returns the library's public address; it is visible to everyone, so it must not contain credentials. */
function publicAddress(source: SettingSource<Name>): string | null {
  const found = httpAddress(source, 'VITRINE_BASE_URL');
  if (found === null) return null;
  const { username, password } = new URL(found);
  if (username === '' && password === '') return found;
  throw source.refusal(sentence('{name} must not carry a name or a password', { name: 'VITRINE_BASE_URL' }));
}

/** Parses a mail setting, or throws a refusal that names the setting but not its password. */
function mailPart<T extends object>(
  { value, refusal }: SettingSource<Name>,
  name: Name,
  read: (text: string) => T | Faulty,
): T | null {
  const text = value(name);
  const part = text === null ? null : read(text);
  if (part !== null && 'fault' in part)
    throw refusal(sentence('{property} {reason}', { property: name, reason: part.fault }));
  return part;
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
  const refusal = (reason: Sentence) => new ConfigError(reason);
  const given = collectSettings(env, directory, refusal);
  for (const name of Object.keys(given)) {
    if (name.startsWith('VITRINE_') && !names.some((known) => known === name))
      throw refusal(sentence('unknown setting {name}', { name }));
  }
  const value = (name: Name): string | null => given[name] || null;
  const source: SettingSource<Name> = { value, refusal };
  const database = readDatabaseSettings(source);
  return {
    ...readSecretSettings(source),
    ...database,
    ...readLimitSettings(source),
    ...readProcessSettings(source),
    ...readProgramSettings(source, database.postgresUid),
    ...readSignInProviderSettings(source),
    host: value('VITRINE_HOST') ?? '127.0.0.1',
    port: wholeNumber(source, 'VITRINE_PORT', 8420, 0, 65_535),
    dataDir: resolve(directory, value('VITRINE_DATA') ?? defaultDataDir(directory, reachable)),
    baseUrl: publicAddress(source),
    demo: false,
    language: languageOfCommands(env),
    encoderUrl: httpAddress(source, 'VITRINE_ENCODER_URL'),
    logLevel: oneOf(source, 'VITRINE_LOG_LEVEL', 'info', logLevels),
    impersonationMinutes: wholeNumber(source, 'VITRINE_IMPERSONATION_MINUTES', 30, 1, 1440),
    reserveBytes: wholeNumber(source, 'VITRINE_RESERVE_BYTES', 512 * 1024 ** 2, 0, Number.MAX_SAFE_INTEGER),
    sessionDays: wholeNumber(source, 'VITRINE_SESSION_DAYS', 30, 1, 3650),
    pushPrivateAddresses: oneOf(source, 'VITRINE_PUSH_PRIVATE_ADDRESSES', 'off', ['on', 'off']) === 'on',
    federation: readFederationSettings(source),
    mail: {
      server: mailPart(source, 'VITRINE_SMTP_URL', readMailServer),
      from: mailPart(source, 'VITRINE_MAIL_FROM', readSender),
    },
    identityProviders: readProviderSettings({ ...source, directory }),
    s3: readS3Settings(source),
    backupS3: readBackupS3Settings(source),
    tracing: readTracingSettings(source),
  };
}
