import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDir, type Spawned, serverBin, spawnServer, startArgs } from './library.ts';

export interface Person {
  username: string;
  password: string;
}

export const admin: Person = { username: 'admin', password: 'a password for the bench' };

/** A new library with its administrator, and the service running on it. */
export interface EmptyLibrary {
  directory: string;
  service: Spawned;
  close(): Promise<void>;
}

/** Starts the service of this or another checkout on a new library, without rate limits. */
export async function openEmptyLibrary(
  bin: string = serverBin,
  env: Record<string, string> = {},
): Promise<EmptyLibrary> {
  await mkdir(cacheDir, { recursive: true });
  const directory = await mkdtemp(join(cacheDir, 'library-'));
  // As root, PostgreSQL runs as another user, which must be able to reach its directory.
  await chmod(directory, 0o755);
  const service = await spawnServer(startArgs(bin), {
    VITRINE_DATA: directory,
    VITRINE_PORT: '0',
    VITRINE_LOG_LEVEL: 'warn',
    VITRINE_RATE_LIMITS: 'off',
    VITRINE_ADMIN_USERNAME: admin.username,
    VITRINE_ADMIN_PASSWORD: admin.password,
    ...env,
  });
  return {
    directory,
    service,
    async close() {
      await service.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Calls an operation by its path; throws unless it succeeds. */
export async function call(base: string, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${base}/api/v1${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** Calls an operation as the account with this cookie and returns its JSON. With a body, the method is POST. */
export async function callJson(base: string, cookie: string, path: string, body?: unknown) {
  const headers = { cookie, 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  return JSON.parse(await (await call(base, path, init)).text());
}

/** Signs in and returns the cookie. */
export async function signIn(base: string, who: Person): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await call(base, '/auth/login', { method: 'POST', headers, body: JSON.stringify(who) });
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

/** Uploads a file as the account with this cookie. Returns the id of its asset. */
export async function uploadFile(
  base: string,
  cookie: string,
  file: Blob,
  name: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  const body = new FormData();
  for (const [key, value] of Object.entries(fields)) body.append(key, value);
  body.append('file', file, name);
  const uploaded = await call(base, '/assets', { method: 'POST', headers: { cookie }, body });
  const { id }: { id: string } = JSON.parse(await uploaded.text());
  return id;
}

/** Creates an account as the administrator with this cookie. */
export async function createAccount(base: string, cookie: string, who: Person): Promise<void> {
  await call(base, '/admin/users', {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ ...who, role: 'member' }),
  });
}
