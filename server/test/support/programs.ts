import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';

/** Returns where Debian installs `program`, or null; a user's PATH often lacks /usr/sbin. */
export function findProgram(
  program: 'caddy' | 'haproxy' | 'helm' | 'nginx' | 'pgbouncer' | 'systemd-analyze',
): string | null {
  const places = [...(process.env.PATH ?? '').split(':'), '/usr/sbin'];
  const found = places.map((place) => `${place}/${program}`).find((path) => existsSync(path));
  return found !== undefined && spawnSync(found, ['-v']).error === undefined ? found : null;
}

/** Returns a free port, for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
