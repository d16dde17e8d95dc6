import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basePath } from '@vitrine/contract/operations';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visit } from '../support/client.ts';
import { type Clone, cloneTemplate } from '../support/clone.ts';
import { password } from '../support/library.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';

describe('the log', () => {
  let directory: string;
  let database: Clone;
  let service: ServiceProcess;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'vitrine-log-'));
    await chmod(directory, 0o755);
    database = await cloneTemplate();
    service = await startProcess(directory, {
      DATABASE_URL: database.url,
      VITRINE_LOG_LEVEL: 'trace',
      VITRINE_ADMIN_USERNAME: 'root',
      VITRINE_ADMIN_PASSWORD: password,
      VITRINE_SCRAMBLE_KEY: 'secret-scramble-key',
    });
  });

  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  // RUN-10
  test('records each request with its id and without secrets', async () => {
    const visitor = visit(service.address);
    await visitor.ok('login', { body: { username: 'root', password } });
    const token = String(visitor.cookie());
    const body = { username: 'root', password: 'secret-wrong-word', totp_code: 'secret-totp-code' };
    await visitor.send('/auth/login', { method: 'POST', body });
    await visitor.send('/auth/login', { method: 'POST', body: '{"password":"secret-malformed' });
    await visitor.send('/auth/login', { method: 'POST', body: { ...body, 'secret-unknown': 1 } });
    const asked = await visitor.send('/posts?tag=secret-tag&token=secret-query');
    await visitor.send('/auth/me', { headers: { authorization: 'Bearer secret-bearer' } });
    await visitor.send('/nothing?key=secret-missing');
    await visitor.send('/posts?cursor=secret-cursor');
    await visitor.send('/posts/%E0%A4%A?key=secret-badly-encoded');
    await visitor.send('/posts?tag=x', { method: 'DELETE', headers: { 'x-api-key': 'secret-header' } });
    await visitor.ok('logout');

    const lines = service.output().split('\n');
    const entries = lines.filter((line) => line.startsWith('{')).map((line): object => JSON.parse(line));
    expect(entries).toContainEqual(
      expect.objectContaining({
        reqId: asked.headers.get('x-request-id'),
        req: expect.objectContaining({ method: 'GET', path: `${basePath}/posts` }),
      }),
    );
    const secrets = [token, password, encodeURIComponent(password)];
    expect(secrets.filter((secret) => service.output().includes(secret))).toEqual([]);
    expect(lines.filter((line) => line.includes('secret-'))).toEqual([]);
    // Only what was said at every level proves that it was left out on purpose.
    expect(entries.length).toBeGreaterThan(15);
  });
});
