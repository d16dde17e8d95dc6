import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reachableByDatabaseUser } from '../../src/platform/database/database-user.ts';
import { visit } from '../support/client.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

const admin = { VITRINE_ADMIN_USERNAME: 'root', VITRINE_ADMIN_PASSWORD: 'a long password' };
const MB = 1024 * 1024;

let dataDir: string;
let service: ServiceProcess;

beforeAll(async () => {
  const parent = reachableByDatabaseUser(tmpdir()) ? tmpdir() : '/var/tmp';
  dataDir = await mkdtemp(join(parent, 'vitrine-killed-'));
  await chmod(dataDir, 0o755);
  service = await startProcess(dataDir, admin);
}, 120_000);

afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.exited;
  await rm(dataDir, { recursive: true, force: true });
});

// UPLOAD-3
test('an upload resumes after its server is killed, with the hash of the whole file', async () => {
  const bytes = Buffer.alloc(40 * MB, 'every byte of this file counts. ');
  bytes.writeUInt32BE(7, 17 * MB);
  const visitor = visit(service.address);
  const login = { body: { username: 'root', password: admin.VITRINE_ADMIN_PASSWORD } };
  await visitor.ok('login', login);
  const tus = (method: string, path: string, headers: Record<string, string>, body?: BodyInit) =>
    fetch(new URL(path, service.address), {
      method,
      headers: { 'tus-resumable': '1.0.0', cookie: `user=${visitor.cookie()}`, ...headers },
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    } as RequestInit);
  const part = (offset: number) => ({
    'upload-offset': String(offset),
    'content-type': 'application/offset+octet-stream',
  });
  const created = await tus('POST', '/api/v1/uploads', { 'upload-length': String(bytes.length) });
  const path = created.headers.get('location') ?? '';

  // Sends everything but the end.
  const stalled = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.subarray(0, 39 * MB)),
  });
  const broken = tus('PATCH', path, part(0), stalled).catch(() => null);
  const uploads = join(dataDir, 'library', 'uploads');
  const onDisk = async () => {
    const [name] = await readdir(uploads);
    return name === undefined ? 0 : (await stat(join(uploads, name))).size;
  };
  await expect.poll(onDisk, { timeout: 60_000 }).toBe(39 * MB);
  service.child.kill('SIGKILL');
  await service.exited;
  await broken;

  service = await startProcess(dataDir);
  const again = visit(service.address, {}, visitor.cookie());
  const head = await tus('HEAD', path, {});
  const offset = Number(head.headers.get('upload-offset'));
  expect(offset).toBeGreaterThanOrEqual(16 * MB);
  expect(offset).toBeLessThanOrEqual(39 * MB);
  expect((await tus('PATCH', path, part(offset), bytes.subarray(offset))).status).toBe(204);
  const asset = await again.ok('createAsset', { body: { upload_id: path.split('/').at(-1) ?? '' } });
  expect(asset).toMatchObject({
    file_size_bytes: bytes.length,
    file_hash: createHash('sha256').update(bytes).digest('hex'),
  });
}, 180_000);
