import { DATABASE_UID } from '../../platform/database/database-user.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { oneOf, type SettingSource, wholeNumber } from './setting-source.ts';

/** Which database the library uses. */
export interface DatabaseSettings {
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
}

export const databaseSettingNames = [
  'VITRINE_DATABASE_POOLING',
  'VITRINE_DATABASE_DIRECT_URL',
  'VITRINE_DATABASE_REPLICA_URL',
  'VITRINE_POSTGRES_BIN',
  'VITRINE_POSTGRES_UID',
] as const;
type Name = (typeof databaseSettingNames)[number] | 'DATABASE_URL';

/** Returns the address of a PostgreSQL server or a pooler; null when unset. */
function databaseAddress({ value, refusal }: SettingSource<Name>, name: Name): string | null {
  const text = value(name);
  if (text === null || /^postgres(ql)?:\/\//.test(text)) return text;
  throw refusal(sentence('{name} must begin with postgres:// or postgresql://', { name }));
}

/** Reads the settings of the database, some of which need each other. */
export function readDatabaseSettings(source: SettingSource<Name>): DatabaseSettings {
  const { refusal } = source;
  const databaseUrl = databaseAddress(source, 'DATABASE_URL');
  const databaseDirectUrl = databaseAddress(source, 'VITRINE_DATABASE_DIRECT_URL');
  const pooling = oneOf(source, 'VITRINE_DATABASE_POOLING', 'session', ['session', 'transaction']);
  if ((pooling === 'transaction') !== (databaseDirectUrl !== null)) {
    throw refusal(
      sentence('{one} and {other} go together: set both or neither', {
        one: 'VITRINE_DATABASE_POOLING=transaction',
        other: 'VITRINE_DATABASE_DIRECT_URL',
      }),
    );
  }
  if (databaseDirectUrl !== null && databaseUrl === null)
    throw refusal(sentence('VITRINE_DATABASE_DIRECT_URL needs a DATABASE_URL, the address of the pooler'));
  const databaseReplicaUrl = databaseAddress(source, 'VITRINE_DATABASE_REPLICA_URL');
  if (databaseReplicaUrl !== null && databaseUrl === null)
    throw refusal(sentence('VITRINE_DATABASE_REPLICA_URL needs a DATABASE_URL, the address of its primary'));
  return {
    databaseUrl,
    databaseDirectUrl,
    databaseReplicaUrl,
    postgresBinDir: source.value('VITRINE_POSTGRES_BIN'),
    postgresUid: wholeNumber(source, 'VITRINE_POSTGRES_UID', DATABASE_UID, 1, 4_294_967_294),
  };
}
