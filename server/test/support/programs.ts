import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
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

/**
 * Returns a free port, for programs that cannot choose one themselves. It lies below the ports that systems assign to
 * connections, so that no other test takes it before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(16_384, 32_768);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
