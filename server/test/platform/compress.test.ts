import { operations } from '@vitrine/contract/operations';
import { describe, expect, test } from 'vitest';
import type { Answered } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { plainFile, plainText } from '../support/pictures.ts';

const library = await openLibrary();
const root = await library.join('root', 'admin');
const asset = (await upload(root, plainText('word '.repeat(1000)), { title: 'a text' }, 'words.txt')).id;
await upload(root, plainFile(), { title: 'a file' });

const encodingOf = ({ headers }: Answered) => headers.get('content-encoding');

// HTTP-39
describe('JSON', () => {
  test.each(['zstd', 'br', 'gzip'])('is compressed with %s for clients that accept it', async (encoding) => {
    const plain = await root.send('/assets', { headers: { 'accept-encoding': 'identity' } });
    const compressed = await root.send('/assets', { headers: { 'accept-encoding': encoding } });
    expect(encodingOf(plain)).toBeNull();
    expect(encodingOf(compressed)).toBe(encoding);
    expect(compressed.text).toBe(plain.text);
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(plain.text.length / 2);
    for (const { headers } of [plain, compressed]) expect(headers.get('vary')).toBe('Accept-Encoding');
    const head = await root.send('/assets', { method: 'HEAD', headers: { 'accept-encoding': encoding } });
    for (const name of ['content-encoding', 'content-length', 'vary'])
      expect([name, head.headers.get(name)]).toEqual([name, compressed.headers.get(name)]);
  });

  test.each([
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd;q=0, br;q=0.5, gzip;q=0.8', 'gzip'],
    ['gzip;q=0', null],
    ['deflate', null],
    ['', null],
  ])('for clients that accept %j has the encoding %j', async (accepted, encoding) => {
    expect(encodingOf(await root.send('/assets', { headers: { 'accept-encoding': accepted } }))).toBe(
      encoding,
    );
  });
});

describe('a response is not compressed', () => {
  const accepted = { 'accept-encoding': 'gzip' };

  // HTTP-39
  test('if it is small', async () => {
    expect(encodingOf(await root.send('/build-info', { headers: accepted }))).toBeNull();
  });

  // HTTP-39
  test.each([{}, { range: 'bytes=0-1999' }])('if it contains stored bytes: %j', async (range) => {
    const answer = await root.send(`/assets/${asset}/file`, { headers: { ...accepted, ...range } });
    expect([200, 206]).toContain(answer.status);
    expect(answer.headers.get('content-type')).toMatch(/^text\//);
    expect(answer.text.length).toBeGreaterThan(1999);
    expect(encodingOf(answer)).toBeNull();
    expect(answer.headers.get('vary')).not.toContain('Accept-Encoding');
    expect(answer.headers.get('etag')).toMatch(/^"/);
  });

  // HTTP-40
  test.each([
    ['cross-site', null],
    ['same-site', null],
    ['same-origin', 'gzip'],
    ['none', 'gzip'],
  ])('if another site caused the request: %s', async (site, encoding) => {
    const answer = await root.send('/assets', { headers: { ...accepted, 'sec-fetch-site': site } });
    expect(encodingOf(answer)).toBe(encoding);
  });
});

// HTTP-40
test('no response to GET contains a credential', () => {
  const credential = /"(?:token|secret\w*|recovery_codes|(?!has_)\w*password)":/;
  const reads = Object.values(operations).filter(({ method }) => method === 'GET');
  const revealing = reads.filter(({ responses }) => credential.test(JSON.stringify(responses)));
  expect(revealing.map(({ id }) => id)).toEqual([]);
});
