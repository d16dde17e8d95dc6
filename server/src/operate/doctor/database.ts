import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { isAccount, otherProcessesOf } from '../../platform/database/database-user.ts';
import { knownMigrations } from '../../platform/database/migrate.ts';
import { examineAddresses } from '../../platform/database/open.ts';
import { examineReplica } from '../../platform/database/replica.ts';
import { connectionFault } from '../../platform/database/unusable.ts';
import { sentence, sentenceCount, verbatim } from '../../platform/language/sentence.ts';
import { type Examination, type Finding, passed, problem, warning } from './check.ts';

const OLDEST_POSTGRES = 15;

/** PostgreSQL's numeric version: 180004 is 18.4. */
export function judgeDatabaseVersion(number: number): Finding {
  const [major, minor] = [Math.floor(number / 10_000), number % 10_000];
  return major >= OLDEST_POSTGRES
    ? passed(verbatim(`PostgreSQL ${major}.${minor}`))
    : problem(
        sentence('PostgreSQL {version} is too old', { version: `${major}.${minor}` }),
        sentence('Move the database to PostgreSQL {version} or newer.', { version: OLDEST_POSTGRES }),
      );
}

const databaseVersion: Examination = {
  code: 'database_version',
  title: sentence('Database version'),
  async look({ db }) {
    const { rows } = await sql<{
      version: number;
    }>`select current_setting('server_version_num')::integer as version`.execute(db);
    return judgeDatabaseVersion(rows[0]?.version ?? 0);
  },
};

/** Settings without which a power failure loses or corrupts committed data. */
export function judgeDurability(settings: Readonly<Record<string, string>>): Finding {
  const off = Object.keys(settings).filter((name) => settings[name] === 'off');
  if (off.includes('fsync') || off.includes('full_page_writes')) {
    return problem(
      sentence('{settings} off: a power failure can corrupt the database', { settings: off }),
      sentence('Set {settings} in postgresql.conf and restart PostgreSQL.', {
        settings: off.map((name) => `${name} = on`),
      }),
    );
  }
  if (off.length > 0) {
    return warning(
      sentence('{settings} off: a power failure can lose the latest changes', { settings: off }),
      sentence('Set {settings} in postgresql.conf and restart PostgreSQL.', {
        settings: 'synchronous_commit = on',
      }),
    );
  }
  return passed(sentence('every acknowledged change is on the disk'));
}

const durability: Examination = {
  code: 'database_durability',
  title: sentence('Database durability'),
  async look({ db }) {
    const { rows } = await sql<{ name: string; setting: string }>`select name, setting from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit')`.execute(db);
    return judgeDurability(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])));
  },
};

export function judgeConnections(used: number, most: number): Finding {
  const detail = sentenceCount(
    most,
    ['{used} of # connection is in use', '{used} of # connections are in use'],
    { used },
  );
  return used < most * 0.8
    ? passed(detail)
    : warning(
        detail,
        sentence('Raise max_connections in postgresql.conf, or run fewer processes against it.'),
      );
}

const connections: Examination = {
  code: 'database_connections',
  title: sentence('Database connections'),
  async look({ db }) {
    const { rows } = await sql<{ used: number; most: number }>`
      select (select count(*) from pg_stat_activity where backend_type = 'client backend') as used,
        current_setting('max_connections')::integer as most`.execute(db);
    return judgeConnections(rows[0]?.used ?? 0, rows[0]?.most ?? 0);
  },
};

const addresses: Examination = {
  code: 'database_address',
  title: sentence('Address of the database'),
  async look({ config: { databaseUrl, databaseDirectUrl } }) {
    if (databaseUrl === null) return passed(sentence('the database is the embedded PostgreSQL'));
    try {
      await examineAddresses(databaseUrl, databaseDirectUrl);
    } catch (error) {
      return problem(
        sentence('a start would refuse {reason}', { reason: connectionFault(error) }),
        sentence('Correct the setting; see PgBouncer in docs/operations.md.'),
      );
    }
    return passed(
      databaseDirectUrl === null
        ? sentence('leads to PostgreSQL itself')
        : sentence('both lead to the same database'),
    );
  },
};

const replica: Examination = {
  code: 'database_replica',
  title: sentence('Replica of the database'),
  async look({ config: { databaseUrl, databaseDirectUrl, databaseReplicaUrl } }) {
    const primaryUrl = databaseDirectUrl ?? databaseUrl;
    if (databaseReplicaUrl === null || primaryUrl === null)
      return passed(sentence('no replica is configured'));
    const remedy = sentence(
      'Reads use the primary meanwhile. Check the replica and VITRINE_DATABASE_REPLICA_URL.',
    );
    try {
      const { behindBytes } = await examineReplica(
        { connectionString: primaryUrl },
        { connectionString: databaseReplicaUrl },
      );
      return behindBytes === 0
        ? passed(sentence('the replica follows the primary'))
        : warning(
            sentenceCount(behindBytes, [
              'the replica was # byte of log behind after a second',
              'the replica was # bytes of log behind after a second',
            ]),
            remedy,
          );
    } catch (error) {
      return warning(
        sentence('the replica serves no reads: {reason}', { reason: connectionFault(error) }),
        remedy,
      );
    }
  },
};

const migrations: Examination = {
  code: 'migrations',
  title: sentence('Version of the library'),
  async look({ db }) {
    const applied = (await db.selectFrom('migrations').select('name').execute()).map(({ name }) => name);
    const known = knownMigrations();
    const newer = applied.filter((name) => !known.includes(name));
    const missing = known.filter((name) => !applied.includes(name));
    if (newer.length > 0) {
      return problem(
        sentence('the database was changed by a newer Vitrine ({migrations})', { migrations: newer }),
        sentence('Start that version, or restore an earlier backup.'),
      );
    }
    if (missing.length > 0) {
      return problem(
        sentence('the database was last used by an older Vitrine (without {migrations})', {
          migrations: missing,
        }),
        sentence('Restart Vitrine: it brings the database up to its version when it starts.'),
      );
    }
    return passed(sentence('the database fits this version'));
  },
};

/** How far the database's clock is ahead, in milliseconds; negative when it is behind. */
export function judgeClock(ahead: number): Finding {
  const seconds = Math.abs(ahead) / 1000;
  const detail = sentence('the clocks of Vitrine and its database are {seconds} s apart', {
    seconds: Math.round(seconds * 10) / 10,
  });
  const remedy = sentence('Synchronise the clocks of both machines over the network (NTP).');
  if (seconds > 60) return problem(detail, remedy);
  return seconds > 5
    ? warning(detail, remedy)
    : passed(sentence('the clocks of Vitrine and its database agree'));
}

const clock: Examination = {
  code: 'clock',
  title: sentence('Clock'),
  async look({ db }) {
    const before = Date.now();
    const { rows } = await sql<{
      now: number;
    }>`select extract(epoch from clock_timestamp()) * 1000 as now`.execute(db);
    return judgeClock((rows[0]?.now ?? 0) - (before + Date.now()) / 2);
  },
};

/** The user of PostgreSQL when Vitrine runs as root: `uid` has an account, or `others` are its other processes. */
export function judgeDatabaseUser(uid: number, hasAccount: boolean, others: readonly number[]): Finding {
  if (!hasAccount && others.length === 0)
    return passed(sentence('only PostgreSQL uses uid {uid}', { uid: String(uid) }));
  const [other] = others;
  const runs =
    other === undefined
      ? sentence('PostgreSQL runs as uid {uid}, which is an account of this system', { uid: String(uid) })
      : sentence('PostgreSQL runs as uid {uid}, as does process {process}', {
          uid: String(uid),
          process: String(other),
        });
  return warning(
    sentence('{runs}: other programs of that uid can read the database’s files', { runs }),
    sentence(
      'Set VITRINE_POSTGRES_UID to a number that nothing else uses, or run Vitrine as an ordinary user, and restart it.',
    ),
  );
}

const databaseUser: Examination = {
  code: 'database_user',
  title: sentence('User of the database'),
  async look({ config }) {
    const cluster = await stat(join(config.dataDir, 'postgres')).catch(() => null);
    if (config.databaseUrl !== null || cluster === null)
      return passed(sentence('PostgreSQL is an external server'));
    const { uid } = cluster;
    // The doctor may run as root beside the service of another user, who owns the secret.
    const owner = await stat(join(config.dataDir, 'postgres.secret')).catch(() => null);
    if (uid === process.getuid?.() || uid === owner?.uid)
      return passed(sentence('PostgreSQL runs as the user of Vitrine'));
    return judgeDatabaseUser(uid, isAccount(uid), await otherProcessesOf(uid));
  },
};

/** Whether the role that Vitrine connects as is a superuser of PostgreSQL (RUN-43). */
const databaseRole: Examination = {
  code: 'database_role',
  title: sentence('Role in the database'),
  async look({ db, config }) {
    const { rows } = await sql<{ name: string; superuser: boolean }>`
      select rolname as name, rolsuper as superuser from pg_roles where rolname = current_user`.execute(db);
    const name = rows[0]?.name ?? '';
    if (rows[0]?.superuser !== true) return passed(sentence('{role} is no superuser', { role: name }));
    return warning(
      sentence('{role} is a superuser: anyone who finds a way to send statements controls the whole server', {
        role: name,
      }),
      config.databaseUrl === null
        ? sentence('Restart Vitrine; if the warning stays, the lines of the start say why.')
        : sentence(
            'Let an ordinary role own the database, and put it into DATABASE_URL; see “Your own PostgreSQL” in docs/operations.md.',
          ),
    );
  },
};

export const databaseExaminations = [
  databaseVersion,
  migrations,
  durability,
  connections,
  addresses,
  replica,
  databaseUser,
  databaseRole,
  clock,
];
