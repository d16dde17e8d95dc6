import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type pg from 'pg';
import { findProgram, freePort } from './programs.ts';

/** The path of the installed PgBouncer, or null. */
export const pgbouncer = findProgram('pgbouncer');

export interface PgBouncer {
  settings: pg.ClientConfig;
  /** The same in the form of `DATABASE_URL`. */
  url: string;
  stop(): Promise<void>;
}

const quote = (text: unknown) => `'${String(text).replaceAll("'", "''")}'`;

/** PgBouncer refuses to run as root. Any user who can enter the socket's directory can connect. */
async function userToRunAs(host: string): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const owner = host.startsWith('/') ? await stat(host) : { uid: 0, gid: 0 };
  return owner.uid === 0 ? { uid: 65_534, gid: 65_534 } : { uid: owner.uid, gid: owner.gid };
}

/** Starts PgBouncer with transaction pooling and these settings in front of one database. */
export async function startPgBouncer(
  database: pg.ClientConfig,
  own: Record<string, string> = {},
): Promise<PgBouncer> {
  if (pgbouncer === null) throw new Error('PgBouncer is not installed');
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-pgbouncer-'));
  await chmod(directory, 0o755);
  const { host = 'localhost', port: at = 5432, user, password, database: name = '' } = database;
  const secret = typeof password === 'string' ? ` password=${quote(password)}` : '';
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    ...own,
  };
  const file = join(directory, 'pgbouncer.ini');
  await writeFile(
    file,
    [
      '[databases]',
      `${name} = host=${quote(host)} port=${at} user=${quote(user)}${secret}`,
      '[pgbouncer]',
      ...Object.entries(settings).map(([key, value]) => `${key} = ${value}`),
      '',
    ].join('\n'),
    { mode: 0o644 },
  );
  const child = spawn(pgbouncer, [file], {
    ...(await userToRunAs(host)),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('process up')) resolve();
    });
    void exited.then(() => reject(new Error(`PgBouncer ended: ${lines.join('\n')}`)));
  });
  return {
    settings: { host: '127.0.0.1', port, user: 'anybody', database: name },
    url: `postgres://anybody@127.0.0.1:${port}/${name}`,
    async stop() {
      child.kill('SIGINT');
      child.kill('SIGTERM');
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
