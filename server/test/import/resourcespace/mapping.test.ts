import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMapping } from '../../../src/operate/resourcespace/mapping.ts';
import { readSettings } from '../../../src/operate/resourcespace/settings.ts';
import { sayError } from '../../../src/platform/language/sentence.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const path = join(await temporaryDirectory(), 'mapping.json');

/** Returns why a file with this content is refused, in English and German. */
async function whyRefused(read: (path: string) => Promise<unknown>, content: string): Promise<string[]> {
  await writeFile(path, content);
  const error: unknown = await read(path).catch((error: unknown) => error);
  if (!(error instanceof Error)) throw new Error('the file was read');
  return (['en', 'de'] as const).map((language) => sayError(language, error).replaceAll(path, 'FILE'));
}

// LANGUAGE-7
test('a mapping says in the language of the operator what does not fit', async () => {
  expect(await whyRefused(readMapping, '{"colour": 1}')).toEqual([
    'FILE: / has an unknown property colour',
    'FILE: / hat eine unbekannte Eigenschaft colour',
  ]);
  expect(await whyRefused(readMapping, '{"fields": {"1": {"code": "Ä"}}}')).toEqual([
    expect.stringMatching(/^FILE: \/fields\/1\/code has another form \(“/),
    expect.stringMatching(/^FILE: \/fields\/1\/code hat eine andere Form \(„/),
  ]);
  expect(await whyRefused(readMapping, '{')).toEqual([
    expect.stringMatching(/^FILE is not JSON: /),
    expect.stringMatching(/^FILE ist kein JSON: /),
  ]);
});

// LANGUAGE-7
test('settings of the former system say in the language of the operator what does not fit', async () => {
  expect(await whyRefused(readSettings, '{"syncdir": 1}')).toEqual([
    expect.stringMatching(/^FILE: syncdir has a value of another type \(“/),
    expect.stringMatching(/^FILE: syncdir hat einen Wert von anderem Typ \(„/),
  ]);
  expect(await whyRefused(readSettings, '[]')).toEqual(['FILE is not an object', 'FILE ist kein Objekt']);
});
