import { connect } from 'node:net';
import { languages } from '@vitrine/contract/languages';
import pg from 'pg';
import { expect, test } from 'vitest';
import { connectionFault } from '../../src/platform/database/unusable.ts';
import { sentenceOfError } from '../../src/platform/faults/worded-errors.ts';
import { notFound, refuse } from '../../src/platform/http/refuse.ts';
import { saySentence } from '../../src/platform/language/sentence.ts';
import { openLibrary } from '../support/library.ts';

const inGerman = (error: unknown) => saySentence('de', sentenceOfError(error));

/** Returns the error of an attempt. */
const errorOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => null,
    (error: unknown) => error,
  );

// LANGUAGE-8
test('the reasons of a network are in the language of the reader, with their own words behind them', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  connect({ host: '127.0.0.1', port: 1 }).once('error', reject);
  const error = await errorOf(promise);
  expect(inGerman(error)).toBe('die Verbindung wurde abgelehnt („connect ECONNREFUSED 127.0.0.1:1“)');
  expect(inGerman(new Error('fetch failed', { cause: error }))).toBe(
    'die Verbindung wurde abgelehnt („fetch failed“)',
  );
  // Several addresses that all refuse have no message of their own.
  const several = Object.assign(new AggregateError([error]), { code: 'ECONNREFUSED' });
  expect(inGerman(several)).toBe('die Verbindung wurde abgelehnt („ECONNREFUSED“)');
});

// LANGUAGE-8
test('the reasons of PostgreSQL are in the language of the reader', async () => {
  const library = await openLibrary();
  const address = new URL(library.databaseUrl);
  address.pathname = '/nowhere';
  const client = new pg.Client({ connectionString: address.href });
  const error = await errorOf(client.connect());
  expect(saySentence('de', connectionFault(error))).toBe(
    'diese Datenbank gibt es nicht („database "nowhere" does not exist“)',
  );
});

// LANGUAGE-8
test.each([
  ['CERT_HAS_EXPIRED', 'das Zertifikat ist abgelaufen'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'das Zertifikat stammt von keiner Stelle, der dieser Rechner vertraut'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'die Verbindung konnte nicht verschlüsselt werden'],
  ['28P01', 'der Name oder das Passwort ist falsch'],
  ['NoSuchBucket', 'diesen Bucket gibt es nicht'],
  ['ENOSPC', 'die Festplatte ist voll'],
])('the code %s means %s', (code, meaning) => {
  const error = Object.assign(new Error('what the driver says'), { code });
  expect(inGerman(error)).toBe(`${meaning} („what the driver says“)`);
});

// LANGUAGE-7
test('errors of the interface that reports quote are in every language', () => {
  expect(inGerman(notFound())).toBe('nicht gefunden');
  const refusal = refuse('too-many-links', { max: 500, kind: 'post' });
  const said = languages.map((language) => saySentence(language, sentenceOfError(refusal)));
  expect(said[0]).toBe('there are at most 500 links to one post');
  expect(new Set(said).size).toBe(languages.length);
});

test('an error without a known code keeps its words', () => {
  expect(inGerman(new Error('line one\n  line two'))).toBe('line one; line two');
  expect(inGerman('no error at all')).toBe('no error at all');
});
