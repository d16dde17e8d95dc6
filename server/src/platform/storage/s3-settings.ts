import { type Sentence, type SentenceValue, sentence } from '../language/sentence.ts';

/** Where a bucket is, and how it is used. */
export interface S3Settings {
  /** Address of the service, without a trailing slash; null: Amazon's, in the region. */
  endpoint: string | null;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Precedes every key: empty, or ends with a slash. */
  prefix: string;
  /** Whether the bucket is named in the path of the address rather than in its host. */
  forcePathStyle: boolean;
  /** How long a download may be read directly from the bucket; 0: the service sends every byte itself. */
  redirectSeconds: number;
  /** The address of the service for clients; null: `endpoint`. */
  publicEndpoint: string | null;
  /** False: new files are stored on the disk, and the bucket is only read and emptied. */
  writes: boolean;
}

/** The settings of object storage, part of the closed list in config.ts. */
export const s3SettingNames = [
  'VITRINE_S3_ENDPOINT',
  'VITRINE_S3_REGION',
  'VITRINE_S3_BUCKET',
  'VITRINE_S3_ACCESS_KEY_ID',
  'VITRINE_S3_SECRET_ACCESS_KEY',
  'VITRINE_S3_PREFIX',
  'VITRINE_S3_FORCE_PATH_STYLE',
  'VITRINE_S3_WRITES',
  'VITRINE_S3_REDIRECT_SECONDS',
  'VITRINE_S3_PUBLIC_ENDPOINT',
] as const;
type Name = (typeof s3SettingNames)[number];

/** The settings of a bucket for backups, whose name is part of the command. */
export const backupS3SettingNames = [
  'VITRINE_BACKUP_S3_ENDPOINT',
  'VITRINE_BACKUP_S3_REGION',
  'VITRINE_BACKUP_S3_ACCESS_KEY_ID',
  'VITRINE_BACKUP_S3_SECRET_ACCESS_KEY',
  'VITRINE_BACKUP_S3_FORCE_PATH_STYLE',
] as const;
type BackupName = (typeof backupS3SettingNames)[number];

/** The service of a bucket for backups, and its key. */
export type BackupS3Settings = Pick<
  S3Settings,
  'endpoint' | 'region' | 'accessKeyId' | 'secretAccessKey' | 'forcePathStyle'
>;

interface SettingsSource {
  /** The value; null when unset. */
  value(name: Name): string | null;
  /** Creates the error that stops the start with this one line. Names of settings are values of it. */
  refusal(reason: Sentence): Error;
}

function readEndpoint(
  { value, refusal }: SettingsSource,
  name: 'VITRINE_S3_ENDPOINT' | 'VITRINE_S3_PUBLIC_ENDPOINT',
): string | null {
  const text = value(name);
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  // The value is not repeated, as it may contain a password.
  const isPlain =
    url !== null && url.username === '' && url.password === '' && url.pathname === '/' && !/[?#]/.test(text);
  if (!isPlain || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refusal(sentence('{name} must be http://host or https://host, with a port if needed', { name }));
  return url.origin;
}

function readPrefix({ value, refusal }: SettingsSource): string {
  const name = 'VITRINE_S3_PREFIX';
  const text = value(name);
  if (text === null) return '';
  const plain = text.replace(/\/$/, '');
  if (!/^\w[\w.-]*(\/\w[\w.-]*)*$/.test(plain) || plain.length > 200)
    throw refusal(
      sentence('{name} must be names of letters, digits, {signs}, separated by {separator}', {
        name,
        signs: sentence('{one} and {other}', { one: '"_", "."', other: '"-"' }),
        separator: '"/"',
      }),
    );
  return `${plain}/`;
}

/** An address outlives a sign-out and a revoked link, so it lasts an hour at most. */
const LONGEST_REDIRECT_SECONDS = 3600;

function readRedirectSeconds({ value, refusal }: SettingsSource): number {
  const name = 'VITRINE_S3_REDIRECT_SECONDS';
  const text = value(name) ?? '0';
  const seconds = Number(text);
  if (!/^\d{1,4}$/.test(text) || seconds > LONGEST_REDIRECT_SECONDS)
    throw refusal(
      sentence('{name} must be a number from {least} to {most}', {
        name,
        least: '0',
        most: String(LONGEST_REDIRECT_SECONDS),
      }),
    );
  return seconds;
}

function isOn({ value, refusal }: SettingsSource, name: Name, unset: boolean): boolean {
  const text = value(name) ?? (unset ? 'on' : 'off');
  if (text !== 'on' && text !== 'off') throw refusal(sentence('{name} must be on or off', { name }));
  return text === 'on';
}

/**
 * Returns the settings of the bucket, or null when none is set. Throws a refusal that names an invalid or missing one
 * and does not repeat secrets.
 */
export function readS3Settings(source: SettingsSource): S3Settings | null {
  const { value, refusal } = source;
  const given = s3SettingNames.find((name) => value(name) !== null);
  if (given === undefined) return null;
  const needed = (name: Name): string => {
    const text = value(name);
    if (text === null)
      throw refusal(
        sentence('{name} is missing: {given} is set, and object storage needs both', { name, given }),
      );
    return text;
  };
  const bucket = needed('VITRINE_S3_BUCKET');
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw refusal(
      sentence('{name} must be the name of a bucket: 3 to 63 of {signs}', {
        name: 'VITRINE_S3_BUCKET',
        signs: sentence('{one} and {other}', { one: 'a-z, 0-9, "."', other: '"-"' }),
      }),
    );
  const region = value('VITRINE_S3_REGION') ?? 'us-east-1';
  if (!/^[a-z0-9-]{1,40}$/.test(region))
    throw refusal(
      sentence('{name} must be a name such as {example}', {
        name: 'VITRINE_S3_REGION',
        example: 'eu-central-1',
      }),
    );
  const endpoint = readEndpoint(source, 'VITRINE_S3_ENDPOINT');
  return {
    endpoint,
    region,
    bucket,
    accessKeyId: needed('VITRINE_S3_ACCESS_KEY_ID'),
    secretAccessKey: needed('VITRINE_S3_SECRET_ACCESS_KEY'),
    prefix: readPrefix(source),
    // Amazon wants the bucket in the host; other services rarely have names for that.
    forcePathStyle: isOn(source, 'VITRINE_S3_FORCE_PATH_STYLE', endpoint !== null),
    redirectSeconds: readRedirectSeconds(source),
    publicEndpoint: readEndpoint(source, 'VITRINE_S3_PUBLIC_ENDPOINT'),
    writes: isOn(source, 'VITRINE_S3_WRITES', true),
  };
}

/** Returns a value of a sentence with the name of the setting for backups in place of that for files. */
const ownName = ([key, value]: [string, SentenceValue]) =>
  [key, typeof value === 'string' ? value.replace(/^VITRINE_S3_/, 'VITRINE_BACKUP_S3_') : value] as const;

/** Returns the settings of buckets for backups, or null when none is set. Throws as `readS3Settings`. */
export function readBackupS3Settings({
  value,
  refusal,
}: {
  value(name: BackupName): string | null;
  refusal(reason: Sentence): Error;
}): BackupS3Settings | null {
  const names = new Map<string, BackupName>(
    backupS3SettingNames.map((name) => [name.replace('_BACKUP', ''), name]),
  );
  const given = backupS3SettingNames.some((name) => value(name) !== null);
  return readS3Settings({
    value(name) {
      const own = names.get(name);
      if (own !== undefined) return value(own);
      // The command names the bucket.
      return given && name === 'VITRINE_S3_BUCKET' ? 'named-later' : null;
    },
    refusal: ({ text, values }) =>
      refusal({ text, values: Object.fromEntries(Object.entries(values).map(ownName)) }),
  });
}
