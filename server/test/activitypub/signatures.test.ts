import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSetting } from '../../src/core/settings.ts';
import { openLibrary } from '../support/library.ts';
import { startPerson, TYPE } from './remote.ts';

const library = await openLibrary({ VITRINE_FEDERATION_PRIVATE_ADDRESSES: 'on' });
await writeSetting(library.database.db, 'base_url', library.address);
await library.setPublicMode(true);
const root = await library.join('root', 'admin');
const ada = await library.join('ada');
const bob = await startPerson('bob');
afterAll(() => bob.close());

let actor = '';
beforeAll(async () => {
  await root.ok('updateActivityPub', { body: { enabled: true } });
  await ada.ok('updateFollowableAccount', { body: { followable: true } });
  const handle = `acct:ada@${new URL(library.address).host}`;
  const found = await fetch(`${library.address}/.well-known/webfinger?resource=${handle}`);
  const { links } = (await found.json()) as { links: { rel: string; href: string }[] };
  actor = links.find(({ rel }) => rel === 'self')?.href ?? '';
});

const sha = (name: string, text: string) => createHash(name).update(text).digest('base64');
const now = () => Math.floor(Date.now() / 1000);

/** What one test changes of a valid request. */
interface Change {
  /** What the signature covers. */
  covered?: string[];
  /** The values that are signed instead of those of the request. */
  signed?: Record<string, string>;
  /** Headers that are sent; null leaves one out. */
  headers?: Record<string, string | null>;
  /** The header with the digest of this body. */
  digestOf?: (body: string) => string;
  /** Parameters of the signature. */
  created?: string | number | null;
  expires?: string | number;
  /** Replaces the signature headers. */
  rewrite?: (headers: Record<string, string>) => Record<string, string>;
  url?: string;
}

function newBody(): string {
  const id = `${bob.uri}#${crypto.randomUUID()}`;
  const context = 'https://www.w3.org/ns/activitystreams';
  return JSON.stringify({ '@context': context, id, type: 'Follow', actor: bob.uri, object: actor });
}

async function followersAfter(url: string, headers: Record<string, string>, body: string) {
  const { status } = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': TYPE, ...headers },
    body,
  });
  const { followers_count } = await ada.ok('getFollowableAccount');
  const undo = { type: 'Undo', id: `${bob.uri}#${crypto.randomUUID()}`, actor: bob.uri };
  const object = { type: 'Follow', id: `${bob.uri}#x`, actor: bob.uri, object: actor };
  await bob.send(`${actor}/inbox`, { ...undo, object });
  return { status, followers: followers_count };
}

const sent = (headers: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null));

/** Sends a Follow that is signed by RFC 9421 with these changes. */
async function followStandard(change: Change = {}) {
  const body = newBody();
  const url = change.url ?? `${actor}/inbox`;
  const covered = change.covered ?? ['"@method"', '"@target-uri"', '"content-digest"'];
  const headers: Record<string, string | null> = {
    date: new Date().toUTCString(),
    'content-digest': change.digestOf?.(body) ?? `sha-256=:${sha('sha256', body)}:`,
    ...change.headers,
  };
  const { host, pathname, search } = new URL(url);
  const values: Record<string, string | null> = {
    ...headers,
    '@method': 'POST',
    '@target-uri': url,
    '@authority': host,
    '@path': pathname,
    '@request-target': `post ${pathname}${search}`,
    host,
    'content-type': TYPE,
    ...change.signed,
  };
  const times = [
    ...(change.created === null ? [] : [`created=${change.created ?? now()}`]),
    ...(change.expires === undefined ? [] : [`expires=${change.expires}`]),
  ];
  const parameters = [`(${covered.join(' ')})`, ...times, `keyid="${bob.uri}#main-key"`].join(';');
  const lines = covered.map(
    (name) => `${name}: ${values[/"([^"]+)"/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? ''}`,
  );
  const signature = await bob.sign([...lines, `"@signature-params": ${parameters}`].join('\n'));
  const signed = { 'signature-input': `sig1=${parameters}`, signature: `sig1=:${signature}:` };
  const rewritten = change.rewrite?.(signed) ?? signed;
  return followersAfter(url, { ...sent(headers), ...rewritten }, body);
}

/** Sends a Follow that is signed by draft-cavage with these changes. */
async function followDrafted(change: Change = {}) {
  const body = newBody();
  const url = change.url ?? `${actor}/inbox`;
  const covered = change.covered ?? ['(request-target)', 'host', 'date', 'digest'];
  const headers: Record<string, string | null> = {
    date: new Date().toUTCString(),
    digest: change.digestOf?.(body) ?? `SHA-256=${sha('sha256', body)}`,
    ...change.headers,
  };
  const { host, pathname, search } = new URL(url);
  const values: Record<string, string | null> = {
    ...headers,
    '(request-target)': `post ${pathname}${search}`,
    host,
    '(created)': String(change.created ?? ''),
    '(expires)': String(change.expires ?? ''),
    'content-type': TYPE,
    ...change.signed,
  };
  const text = covered.map((name) => `${name}: ${values[name] ?? 'null'}`).join('\n');
  const parameters = [
    `keyId="${bob.uri}#main-key"`,
    'algorithm="rsa-sha256"',
    ...(change.created == null ? [] : [`created=${change.created}`]),
    ...(change.expires === undefined ? [] : [`expires=${change.expires}`]),
    `headers="${covered.join(' ')}"`,
    `signature="${await bob.sign(text)}"`,
  ];
  const signed = { signature: parameters.join(',') };
  return followersAfter(url, { ...sent(headers), ...(change.rewrite?.(signed) ?? signed) }, body);
}

const accepted = { status: 202, followers: 1 };
const refused = { status: 401, followers: 0 };
const standard = ['"@method"', '"@target-uri"', '"content-digest"'];
const without = (name: string) => standard.filter((other) => other !== name);

describe('a signature of RFC 9421', () => {
  // AP-16
  test('is accepted if it covers the method, the address and the digest of the body', async () => {
    expect(await followStandard()).toEqual(accepted);
    const more = [...standard, '"@authority"', '"@path"', '"host"', '"date"', '"content-type"'];
    expect(await followStandard({ covered: more, expires: now() + 60 })).toEqual(accepted);
    const quiet = { url: `${library.address}/ap/inbox` };
    expect(await followStandard(quiet)).toEqual(accepted);
  });

  // AP-16
  test.each<[string, Change]>([
    ['covers the method alone', { covered: ['"@method"'] }],
    ['does not cover the method', { covered: without('"@method"') }],
    ['does not cover the address', { covered: without('"@target-uri"') }],
    [
      'covers the host and the path instead of the address',
      { covered: ['"@method"', '"@authority"', '"@path"', '"content-digest"'] },
    ],
    ['does not cover the digest', { covered: without('"content-digest"') }],
    ['covers nothing', { covered: [] }],
    ['was made for another host', { signed: { '@target-uri': 'https://other.example/ap/inbox' } }],
    ['covers another host', { covered: [...standard, '"host"'], signed: { host: 'other.example' } }],
    ['was made for another method', { signed: { '@method': 'PUT' } }],
    ['covers a digest that is missing', { headers: { 'content-digest': null } }],
    [
      'covers the digest of another body',
      { headers: { 'content-digest': `sha-256=:${sha('sha256', '{}')}:` } },
    ],
    ['covers a digest of an unknown hash only', { headers: { 'content-digest': 'md5=:aGVsbG8=:' } }],
    ['covers a digest that is not base64', { headers: { 'content-digest': 'sha-256=hello' } }],
    ['repeats a component', { covered: [...standard, '"date"', '"date"'] }],
    ['has an unknown derived component', { covered: [...standard, '"@unknown"'] }],
    ['covers a header that is absent', { covered: [...standard, '"x-absent"'] }],
    [
      'has a parameter on a required component',
      { covered: ['"@method"', '"@target-uri";req', '"content-digest"'] },
    ],
    ['has a parameter on another component', { covered: [...standard, '"date";sf'] }],
    ['has a component in upper case', { covered: ['"@method"', '"@target-uri"', '"Content-Digest"'] }],
    ['has no time of creation', { created: null }],
    ['was created long ago', { created: now() - 7200 }],
    ['will be created later', { created: now() + 7200 }],
    ['has a fractional time of creation', { created: `${now()}.5` }],
    ['has expired', { expires: now() - 1 }],
    ['expires at a time that is not a number', { expires: '"soon"' }],
  ])('is refused if it %s', async (_, change) => {
    expect(await followStandard(change)).toEqual(refused);
  });

  // AP-16
  test('is refused if one of several digests is wrong', async () => {
    const digestOf = (body: string) => `sha-256=:${sha('sha256', body)}:, sha-512=:${sha('sha512', 'x')}:`;
    expect(await followStandard({ digestOf })).toEqual(refused);
    const right = (body: string) =>
      `sha-256=:${sha('sha256', body)}:, sha-512=:${sha('sha512', body)}:, md5=:aGVsbG8=:`;
    expect(await followStandard({ digestOf: right })).toEqual(accepted);
  });

  // AP-16
  test('that covers too little is not made up for by another one that is invalid', async () => {
    const good = `(${standard.join(' ')});created=${now()};keyid="${bob.uri}#main-key"`;
    const rewrite = (headers: Record<string, string>) => ({
      'signature-input': `${headers['signature-input']}, sig2=${good}`,
      signature: `${headers.signature}, sig2=:${Buffer.alloc(256).toString('base64')}:`,
    });
    expect(await followStandard({ covered: ['"@method"'], rewrite })).toEqual(refused);
  });

  // AP-16
  test('is accepted beside another one that covers too little', async () => {
    const rewrite = (headers: Record<string, string>) => ({
      'signature-input': `thin=("@method");created=${now()};keyid="${bob.uri}#main-key", ${headers['signature-input']}`,
      signature: `thin=:aGVsbG8=:, ${headers.signature}`,
    });
    expect(await followStandard({ rewrite })).toEqual(accepted);
  });

  // AP-16
  test.each(['', '(', 'sig1', 'sig1=()', 'sig1=("@method" 5);created=1', '"x"', '\u00e4'])(
    'is refused if its input is %j',
    async (input) => {
      const rewrite = (headers: Record<string, string>) => ({ ...headers, 'signature-input': input });
      expect((await followStandard({ rewrite })).followers).toBe(0);
    },
  );
});

const drafted = ['(request-target)', 'host', 'date', 'digest'];
const draftWithout = (name: string) => drafted.filter((other) => other !== name);

describe('a signature of draft-cavage', () => {
  // AP-16
  test('is accepted if it covers the target, the host, the date and the digest', async () => {
    expect(await followDrafted()).toEqual(accepted);
    expect(await followDrafted({ covered: [...drafted, 'content-type'] })).toEqual(accepted);
    const times = { created: now(), expires: now() + 60, covered: [...drafted, '(created)', '(expires)'] };
    expect(await followDrafted(times)).toEqual(accepted);
    const rewrite = ({ signature = '' }) => ({ signature: `${signature},unknown="x"` });
    expect(await followDrafted({ rewrite })).toEqual(accepted);
    const digestOf = (body: string) => `sha-512=${sha('sha512', body)}, SHA-256=${sha('sha256', body)}`;
    expect(await followDrafted({ digestOf })).toEqual(accepted);
  });

  // AP-16
  test('is refused if the digest is made with SHA-1 only, or if one of several digests is wrong', async () => {
    const weak = (body: string) => `SHA=${sha('sha1', body)}`;
    expect(await followDrafted({ digestOf: weak })).toEqual(refused);
    const digestOf = (body: string) => `SHA-256=${sha('sha256', body)},SHA-512=${sha('sha512', 'x')}`;
    expect(await followDrafted({ digestOf })).toEqual(refused);
  });

  // AP-16
  test.each<[string, Change]>([
    ['does not cover the target', { covered: draftWithout('(request-target)') }],
    ['does not cover the host', { covered: draftWithout('host') }],
    ['does not cover the date', { covered: draftWithout('date') }],
    ['does not cover the digest', { covered: draftWithout('digest') }],
    ['was made for another host', { signed: { host: 'other.example' } }],
    ['was made for another path', { signed: { '(request-target)': 'post /ap/inbox/other' } }],
    ['was made for another method', { signed: { '(request-target)': 'put /ap/inbox' } }],
    ['covers a digest that is missing', { headers: { digest: null } }],
    [
      'does not cover a digest that is missing',
      { covered: draftWithout('digest'), headers: { digest: null } },
    ],
    ['covers the digest of another body', { headers: { digest: `SHA-256=${sha('sha256', '{}')}` } }],
    ['covers a digest of a weak hash only', { headers: { digest: 'MD5=aGVsbG8=' } }],
    ['repeats a header', { covered: [...drafted, 'date'] }],
    ['covers an unknown part', { covered: [...drafted, '(unknown)'] }],
    ['covers a header that is absent', { covered: [...drafted, 'x-absent'] }],
    ['covers a time of creation that is absent', { covered: [...drafted, '(created)'] }],
    ['has expired', { expires: now() - 1 }],
    ['was created long ago', { created: now() - 7200 }],
    ['is sent long after its date', { headers: { date: new Date(Date.now() - 7_200_000).toUTCString() } }],
  ])('is refused if it %s', async (_, change) => {
    expect(await followDrafted(change)).toEqual(refused);
  });

  // AP-16
  test('is refused if the address has a query that it does not cover', async () => {
    const path = new URL(`${actor}/inbox`).pathname;
    const change = { url: `${actor}/inbox?x=1`, signed: { '(request-target)': `post ${path}` } };
    expect(await followDrafted(change)).toEqual(refused);
  });

  // AP-16
  test.each(['keyId="https://a.example/b"', 'headers="date"', 'expires=99999999999', 'signature="aGVsbG8="'])(
    'is refused if it repeats a parameter, such as %s',
    async (parameter) => {
      const rewrite = ({ signature = '' }) => ({ signature: `expires=1,${signature},${parameter}` });
      expect(await followDrafted({ rewrite })).toEqual(refused);
    },
  );

  // AP-16
  test.each([
    '',
    'x',
    'Signature',
    'keyId=5',
    'keyId="a",headers="\u00e4 b",signature="c"',
    'headers="date"',
  ])('is refused if the header is %j', async (signature) => {
    expect((await followDrafted({ rewrite: () => ({ signature }) })).followers).toBe(0);
  });
});
