import { expect, test } from 'vitest';
import {
  labelOf,
  readColumnTime,
  readDay,
  readMoment,
  readPlainNumber,
  readTranslated,
} from '../../../src/operate/resourcespace/texts.ts';
import { type Option, pathOf, termsFor } from '../../../src/operate/resourcespace/vocabulary.ts';

// IMPORT-5
test('reads translations, and leaves texts that only look like some', () => {
  const { text, translations } = readTranslated('~en:Blue~fr:Bleu~en-US:Azure', 'fr');
  expect(text).toBe('Bleu');
  expect([...translations]).toEqual([
    ['en', 'Blue'],
    ['fr', 'Bleu'],
    ['en-us', 'Azure'],
  ]);
  expect(readTranslated('~en:Blue~fr:Bleu', 'de').text).toBe('Blue');
  for (const plain of ['~50 people', '~/path', 'a ~ b', '~en:x~none', '']) {
    expect(readTranslated(plain, 'en')).toEqual({ text: plain, translations: new Map() });
  }
});

test('makes labels plain text', () => {
  expect(labelOf('<i>Tech</i> tags &amp; "flags"', 'en')).toBe('Tech tags & "flags"');
  expect(labelOf('~en:See <b>this</b>\n now~de:Siehe', 'en')).toBe('See this now');
});

test('reads whole days and times only', () => {
  expect(readDay('1998-02-28')).toBe('1998-02-28');
  for (const text of ['1998-00-00', '1998-02-31', '1998', '0987-01-01', '1998-02-28 10:00'])
    expect(readDay(text)).toBeNull();
  expect(readMoment('1998-02-28 09:05')).toBe('1998-02-28T09:05:00Z');
  expect(readMoment('1998-02-28 25:05')).toBeNull();
  expect(readColumnTime('0000-00-00 00:00:00')).toBeNull();
  expect(readColumnTime('2016-07-01 10:58:43')).toBe('2016-07-01T10:58:43Z');
  expect(['7', '-1.5', '007', '1,5', '1e3', ''].map(readPlainNumber)).toEqual([
    7,
    -1.5,
    null,
    null,
    null,
    null,
  ]);
});

function option(node: number, label: string, parent: number | null = null, others: string[] = []): Option {
  return { node, label, others, parent, isActive: true };
}

test('gives options distinct terms, with translations as aliases where they are free', () => {
  const byNode = new Map(
    [
      option(1, 'Boat', null, ['Boot']),
      option(2, 'boat'),
      option(3, '„?“'),
      option(4, 'Boot'),
      option(5, 'One, "two"'),
    ].map((own) => [own.node, own]),
  );
  const terms = termsFor({ byNode, cyclic: [] }, false, new Map(), []);
  expect(terms.map(({ entry }) => [entry.value, entry.label, entry.aliases])).toEqual([
    ['boat', 'Boat', []],
    ['boat-2', 'boat', []],
    ['option-3', '„?“', []],
    ['boot', 'Boot', []],
    ['one-two', 'One, "two"', []],
  ]);
  const alone = termsFor(
    { byNode: new Map([[1, option(1, 'Boat', null, ['Bateau'])]]), cyclic: [] },
    false,
    new Map(),
    [],
  );
  expect(alone[0]?.entry.aliases).toEqual(['bateau']);
});

test('ends the way up a tree at a cycle', () => {
  const tree = new Map([option(1, 'a', 2), option(2, 'b', 1)].map((own) => [own.node, own]));
  expect(pathOf(tree, 1).map(({ label }) => label)).toEqual(['b', 'a']);
});
