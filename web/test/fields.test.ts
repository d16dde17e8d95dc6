import { CallError } from '@vitrine/contract/client';
import { factsOf, fieldTypes } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { describe, expect, it, vi } from 'vitest';
import { libraryAddress, readAssetFilter } from '#lib/assets/asset-filter.ts';
import { fieldsFor, forEachConcurrently, isOfferedFor } from '#lib/fields/applicable.ts';
import { cardLine } from '#lib/fields/card-words.ts';
import { groupsOf, headingOf, tabsOf } from '#lib/fields/compose.ts';
import { type Controller, isOffered, offeredFields } from '#lib/fields/condition.ts';
import { draftOf, isSameDraft, sentOf } from '#lib/fields/draft.ts';
import { readFilter, writeFilter } from '#lib/fields/filter.ts';
import { refusalInWords, whyReadOnly } from '#lib/fields/rights.ts';
import { safeAddress } from '#lib/fields/safe-html.ts';
import { isShortVocabulary, termsIn } from '#lib/fields/terms.ts';
import type { Draft } from '#lib/fields/types/field-type.ts';
import { viewOf } from '#lib/fields/types/registry.ts';
import { plainText } from '#lib/fields/types/rich-text.ts';
import { valueInWords } from '#lib/fields/value-words.ts';
import { fieldOf, userOf } from './samples.ts';

/** Returns a field with its label, as the form shows it. */
function labelled(code: string, given: Partial<FieldDefinition> = {}): FieldDefinition {
  return fieldOf(code, { label: headingOf(code), ...given });
}

// FIELD-27
it('offers what is read from other kinds of files only where there is a value', () => {
  const aperture = { applies_to: [], extraction_source: 'aperture' };
  expect([1, 3].map((type) => isOfferedFor(aperture, type, false))).toEqual([true, false]);
  expect(isOfferedFor(aperture, 3, true)).toBe(true);
  expect(isOfferedFor({ ...aperture, applies_to: [3] }, 3, false)).toBe(true);
  expect(isOfferedFor({ ...aperture, applies_to: [1] }, 3, true)).toBe(false);
  expect(isOfferedFor({ applies_to: [], extraction_source: '' }, 6, false)).toBe(true);
});

describe('a display condition', () => {
  const form: Readonly<Record<string, Controller>> = {
    kind: { type: 'select', draft: 'portrait' },
    place: { type: 'text', draft: 'Old Harbour ' },
    topics: { type: 'multi_select', draft: ['sea', 'fog'] },
    note: { type: 'longtext', draft: '' },
    count: { type: 'number', draft: '3' },
    equation: { type: 'text', draft: 'a=b' },
    none: { type: 'multi_select', draft: [] },
  };
  const offered = (...condition: string[]) => isOffered(condition, (code) => form[code]);

  it('shows a field without a condition', () => {
    expect(isOffered(null, () => undefined)).toBe(true);
  });

  // FIELD-25, FIELD-26
  it.each([
    [true, ['kind=portrait']],
    [false, ['kind=landscape']],
    [true, ['kind=portrait', 'topics=sea']],
    [false, ['kind=portrait', 'topics=sand']],
    // Case and spaces of the code, and spaces around the value, do not count.
    [true, [' KIND = portrait ']],
    [false, ['kind=Portrait']],
    // Stored values are compared exactly, and ~ ignores case.
    [false, ['place=Old Harbour']],
    [true, ['place~old harb']],
    [false, ['place~new']],
    // A term is split at its first operator.
    [true, ['equation=a=b']],
    // A field without a value.
    [false, ['note~sea']],
    [false, ['none=sea']],
  ])('requires all terms to be true: %s for %j', (isShown, condition) => {
    expect(offered(...condition)).toBe(isShown);
  });

  // FIELD-27
  it.each(['gone=x', 'count=3', 'kind~port', 'kind>=portrait', 'nonsense', 'kind='])(
    'shows the field if the condition cannot be evaluated: %s',
    (term) => {
      expect(offered(term)).toBe(true);
      expect(offered('kind=landscape', term)).toBe(true);
    },
  );

  it('treats an unreadable field as missing', () => {
    const after = labelled('after', { display_condition: ['secret=yes'] });
    const fields = [labelled('secret', { read_capability: 'legal' }), after];
    const known = { draftOf: (): Draft => '', mayRead: (code: string) => code !== 'legal' };
    expect(offeredFields(fields, known)).toContain(after);
    expect(offeredFields(fields, { ...known, mayRead: () => true })).not.toContain(after);
  });
});

describe('values of a form', () => {
  it.each<[FieldDefinition['type'], Parameters<typeof draftOf>[1]]>([
    ['number', { value_num: 1.5 }],
    ['datetime', { value_date: '2026-01-02T03:04:05.000Z' }],
    ['boolean', { value_num: 0 }],
    ['multi_select', { value_options: ['b', 'a'] }],
  ])('a value survives a round trip through the form: %s', (type, members) => {
    expect(sentOf(type, draftOf(type, members))).toEqual({ kind: 'value', members });
  });

  it('an empty input means no value, and a date is a day', () => {
    expect(sentOf('text', '')).toEqual({ kind: 'none' });
    expect(sentOf('multi_select', [])).toEqual({ kind: 'none' });
    expect(draftOf('boolean', undefined)).toBe('');
    expect(draftOf('date', { value_date: '2026-03-01T00:00:00.000Z' })).toBe('2026-03-01');
  });

  it('text is sent as typed', () => {
    expect(sentOf('text', ' a ')).toEqual({ kind: 'value', members: { value_text: ' a ' } });
  });

  it.each(['12a', '1,2,3', '1e999', '--1', '.'])('rejects %s, which is not a number', (typed) => {
    expect(sentOf('number', typed)).toEqual({ kind: 'problem', text: 'This is not a number.' });
  });

  it('a comma is accepted as decimal point', () => {
    expect(sentOf('number', ' 2,75 ')).toEqual({ kind: 'value', members: { value_num: 2.75 } });
  });

  it('the order of terms is kept', () => {
    expect(isSameDraft(['a', 'b'], ['a', 'b'])).toBe(true);
    expect(isSameDraft(['a', 'b'], ['b', 'a'])).toBe(false);
    expect(isSameDraft('', [])).toBe(false);
  });
});

describe('the layout of a form', () => {
  const fields = [
    labelled('z', { display_order: 3, display_group: 'rights', edit_tab: 'legal' }),
    labelled('b', { display_order: 2 }),
    labelled('a', { display_order: 2, display_group: 'camera' }),
    labelled('c', { display_order: 9 }),
    labelled('first', { display_order: 1, edit_tab: 'legal' }),
  ];

  it('puts fields into groups and groups into tabs, those without a tab first', () => {
    const shape = tabsOf(fields).flatMap(({ name, groups }) =>
      groups.map((group) => `${name}, ${group.name}: ${group.fields.map((field) => field.code)}`),
    );
    const groups = ['null, camera: a', 'null, general: b,c', 'legal, general: first', 'legal, rights: z'];
    expect(shape).toEqual(groups);
    expect(groupsOf(fields).map((group) => group.name)).toEqual(['general', 'camera', 'rights']);
    expect(headingOf('rights_and_use')).toBe('Rights and use');
  });

  it('gives the reason why a field is read-only', () => {
    const user = userOf({ capabilities: ['legal'] });
    expect(whyReadOnly(labelled('a'), user)).toBeUndefined();
    expect(whyReadOnly(labelled('a', { write_capability: 'legal' }), user)).toBeUndefined();
    expect(whyReadOnly(labelled('a', { write_capability: 'press' }), user)?.reason).toContain('press');
    const root = userOf({ capabilities: ['system.admin'] });
    expect(whyReadOnly(labelled('a', { read_only: true }), root)?.reason).toContain('Read-only');
    expect(whyReadOnly(labelled('a', { status: 'deprecated' }), root)).toMatchObject({ clearable: true });
  });

  it('names the field by its label in a refusal', () => {
    const field = { code: 'iso', label: 'ISO speed' };
    const refused = (code: string, text: string) =>
      new CallError(422, text, new Headers({ 'vitrine-error': code }));
    const pattern = 'value-not-matching;property="iso";pattern="[0-9]+"';
    const refusal = refusalInWords(field, refused(pattern, 'iso does not match [0-9]+'));
    expect(refusal).toBe('ISO speed does not match the pattern [0-9]+');
    expect(refusalInWords(field, refused('value-empty;property="iso"', 'iso is empty'))).toBe(
      'ISO speed is empty.',
    );
    expect(refusalInWords(field, refused('teams-in-cycle', 'isobar is wrong'))).toBe('Isobar is wrong.');
  });

  it('offers the fields of any of several files', () => {
    const [films, sounds] = [labelled('films', { applies_to: [2] }), labelled('sounds', { applies_to: [3] })];
    const some = [labelled('all'), films, sounds];
    expect(fieldsFor(some, [1, 2]).map((field) => field.code)).toEqual(['all', 'films']);
    expect(fieldsFor(some, []).map((field) => field.code)).toEqual(['all']);
  });

  it('runs the work once per item with bounded concurrency', async () => {
    let [now, most] = [0, 0];
    const done: number[] = [];
    await forEachConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      done.push(item);
      now -= 1;
    });
    expect(done.toSorted()).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });
});

describe('terms', () => {
  const finland = { value: 'fi', label: 'Finland', status: 'deprecated' };
  const options = { values: ['plain', { value: 'eu', label: 'Europe', children: [finland] }] };

  it('know their path in the tree', () => {
    expect(termsIn({ options })).toEqual([
      { value: 'plain', label: 'plain', path: ['plain'], status: 'active', isBranch: false },
      { value: 'eu', label: 'Europe', path: ['Europe'], status: 'active', isBranch: true },
      { value: 'fi', label: 'Finland', path: ['Europe', 'Finland'], status: 'deprecated', isBranch: false },
    ]);
  });

  it('are a plain list for short, fully loaded vocabularies', () => {
    expect(isShortVocabulary({ type: 'select', options })).toBe(true);
    expect(isShortVocabulary({ type: 'tree', options })).toBe(false);
    expect(isShortVocabulary({ type: 'select', options: { ...options, truncated: true } })).toBe(false);
    const many = { values: Array.from({ length: 26 }, (_, at) => `t${at}`) };
    expect(isShortVocabulary({ type: 'select', options: many })).toBe(false);
  });
});

describe('formatted values', () => {
  const words = { labelOf: (term: string) => term.toUpperCase(), language: 'en' };

  it('a date is the same in every time zone', () => {
    const value = { value_date: '2026-03-01T00:00:00.000Z' };
    expect(valueInWords({ type: 'date' }, value, words)).toBe('March 1, 2026');
  });

  it('terms by their labels, yes and no, numbers without noise, text without markup', () => {
    expect(valueInWords({ type: 'multi_select' }, { value_options: ['a', 'b'] }, words)).toBe('A, B');
    expect(valueInWords({ type: 'tree' }, { value_text: 'fi' }, words)).toBe('FI');
    expect(valueInWords({ type: 'boolean' }, { value_num: 0 }, words)).toBe('No');
    expect(valueInWords({ type: 'number' }, { value_num: 20260.5 }, words)).toBe('20260.5');
    const formatted = { value_text: '<p>a &lt; b</p><p>c</p>' };
    expect(valueInWords({ type: 'rich_text' }, formatted, words)).toBe('a < b c');
    expect(plainText('&amp;lt;')).toBe('&lt;');
  });

  it('the summary of a card is one line', () => {
    const strip = [
      { code: 'kind', label: 'Kind', value: 'Portrait' },
      { code: 'iso', label: 'ISO', value: '400' },
      { code: 'signed', label: 'Signed', value: 'true' },
      { code: 'day', label: 'Day', value: '2026-03-01' },
    ];
    expect(cardLine(strip, 'en')).toBe('Portrait · ISO 400 · Signed · March 1, 2026');
    expect(cardLine(undefined)).toBe('');
  });
});

describe('filters by field', () => {
  it('survive a round trip through the URL', () => {
    const text = writeFilter({ code: 'place', operator: '>=', value: 'a=b & c ' });
    expect(text).toBe('field:place>=a=b & c');
    expect(readFilter(text)).toEqual({ code: 'place', operator: '>=', value: 'a=b & c' });
    const address = libraryAddress({ everyone: false, tags: [], fields: [text] });
    const { searchParams } = new URL(address, 'http://here');
    expect(readAssetFilter(searchParams)).toEqual({ everyone: false, tags: [], fields: [text] });
  });

  it('invalid filters are dropped', () => {
    const params = new URLSearchParams('filter=place%3Da&filter=field%3Aplace&filter=field%3A%3Dx');
    expect(readAssetFilter(params).fields).toBeUndefined();
  });

  it('offer every comparison of a type that the service accepts, with a label', () => {
    const offered = fieldTypes.map((type) => [
      type,
      viewOf[type].comparisons.map(({ value }) => value).sort(),
    ]);
    expect(offered).toEqual(fieldTypes.map((type) => [type, [...factsOf[type].filters].sort()]));
  });
});

it('a link accepts only web and mail addresses', () => {
  expect(safeAddress('https://a.example/x')).toBe('https://a.example/x');
  expect(safeAddress('mailto:a@b.example')).toBe('mailto:a@b.example');
  for (const bad of ['javascript:alert(1)', ' JaVaScRiPt:1', 'data:text/html,x', '//a.example', '/x', null])
    expect(safeAddress(bad)).toBeUndefined();
});

// VALUE-26
describe('a day and time', () => {
  const field = fieldOf('taken', { type: 'datetime' });
  const words = { labelOf: (term: string) => term, language: 'en-GB' };
  const taken = ['2024-05-06T23:30:00.000Z', '2024-05-06T23:30:00.000+09:00', '2024-05-06T23:30:00-07:00'];

  it.each(['UTC', 'America/Los_Angeles', 'Asia/Tokyo'])('is the same for a reader in %s', (zone) => {
    vi.stubEnv('TZ', zone);
    for (const value_date of taken) {
      expect(valueInWords(field, { value_date }, words)).toBe('6 May 2024, 23:30');
      const draft = draftOf('datetime', { value_date });
      expect(draft).toBe('2024-05-06T23:30:00');
      expect(sentOf('datetime', draft)).toEqual({
        kind: 'value',
        members: { value_date: '2024-05-06T23:30:00.000Z' },
      });
    }
    const card = { code: 'taken', label: 'Taken', value: '2024-05-06T23:30:00+09:00' };
    expect(cardLine([card], 'en-GB')).toBe('6 May 2024, 23:30');
    vi.unstubAllEnvs();
  });
});
