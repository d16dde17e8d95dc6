import { type RawBuilder, sql } from 'kysely';
import { LINK_PURPOSE } from '../../content/links/address.ts';
import { ConfigError } from '../../core/config.ts';
import { ACTIVITYPUB_KEY_PURPOSE } from '../../exchange/activitypub/actors.ts';
import { BOX_KEY_PURPOSE } from '../../exchange/federation/box-keys.ts';
import { INSTALL_KEY_PURPOSE } from '../../exchange/federation/identity.ts';
import { ACTOR_KEY_PURPOSE } from '../../exchange/federation/keys.ts';
import { PROVIDER_PURPOSE } from '../../people/identity/provider-registry.ts';
import { seal, unseal } from '../../people/identity/seal.ts';
import { TWO_FACTOR_PURPOSE } from '../../people/identity/two-factor-code.ts';
import { SMTP_PURPOSE } from '../../people/mail/settings.ts';
import { PUSH_KEY_PURPOSE } from '../../people/push/key.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';

/** A column with values that the secret key seals. */
interface SealedColumn {
  table: string;
  column: string;
  purpose: string;
  /** What the values are, for the operator. */
  what: Sentence;
}

/** Every column with sealed values; a test compares them with the schema. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'two_factor',
    column: 'sealed_secret',
    purpose: TWO_FACTOR_PURPOSE,
    what: sentence('second factors'),
  },
  {
    table: 'federation_keys',
    column: 'signing_sealed',
    purpose: ACTOR_KEY_PURPOSE,
    what: sentence('keys of people'),
  },
  {
    table: 'federation_box_keys',
    column: 'sealed',
    purpose: BOX_KEY_PURPOSE,
    what: sentence('encryption keys of people'),
  },
  {
    table: 'federation_rotations',
    column: 'previous_sealed',
    purpose: INSTALL_KEY_PURPOSE,
    what: sentence('former keys of the library'),
  },
  {
    table: 'activitypub_actors',
    column: 'private_key_sealed',
    purpose: ACTIVITYPUB_KEY_PURPOSE,
    what: sentence('keys of people who are followed with ActivityPub'),
  },
  {
    table: 'identity_providers',
    column: 'client_secret_sealed',
    purpose: PROVIDER_PURPOSE,
    what: sentence('secrets of identity providers'),
  },
  {
    table: 'share_links',
    column: 'token_sealed',
    purpose: LINK_PURPOSE,
    what: sentence('addresses of links'),
  },
];

interface SealedSetting {
  key: 'mail' | 'federation_key' | 'push_key';
  purpose: string;
  what: Sentence;
  /** Where in the setting the sealed text is, in base64. */
  path: readonly string[];
}

const sealedSettings: readonly SealedSetting[] = [
  { key: 'mail', purpose: SMTP_PURPOSE, what: sentence('address of the mail server'), path: ['smtp_url'] },
  { key: 'federation_key', purpose: INSTALL_KEY_PURPOSE, what: sentence('key of the library'), path: [] },
  { key: 'push_key', purpose: PUSH_KEY_PURPOSE, what: sentence('key of push messages'), path: [] },
];

/** The keys of a rotation. */
export interface KeyChange {
  former: string;
  next: string;
}

/** How many values of one kind were sealed again. */
export interface SealedCount {
  what: Sentence;
  count: number;
}

/** Seals a value with the next key; throws ConfigError if the former key does not open it. */
function sealAgain({ former, next }: KeyChange, purpose: string, what: Sentence, sealed: Buffer): Buffer {
  let text: string;
  try {
    text = unseal(former, purpose, sealed);
  } catch {
    throw new ConfigError(
      sentence('{what}: one cannot be read with the present key; nothing was changed', { what }),
    );
  }
  return seal(next, purpose, text);
}

async function sealColumn(tx: Tx, change: KeyChange, { table, column, purpose, what }: SealedColumn) {
  const name = sql.ref(column);
  const { rows } = await sql<{ sealed: Buffer }>`select ${name} as sealed from ${sql.table(table)}
    where ${name} is not null for update`.execute(tx);
  const before = rows.map(({ sealed }) => sealed);
  const after = before.map((sealed) => sealAgain(change, purpose, what, sealed));
  // Sealed values are unique, because each has a random nonce.
  await sql`update ${sql.table(table)} t set ${name} = x.after
    from unnest(${before}::bytea[], ${after}::bytea[]) x (before, after) where t.${name} = x.before`.execute(
    tx,
  );
  return { what, count: rows.length };
}

async function sealSetting(tx: Tx, change: KeyChange, { key, purpose, what, path }: SealedSetting) {
  const part: RawBuilder<string | null> = sql`value #>> ${path}::text[]`;
  const { rows } = await sql<{ sealed: string | null }>`select ${part} as sealed from settings
    where key = ${key} for update`.execute(tx);
  const sealed = rows[0]?.sealed ?? null;
  if (sealed === null) return { what, count: 0 };
  const after = sealAgain(change, purpose, what, Buffer.from(sealed, 'base64')).toString('base64');
  const text = JSON.stringify(after);
  await (path.length === 0
    ? sql`update settings set value = ${text}::jsonb where key = ${key}`
    : sql`update settings set value = jsonb_set(value, ${path}::text[], ${text}::jsonb) where key = ${key}`
  ).execute(tx);
  return { what, count: 1 };
}

/** Seals every stored secret with the next key; throws ConfigError if one cannot be read. */
export async function sealEverything(tx: Tx, change: KeyChange): Promise<SealedCount[]> {
  const counts: SealedCount[] = [];
  for (const setting of sealedSettings) counts.push(await sealSetting(tx, change, setting));
  for (const column of sealedColumns) counts.push(await sealColumn(tx, change, column));
  return counts;
}
