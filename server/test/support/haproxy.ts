import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort } from './programs.ts';

/** The path of the installed HAProxy, or null. */
export const haproxy = findProgram('haproxy');

export interface HaProxy {
  address: string;
  /** Resolves when HAProxy considers this server (0, 1, ...) up. */
  untilUp(server: number): Promise<void>;
  stop(): Promise<void>;
}

/** The backend of deploy/proxy/haproxy.cfg, with these servers and faster checks. */
async function deployedBackend(servers: readonly string[]): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '../../../deploy/proxy/haproxy.cfg'), 'utf8');
  const backend = text.slice(text.indexOf('\nbackend vitrine\n'));
  const lines = backend.split('\n').filter((line) => !/^ +server /.test(line));
  return [...lines, ...servers].join('\n').replace('inter 1s', 'inter 200ms');
}

/** Starts HAProxy in front of these ports with the configuration of deploy/ and faster checks. */
export async function startHaProxy(ports: readonly number[]): Promise<HaProxy> {
  if (haproxy === null) throw new Error('HAProxy is not installed');
  const [port, statsPort] = [await freePort(), await freePort()];
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-haproxy-'));
  await chmod(directory, 0o755);
  const file = join(directory, 'haproxy.cfg');
  const servers = ports.map((at, n) => `  server vitrine${n} 127.0.0.1:${at} check`);
  await writeFile(
    file,
    `defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 75s
frontend library
  bind 127.0.0.1:${port}
  default_backend vitrine
${await deployedBackend(servers)}
frontend stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
`,
  );
  const child = spawn(haproxy, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const errors: string[] = [];
  child.stderr.on('data', (text: Buffer) => errors.push(text.toString()));
  const exited = once(child, 'exit');

  async function stateOf(server: number): Promise<string | undefined> {
    const table = await fetch(`http://127.0.0.1:${statsPort}/;csv`).then(
      (answer) => answer.text(),
      () => '',
    );
    if ((child.exitCode ?? child.signalCode) !== null) throw new Error(`HAProxy ended: ${errors.join('')}`);
    const [head = '', ...rows] = table.split('\n').map((line) => line.split(','));
    const status = [...head].indexOf('status');
    return rows.find((row) => row[1] === `vitrine${server}`)?.[status];
  }

  return {
    address: `http://127.0.0.1:${port}`,
    async untilUp(server) {
      while ((await stateOf(server)) !== 'UP') await new Promise((resolve) => setTimeout(resolve, 50));
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
