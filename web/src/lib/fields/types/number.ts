import { phrase } from '#lib/languages/phrase.ts';
import { localeOf } from '#lib/time/moments.ts';
import { asTyped, type FieldTypeView } from './field-type.ts';

/** Parses a typed number; a single comma is a decimal point. */
function readNumber(text: string): number | undefined {
  const plain = text.trim().replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return undefined;
  const number = Number(plain);
  return Number.isFinite(number) ? number : undefined;
}

const decimal = { kind: 'line', type: 'text', inputmode: 'decimal' } as const;

export const number: FieldTypeView = {
  label: 'Number',
  icon: 'hash',
  explanation: 'A whole or decimal number.',
  display: 'words',
  words: ({ value_num }, { language }) =>
    value_num?.toLocaleString(localeOf(language), { maximumFractionDigits: 12, useGrouping: false }) ?? '',
  control: decimal,
  draftOf: ({ value_num }) => value_num?.toString() ?? '',
  sentOf: (text) => {
    const num = readNumber(text);
    return num === undefined
      ? { kind: 'problem', text: 'This is not a number.' }
      : { kind: 'value', members: { value_num: num } };
  },
  filterControl: decimal,
  comparisons: [
    { value: '=', label: phrase('is') },
    { value: '>=', label: phrase('at least') },
    { value: '<=', label: phrase('at most') },
    { value: '>', label: phrase('more than') },
    { value: '<', label: phrase('less than') },
  ],
  filterWords: asTyped,
  defaultControl: decimal,
  defaultText: ({ value_num }) => value_num?.toString() ?? '',
  defaultOf: (text) => (Number.isFinite(Number(text)) ? { value_num: Number(text) } : null),
  defaultWords: asTyped,
  constraints: [
    { name: 'min', label: 'Smallest', input: 'number' },
    { name: 'max', label: 'Largest', input: 'number' },
    { name: 'step', label: 'Step', input: 'number', hint: 'Values are whole multiples of it.' },
    {
      name: 'integer',
      label: 'Whole numbers only',
      input: 'switch',
      hint: 'Refuses values with a fraction.',
    },
  ],
};
