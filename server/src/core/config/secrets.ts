import { sentence } from '../../platform/language/sentence.ts';
import { type SettingSource, secretText } from './setting-source.ts';

/** Secrets of this library. */
export interface SecretSettings {
  /** The first administrator, created once on an empty library. */
  admin: { username: string; password: string } | null;
  /** Null: generated on the first start and stored in the library. */
  scrambleKey: string | null;
  /** The key that seals secrets; null: in the file `secret.key` of the data directory (RUN-41). */
  secretKey: string | null;
  /** The secret that a scrape of `/metrics` presents; null: there are no metrics. */
  metricsToken: string | null;
  /** Encrypts backups; null: backups are not encrypted, unless a key file is given. */
  backupPassphrase: string | null;
}

export const secretSettingNames = [
  'VITRINE_ADMIN_USERNAME',
  'VITRINE_ADMIN_PASSWORD',
  'VITRINE_SCRAMBLE_KEY',
  'VITRINE_SECRET_KEY',
  'VITRINE_METRICS_TOKEN',
  'VITRINE_BACKUP_PASSPHRASE',
] as const;
type Source = SettingSource<(typeof secretSettingNames)[number]>;

/** The least number of characters of a passphrase that encrypts backups. */
export const LEAST_PASSPHRASE = 12;
/** The least number of characters of the key that seals secrets. */
const LEAST_SECRET_KEY = 32;

/** Returns the first administrator, whose name follows the rules for any name. */
function administrator({ value, refusal }: Source): SecretSettings['admin'] {
  const username = value('VITRINE_ADMIN_USERNAME');
  const password = value('VITRINE_ADMIN_PASSWORD');
  if ((username === null) !== (password === null))
    throw refusal(
      sentence('{one} and {other} go together: set both or neither', {
        one: 'VITRINE_ADMIN_USERNAME',
        other: 'VITRINE_ADMIN_PASSWORD',
      }),
    );
  if (username === null || password === null) return null;
  if (/^\S(.{0,98}\S)?$/.test(username)) return { username, password };
  throw refusal(
    sentence('VITRINE_ADMIN_USERNAME must have 1 to 100 characters and neither begin nor end with a blank'),
  );
}

/** Returns the passphrase of backups; its length is checked at the start, not at the first backup. */
function passphrase({ value, refusal }: Source): string | null {
  const text = value('VITRINE_BACKUP_PASSPHRASE');
  if (text === null || text.length >= LEAST_PASSPHRASE) return text;
  throw refusal(
    sentence('VITRINE_BACKUP_PASSPHRASE must have at least {least} characters', { least: LEAST_PASSPHRASE }),
  );
}

/** Reads the secrets. */
export function readSecretSettings(source: Source): SecretSettings {
  return {
    admin: administrator(source),
    scrambleKey: source.value('VITRINE_SCRAMBLE_KEY'),
    secretKey: secretText(source, 'VITRINE_SECRET_KEY', LEAST_SECRET_KEY),
    metricsToken: secretText(source, 'VITRINE_METRICS_TOKEN', 16),
    backupPassphrase: passphrase(source),
  };
}
