import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EmbeddedConnection } from '@vitrine/server/embedded';
import pg from 'pg';
import { cacheDir, type Spawned } from '../library.ts';
import { adaptTables, declareModel } from './directus-database.ts';

export const DIRECTUS = '12.4.0';
/** Directus's images run Node 22, for which its native packages compile. */
export const DIRECTUS_NODE = '22.23.3';
const NAME = 'directus';
/** The token of the account that reads as a member. */
export const TOKEN = 'a-token-of-the-reader';

async function run(command: string, args: string[], cwd: string, env: Record<string, string>): Promise<void> {
  const child = spawn(command, args, {
    cwd,
    // npm needs the environment's certificates and proxies.
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
}

interface Installed {
  node: string;
  cli: string;
}

/** Installs a package from npm into a directory of its own. */
async function install(name: string, directory: string, env: Record<string, string>): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{"private": true}');
  await run('npm', ['install', name, '--no-audit', '--no-fund', '--loglevel=error'], directory, env);
}

/** Installs Directus and its Node from npm, once. Takes about five minutes, and needs a C++ compiler. */
export async function installDirectus(): Promise<Installed> {
  const home = join(cacheDir, `directus-${DIRECTUS}`);
  const complete = join(home, 'complete');
  const nodePackage = join(home, 'node/node_modules/node');
  const node = join(nodePackage, 'bin/node');
  const installed = { node, cli: join(home, 'directus/node_modules/directus/cli.js') };
  const isComplete = await access(complete).then(
    () => true,
    () => false,
  );
  if (isComplete) return installed;
  console.log(`installing Directus ${DIRECTUS}`);
  await install(`node@${DIRECTUS_NODE}`, join(home, 'node'), {});
  await install(`directus@${DIRECTUS}`, join(home, 'directus'), {
    PATH: `${dirname(node)}:${process.env.PATH ?? ''}`,
    // The headers for packages that have no binaries at npm.
    npm_config_nodedir: join(nodePackage, `node_modules/node-${process.platform}-${process.arch}`),
  });
  await writeFile(complete, '');
  return installed;
}

function environment({ host, port, user, password }: EmbeddedConnection, directory: string) {
  return {
    DB_CLIENT: 'pg',
    DB_HOST: host,
    DB_PORT: String(port),
    DB_DATABASE: NAME,
    DB_USER: user,
    DB_PASSWORD: password,
    SECRET: 'a secret of the bench, which serves only this machine',
    ADMIN_EMAIL: 'admin@example.com',
    ADMIN_PASSWORD: 'a password for the bench',
    HOST: '127.0.0.1',
    PORT: '18055',
    STORAGE_LOCATIONS: 'local',
    STORAGE_LOCAL_ROOT: join(directory, 'directus-files'),
    EXTENSIONS_PATH: join(directory, 'directus-extensions'),
    LOG_LEVEL: 'warn',
    TELEMETRY: 'false',
  };
}

/** Copies the library's database for Directus in the same cluster. No one may be connected to it. */
export async function copyForDirectus(connection: EmbeddedConnection): Promise<void> {
  const admin = new pg.Client({ ...connection, database: 'postgres' });
  await admin.connect();
  await admin.query(`create database ${NAME} template ${connection.database} strategy file_copy`);
  await admin.end();
  const client = new pg.Client({ ...connection, database: NAME });
  await client.connect();
  await adaptTables(client);
  await client.end();
}

/** Starts Directus on its copy, with an account that has the rights of the reader. */
export async function startDirectus(connection: EmbeddedConnection, directory: string): Promise<Spawned> {
  const { node, cli } = await installDirectus();
  const env = environment(connection, directory);
  await mkdir(env.STORAGE_LOCAL_ROOT, { recursive: true });
  await mkdir(env.EXTENSIONS_PATH, { recursive: true });
  await run(node, [cli, 'bootstrap'], directory, { ...env, LOG_LEVEL: 'error' });
  const client = new pg.Client({ ...connection, database: NAME });
  await client.connect();
  await declareModel(client, TOKEN);
  await client.end();
  const child = spawn(node, [cli, 'start'], {
    cwd: directory,
    env: { ...process.env, ...env, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /Server started at (\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error('Directus ended')));
  });
  return {
    address,
    child,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
