import { type RequestOptions, request } from 'node:http';
import { Writable } from 'node:stream';
import { getMe } from '@vitrine/contract/identity';
import { basePath } from '@vitrine/contract/operations';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { errorHandlerOf } from '../../src/entry/undeclared-codes.ts';
import { safeLogForm } from '../../src/platform/http/log-entries.ts';
import { refuse } from '../../src/platform/http/refuse.ts';
import { visit } from '../support/client.ts';
import { cloneTemplate } from '../support/clone.ts';
import { startCollector } from '../support/collector.ts';
import { rootPassword, rootSettings, signInAt } from '../support/first-admin.ts';
import { upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { startProcess } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const database = await cloneTemplate();
const collector = await startCollector();
const service = await startProcess(await temporaryDirectory(), {
  ...rootSettings,
  DATABASE_URL: database.url,
  VITRINE_LOG_LEVEL: 'trace',
  VITRINE_SCRAMBLE_KEY: 'secret-scramble-key',
  VITRINE_SECRET_KEY: 'secret-key-that-seals-other-secrets',
  VITRINE_TRUSTED_PROXIES: '127.0.0.2',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20the%20collector',
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.exited;
  await collector.close();
  await database.drop();
});

const entriesOf = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Record<string, unknown> => JSON.parse(line));

/** Sends a request, with its body once the service asks for it, and returns the id of the request. */
const requestIdOf = (options: RequestOptions, body = '') =>
  new Promise<string>((resolve, reject) => {
    const { hostname: host, port } = new URL(service.address);
    const sent = request({ host, port, ...options }, (response) => {
      response.resume();
      response.on('end', () => resolve(String(response.headers['x-request-id'])));
    });
    sent.on('error', reject);
    if (body === '') sent.end();
    else sent.on('continue', () => sent.end(body)).flushHeaders();
  });

// RUN-10, RUN-24
test('the log records each request with its id and without secrets', async () => {
  const visitor = await signInAt(service.address);
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
  const entries = entriesOf(service.output());
  expect(entries).toContainEqual(
    expect.objectContaining({
      reqId: asked.headers.get('x-request-id'),
      req: expect.objectContaining({ method: 'GET', path: `${basePath}/posts` }),
    }),
  );
  // The spans of the last request are the last to arrive.
  await collector.find(({ name }) => name === 'logout');
  const spans = collector.spans.map((span) => JSON.stringify(span));
  const secrets = [token, rootPassword, encodeURIComponent(rootPassword)];
  const said = [service.output(), ...spans];
  expect(secrets.filter((secret) => said.some((text) => text.includes(secret)))).toEqual([]);
  expect([...lines, ...spans].filter((line) => line.includes('secret-'))).toEqual([]);
  // Checks all levels, because a missing line proves nothing if its level is not logged.
  expect(entries.length).toBeGreaterThan(15);
});

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** What writes a credential to the log, each with the credential. */
const written: readonly (readonly [what: string, entry: object | string, message?: string])[] = [
  ['a message', 'cannot connect to postgres://vitrine:secret-pa/ss@db.example:5432/vitrine'],
  ['an address of a mail server', { to: 'smtps://post:secret%40word@mail.example' }, 'sent'],
  ['an error', { err: new Error('GET https://user:secret-x@s3.example/bucket failed') }, 'failed'],
  ['an error alone', new Error('Authorization: Bearer secret-bearer-token')],
  ['a cause', { err: new Error('outer', { cause: new Error('password=secret-of-cause host=db') }) }],
  ['several errors', { err: new AggregateError([new Error('Cookie: user=secret-cookie; b=secret-b')]) }],
  ['nested headers', { request: { options: { headers: { authorization: 'Basic secret' } } } }, 'sent'],
  ['a nested password', { a: [{ b: { c: { password: 'secret-nested', user: 'x' } } }] }, 'x'],
  [
    'a nested text',
    { a: { b: ['token: secret-in-a-list', { c: 'curl -H "Authorization: Bearer secret-c1"' }] } },
  ],
  [
    'JSON in a text',
    { sent: '{"user":"a","password":"secret words \\" more","x":{"api_key":"secret-api"}}' },
  ],
  ['a query', { path: '/a?token=secret-query&X-Amz-Signature=secret-amz&b=1' }],
  ['a bucket', 'AWS4-HMAC-SHA256 Credential=AKIA/secret-scope/s3, SignedHeaders=host, Signature=secret-sig'],
  ['a key of a bucket', { s3: { accessKeyId: 'id', secretAccessKey: 'secret-s3-key' } }, 'moving'],
  ['a private key', '-----BEGIN PRIVATE KEY-----\nsecret-pem\n-----END PRIVATE KEY-----'],
  ['a mail dialogue', 'sent AUTH PLAIN c2VjcmV0LXNtdHA='],
  ['a token of ours', 'the token vt_pat_secret0123456789abcdefghijklmnop is unknown'],
  [
    'a share link',
    'GET /s/secretsecretsecretsecretsecret12 and /links/secretsecretsecretsecretsecret12/unlock',
  ],
  [
    'a secret of the settings',
    { deep: { er: 'it says plain words of the settings' } },
    'plain words of the settings',
  ],
  ['the same in an error', { err: new Error('quoted: say "plain"') }],
];

// RUN-10
test.each(levels)('properties, messages and stacks at level %s have no credential', (level) => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const form = safeLogForm(['plain words of the settings', 'say "plain"']);
  const log = pino({ level: 'trace', ...form }, stream);
  const child = log.child({ connection: 'redis://:secret-binding@cache.example', part: 'child' });
  for (const [what, entry, message] of written) {
    lines.length = 0;
    for (const logger of [log, child]) {
      if (typeof entry === 'string') logger[level](entry);
      else logger[level](entry, message);
    }
    const found = lines.filter((line) => /secret|c2Vj|plain words|say \\"plain/.test(line));
    expect([what, ...found]).toEqual([what]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ pid: process.pid }, { part: 'child' }]);
  }
  // What helps the operator remains.
  lines.length = 0;
  log[level]({
    err: new Error('connect ECONNREFUSED postgres://vitrine:x@db.example:5432/vitrine'),
    key: 'originals/ab',
    n: 1,
  });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'connect ECONNREFUSED postgres://***@db.example:5432/vitrine',
    err: { type: 'Error', stack: expect.stringContaining('log.test.ts') },
    key: 'originals/ab',
    n: 1,
  });
});

// RUN-10: the other levels print some of the lines of `trace`, in the same form.
test('no credential of any kind is in the log', async () => {
  const one = await startProcess(await temporaryDirectory(), {
    ...rootSettings,
    DATABASE_URL: database.url,
    VITRINE_LOG_LEVEL: 'trace',
    VITRINE_SCRAMBLE_KEY: 'secret-scramble-key',
    VITRINE_SECRET_KEY: 'secret-key-that-seals-other-secrets',
    VITRINE_METRICS_TOKEN: 'secret-metrics-token',
    VITRINE_BACKUP_PASSPHRASE: 'secret-passphrase-of-backups',
    VITRINE_SMTP_URL: 'smtp://user:secret-smtp@127.0.0.1:9',
    VITRINE_IDENTITY_PROVIDERS: 'ldap',
    VITRINE_LDAP_URL: 'ldap://127.0.0.1:9',
    VITRINE_LDAP_SEARCH_BASE: 'dc=example,dc=org',
    VITRINE_LDAP_BIND_DN: 'cn=reader,dc=example,dc=org',
    VITRINE_LDAP_BIND_PASSWORD: 'secret-ldap',
  });
  const root = await signInAt(one.address);
  const cookie = String(root.cookie());
  const { token } = await root.ok('createToken', { body: { name: 'a', scopes: ['assets.write'] } });
  const basic = Buffer.from('root:secret-basic').toString('base64');
  const uploadAs = (authorization: string) => {
    const form = new FormData();
    form.append('file', new Blob([plainFile(authorization)]), 'plain');
    const headers = { authorization, cookie: `user=${cookie}`, 'x-api-key': 'secret-key' };
    return fetch(`${one.address}${basePath}/assets`, { method: 'POST', body: form, headers });
  };
  for (const authorization of [`Bearer ${token}`, `Basic ${basic}`, 'Bearer secret-unknown'])
    await uploadAs(authorization);
  const asset = await upload(root, plainFile('shared'));
  const body = { password: 'secret-link-password', allow_download: true };
  const link = await root.ok('createAssetLink', { params: { id: asset.id }, body });
  const encoded = `%${link.token.charCodeAt(0).toString(16)}${link.token.slice(1)}`;
  for (const shown of [link.token, encoded]) {
    await root.send(`/links/${shown}`);
    await root.send(`/links/${shown}/unlock`, { method: 'POST', body: { password: 'secret-guess' } });
    await fetch(`${one.address}/s/${shown}`);
    await fetch(`${one.address}/s/${shown}/`);
  }
  const stranger = { username: 'stranger', password: 'secret-of-the-directory' };
  await root.send('/auth/login', { method: 'POST', body: stranger });
  const worn = await root.ok('createUser', {
    body: { username: 'worn', password: 'secret-of-an-account' },
  });
  const mask = visit(one.address, {}, cookie);
  await mask.ok('impersonate', { params: { ref: worn.ref }, body: undefined });
  const masked = String(mask.cookie());
  expect(masked).not.toBe(cookie);
  await mask.ok('getMe');
  await root.send('/admin/mail/test', { method: 'POST', body: { to: 'a@example.org' } });
  for (const path of ['/federation/inbox', '/ap/inbox', '/nothing'])
    await fetch(one.address + path, {
      method: 'POST',
      body: '{"secret": "secret-body"}',
      headers: {
        'content-type': 'application/json',
        signature: 'secret-signature',
        'signature-input': 'sig1=("@method");keyid="secret-key-id"',
        authorization: 'Signature secret-x',
      },
    });
  await fetch(`${one.address}/metrics`, { headers: { authorization: 'Bearer secret-metrics-token' } });
  one.child.kill('SIGTERM');
  await one.exited;
  const said = one.output();
  const secrets = [cookie, masked, token, basic, rootPassword, link.token, link.token.slice(1), 'secret-'];
  expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
});

// HTTP-44
test('an error code that its operation does not declare is logged once', async () => {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const server = fastify({ loggerInstance: pino({ level: 'warn' }, stream) });
  const errorHandler = errorHandlerOf(getMe);
  for (const code of ['poster-without-video', 'sign-in-required', 'upload-gone'] as const) {
    server.get(`/${code}`, { errorHandler }, async () => {
      throw refuse(code);
    });
  }
  for (let time = 0; time < 2; time += 1) {
    for (const code of ['poster-without-video', 'sign-in-required', 'upload-gone'])
      expect((await server.inject(`/${code}`)).headers['vitrine-error']).toMatch(code);
  }
  expect(lines).toMatchObject([
    { level: 40, operation: 'getMe', code: 'poster-without-video' },
    { level: 40, operation: 'getMe', code: 'upload-gone' },
  ]);
  await server.close();
});

// RUN-10
test('a start that cannot reach its database does not log the password', async () => {
  const address = new URL(database.url);
  address.username = 'stranger';
  address.password = 'secret-of-the-database';
  for (const port of [address.port, '9']) {
    address.port = port;
    const settings = { DATABASE_URL: address.href, VITRINE_LOG_LEVEL: 'trace' };
    const failed = await startProcess(await temporaryDirectory(), settings).catch(String);
    expect(failed).toMatch(/ended with 1/);
    expect(failed).not.toContain('secret-');
  }
});

// RUN-10
test('an upload to a bucket out of reach does not log the secret key', async () => {
  const one = await startProcess(await temporaryDirectory(), {
    ...rootSettings,
    DATABASE_URL: database.url,
    VITRINE_LOG_LEVEL: 'trace',
    VITRINE_SCRAMBLE_KEY: 'secret-scramble-key',
    VITRINE_SECRET_KEY: 'secret-key-that-seals-other-secrets',
    VITRINE_S3_ENDPOINT: 'http://127.0.0.1:9',
    VITRINE_S3_BUCKET: 'library',
    VITRINE_S3_ACCESS_KEY_ID: 'key',
    VITRINE_S3_SECRET_ACCESS_KEY: 'secret-s3',
  });
  const root = await signInAt(one.address);
  await expect(upload(root, plainFile('to a bucket'))).rejects.toThrow('storage is not available');
  one.child.kill('SIGTERM');
  await one.exited;
  expect(one.output()).toContain('ECONNREFUSED');
  expect(one.output()).not.toContain('secret-');
});

// RUN-24
test('the traces lead from a request to its statements and to the job that it enqueues', async () => {
  const visitor = await signInAt(service.address);
  // The service reads the head before it receives the body.
  const signIn = await requestIdOf(
    {
      method: 'POST',
      path: `${basePath}/auth/login`,
      headers: { 'content-type': 'application/json', expect: '100-continue' },
    },
    JSON.stringify({ username: 'root', password: rootPassword }),
  );
  const { id } = await upload(visitor, plainFile('traced'));
  const shown = await visitor.send(`/assets/${id}`);

  const span = await collector.find(
    ({ attributes }) => attributes['vitrine.request_id'] === shown.headers.get('x-request-id'),
  );
  expect(span).toMatchObject({
    name: 'getAsset',
    attributes: {
      'http.request.method': 'GET',
      'http.route': `${basePath}/assets/:id`,
      'http.response.status_code': 200,
      'vitrine.caller': 'user',
    },
  });
  expect(JSON.stringify(span)).not.toContain(id);
  const statement = await collector.find(({ parentSpanId }) => parentSpanId === span.spanId);
  expect(statement).toMatchObject({
    traceId: span.traceId,
    attributes: { 'db.system.name': 'postgresql' },
  });
  expect(statement.attributes['db.query.text']).toMatch(/\$1/);

  // Also after its body was read.
  const signedIn = await collector.find(({ attributes }) => attributes['vitrine.request_id'] === signIn);
  await collector.find(
    ({ parentSpanId, attributes }) =>
      parentSpanId === signedIn.spanId && /insert into "?sessions/.test(String(attributes['db.query.text'])),
  );

  const created = await collector.find(({ name }) => name === 'createAsset');
  const job = await collector.find(
    ({ name, links }) => name.startsWith('job ') && links?.[0]?.traceId === created.traceId,
  );
  expect(job.links?.[0]?.spanId).toBe(created.spanId);
  expect(job.traceId).not.toBe(created.traceId);
  await collector.find(({ parentSpanId }) => parentSpanId === job.spanId);
  expect(collector.headers()['x-key']).toBe('of the collector');

  const ids = { trace_id: span.traceId, span_id: span.spanId, reqId: shown.headers.get('x-request-id') };
  const lines = entriesOf(service.output()).filter((entry) => entry.reqId === ids.reqId);
  expect(lines).toEqual([expect.objectContaining(ids), expect.objectContaining(ids)]);
});

// RUN-25
test('the service takes part in the trace of a trusted proxy alone', async () => {
  const given = 'a'.repeat(32);
  const spanOf = async (localAddress: string, traceparent: string) => {
    const requestId = await requestIdOf({
      localAddress,
      headers: { traceparent },
      path: `${basePath}/appearance`,
    });
    return collector.find(({ attributes }) => attributes['vitrine.request_id'] === requestId);
  };
  const [trusted, foreign, malformed] = await Promise.all([
    spanOf('127.0.0.2', `00-${given}-${'b'.repeat(16)}-01`),
    spanOf('127.0.0.1', `00-${given}-${'b'.repeat(16)}-01`),
    spanOf('127.0.0.2', 'nonsense'),
  ]);
  expect(trusted).toMatchObject({ traceId: given, parentSpanId: 'b'.repeat(16) });
  expect(foreign.traceId).not.toBe(given);
  expect(malformed.traceId).toMatch(/^[0-9a-f]{32}$/);
});

// RUN-26
test('/readyz and the doctor report the telemetry', async () => {
  const ready = await fetch(`${service.address}/readyz`);
  expect(await ready.json()).toMatchObject({ telemetry: { metrics: 'off', traces: 'on' } });
  const visitor = await signInAt(service.address);
  const { checks } = await visitor.ok('getDoctor');
  const { host } = new URL(collector.address);
  expect(checks.find(({ code }) => code === 'traces')).toMatchObject({
    status: 'ok',
    detail: `traces go to ${host}`,
  });
});
