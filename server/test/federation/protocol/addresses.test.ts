import { describe, expect, test } from 'vitest';
import {
  activityUri,
  actorUri,
  casUri,
  commentUri,
  objectUri,
  parseActivityUri,
  parseActorUri,
  parseCasUri,
  parseCommentUri,
  parseInstanceUrl,
  parseObjectUri,
} from '../../../src/exchange/federation/protocol/addresses.ts';

const base = 'https://media.example.org';
const id = '6f0d3d3c-4a5b-4c7e-9f3a-0c2b6e8d1f10';

describe('addresses of installs', () => {
  test.each([
    ['https://media.example.org', base],
    ['https://media.example.org/', base],
    ['HTTPS://Media.Example.ORG', base],
    ['https://media.example.org:443', base],
    ['https://media.example.org:8443', `${base}:8443`],
    ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
    ['https://192.0.2.1', 'https://192.0.2.1'],
    ['https://[2001:DB8::1]:8443', 'https://[2001:db8::1]:8443'],
    ['http://localhost:8420', 'http://localhost:8420'],
    ['http://127.0.0.1:8420', 'http://127.0.0.1:8420'],
    ['http://[::1]:8420', 'http://[::1]:8420'],
  ])('reads %s as %s', (text, url) => {
    expect(parseInstanceUrl(text)).toBe(url);
    expect(parseInstanceUrl(url)).toBe(url);
  });

  test.each([
    '',
    'media.example.org',
    'http://media.example.org',
    'http://10.0.0.1',
    'https://',
    'https://user@media.example.org',
    'https://media.example.org@evil.example',
    'https://media.example.org/path',
    'https://media.example.org?x',
    'https://media.example.org#x',
    'https://media.example.org\\@evil.example',
    'https://media.example.org\n',
    'https://media .example.org',
    'https://media.example.org.',
    'https://-media.example.org',
    'https://media.example.org:65536',
    'https://[fe80::1%25eth0]',
    'https://%6dedia.example.org/x',
    `https://${'a'.repeat(500)}.example`,
  ])('refuses %j', (text) => {
    expect(parseInstanceUrl(text)).toBeNull();
  });
});

describe('addresses of objects', () => {
  test('are read as they are built', () => {
    expect(parseActivityUri(activityUri(base, id))).toEqual({ base, id });
    expect(parseObjectUri(objectUri(base, 'assets', id))).toEqual({ base, kind: 'assets', id });
    expect(parseObjectUri(objectUri('http://localhost:8420', 'posts', id))?.base).toBe(
      'http://localhost:8420',
    );
    expect(parseCommentUri(commentUri(base, id, id))).toEqual({ base, post: id, id });
    for (const username of ['alice', 'Bob Smith', 'a@b.example', 'ünï/cøde?#', '%41', '😀', '...'])
      expect(parseActorUri(actorUri(base, username)), username).toEqual({ base, username });
  });

  test.each([
    `https://MEDIA.example.org/posts/${id}`,
    `https://media.example.org:443/posts/${id}`,
    `https://media.example.org:/posts/${id}`,
    `http://media.example.org/posts/${id}`,
    `https://media.example.org/posts/${id.toUpperCase()}`,
    `https://media.example.org/posts/${id}/`,
    `https://media.example.org/posts/${id}?x=1`,
    `https://media.example.org/posts/../posts/${id}`,
    `https://media.example.org//posts/${id}`,
    `https://media.example.org/secrets/${id}`,
    'https://media.example.org/posts/1',
    `https://media.example.org\\posts/${id}`,
    `https://0x7f.1/posts/${id}`,
    `https://media.example.org/posts/${id}\n`,
  ])('are not read from %j', (text) => {
    expect(parseObjectUri(text)).toBeNull();
  });

  test('of activities have a random UUID', () => {
    expect(parseActivityUri(activityUri(base, '0198c2f4-6a1e-7c3b-9d52-4f8e1a7b6c30'))).toBeNull();
    expect(parseActivityUri(activityUri(base, id.toUpperCase()))).toBeNull();
    expect(parseActivityUri(activityUri(base, '6f0d3d3c-4a5b-4c7e-cf3a-0c2b6e8d1f10'))).toBeNull();
  });

  test.each([
    `${base}/users/`,
    `${base}/users/..`,
    `${base}/users/a/b`,
    `${base}/users/%61lice`,
    `${base}/users/%c3%a4`,
    `${base}/users/%00`,
    `${base}/users/ä`,
    `${base}/users/alice#main-key`,
    `${base}/users/${'a'.repeat(500)}`,
  ])('of people are not read from %j', (text) => {
    expect(parseActorUri(text)).toBeNull();
  });
});

describe('addresses of bytes', () => {
  const hash = 'ab'.repeat(32);

  test('are read as they are built', () => {
    for (const contentType of ['image/png', 'image/svg+xml', 'audio/ogg; codecs=opus']) {
      const ref = { hash, contentType, size: 12_345 };
      expect(parseCasUri(casUri(ref))).toEqual(ref);
    }
    const other = `cas://${hash}?size=0&content-type=image%2Fsvg%2Bxml`;
    expect(parseCasUri(other)).toEqual({ hash, contentType: 'image/svg+xml', size: 0 });
  });

  // FED-97
  test('may lack the type, the size or both', () => {
    expect(parseCasUri(`cas://${hash}`)).toEqual({ hash, contentType: null, size: null });
    expect(parseCasUri(`cas://${hash}?size=7`)).toEqual({ hash, contentType: null, size: 7 });
    const typed = `cas://${hash}?content-type=image/png`;
    expect(parseCasUri(typed)).toEqual({ hash, contentType: 'image/png', size: null });
  });

  test.each([
    `cas://${hash}?`,
    `cas://${hash}?content-type=`,
    `cas://${hash}?size=`,
    `cas://${hash}?size=-1`,
    `cas://${hash}?content-type=image`,
    `cas://${hash}?x=2`,
    `cas://${hash}#`,
    `cas://${hash.toUpperCase()}?content-type=image/png&size=1`,
    `cas://${hash.slice(1)}?content-type=image/png&size=1`,
    `cas://${hash}?content-type=image/png&size=1&size=2`,
    `cas://${hash}?content-type=image/png&size=1&x=2`,
    `cas://${hash}?content-type=image/png&size=01`,
    `cas://${hash}?content-type=image/png&size=1e3`,
    `cas://${hash}?content-type=image/png&size=9007199254740992`,
    `cas://${hash}?content-type=image/png%0d%0aX&size=1`,
    `cas://${hash}?content-type=%ff/x&size=1`,
  ])('are not read from %j', (text) => {
    expect(parseCasUri(text)).toBeNull();
  });
});
