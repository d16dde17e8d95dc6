import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { reachableByDatabaseUser } from '../../src/platform/database/database-user.ts';
import { type EmbeddedConnection, startEmbedded } from '../../src/platform/database/embedded.ts';
import { BOOTSTRAP_ROLE } from '../../src/platform/database/embedded-role.ts';

const run = promisify(execFile);

/** A PostgreSQL server with a streaming replica, both embedded ones from npm. */
export interface ReplicatedServer {
  primary: EmbeddedConnection;
  replica: EmbeddedConnection;
  onPrimary(statement: string): Promise<void>;
  /** Runs a statement as superuser. */
  administerPrimary(statement: string): Promise<void>;
  /** Runs a statement on the replica as superuser, such as one that pauses replay. */
  administerReplica(statement: string): Promise<void>;
  stopReplica(): Promise<void>;
  startReplica(): Promise<void>;
  stop(): Promise<void>;
}

const quick = { fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB' };

/** Creates a directory for a database, which its user can reach. */
export async function makeDirectory(): Promise<string> {
  const base = reachableByDatabaseUser(tmpdir()) ? tmpdir() : '/var/tmp';
  const directory = await mkdtemp(join(base, 'vt-db-'));
  await chmod(directory, 0o755);
  return directory;
}

/**
 * Copies the running primary's cluster with a low-level backup, because the npm package has no pg_basebackup. Changes
 * during the copy are streamed.
 */
async function copyCluster(connection: EmbeddedConnection, from: string, to: string): Promise<void> {
  const client = new pg.Client(administering(connection));
  await client.connect();
  try {
    await client.query(`select pg_backup_start('replica', true)`);
    await run('cp', ['-a', join(from, 'postgres'), join(from, 'postgres.secret'), to]);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    const cluster = join(to, 'postgres');
    const owner = await stat(cluster);
    const files = { backup_label: rows[0]?.labelfile ?? '', 'standby.signal': '' };
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(cluster, name), text, { mode: 0o600 });
      await chown(join(cluster, name), owner.uid, owner.gid);
    }
    await rm(join(cluster, 'postmaster.pid'), { force: true });
  } finally {
    await client.end();
  }
}

/** Both servers let the superuser in without a password. */
const administering = (server: EmbeddedConnection) => ({ ...server, user: BOOTSTRAP_ROLE });

async function runOn(server: EmbeddedConnection, statement: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Starts a primary, runs `prepare` on it, and starts its streaming replica. `settings` apply to both. */
export async function startReplicated(
  prepare: (primary: EmbeddedConnection) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<ReplicatedServer> {
  const [primaryDir, replicaDir] = [await makeDirectory(), await makeDirectory()];
  const access = join(primaryDir, 'access.conf');
  const rules = [`all ${BOOTSTRAP_ROLE} trust`, 'all all scram-sha-256', 'replication all trust'];
  await writeFile(access, rules.map((rule) => `local ${rule}\n`).join(''), { mode: 0o644 });
  const log = () => {};
  const primary = await startEmbedded({
    dataDir: primaryDir,
    settings: {
      ...quick,
      ...settings,
      wal_level: 'replica',
      max_wal_senders: '4',
      wal_keep_size: '512MB',
      hba_file: access,
    },
    log,
  });
  await prepare(primary.connection);
  await mkdir(replicaDir, { recursive: true });
  await copyCluster(primary.connection, primaryDir, replicaDir);
  const { host, port } = primary.connection;
  const start = () =>
    startEmbedded({
      dataDir: replicaDir,
      settings: {
        ...quick,
        ...settings,
        hot_standby: 'on',
        primary_conninfo: `host=${host} port=${port} user=${BOOTSTRAP_ROLE}`,
        hba_file: access,
        wal_retrieve_retry_interval: '100ms',
      },
      log,
    });
  let replica = await start();
  const { connection } = replica;
  return {
    primary: primary.connection,
    replica: connection,
    onPrimary: (statement) => runOn(primary.connection, statement),
    administerPrimary: (statement) => runOn(administering(primary.connection), statement),
    administerReplica: (statement) => runOn(administering(connection), statement),
    stopReplica: () => replica.stop(),
    async startReplica() {
      replica = await start();
    },
    async stop() {
      await replica.stop();
      await primary.stop();
      await rm(replicaDir, { recursive: true, force: true });
      await rm(primaryDir, { recursive: true, force: true });
    },
  };
}
