import { factsOf } from '@vitrine/contract/field-types';
import { phrase } from '#lib/languages/phrase.ts';
import { asTyped, type Comparison, type Constraint, type FieldTypeView } from './field-type.ts';

const lengths: readonly Constraint[] = [
  { name: 'min_length', label: 'Shortest, in characters', input: 'number' },
  { name: 'max_length', label: 'Longest, in characters', input: 'number' },
];

export const contains: Comparison = { value: '~', label: phrase('contains') };

/** What texts have in common. */
const words = {
  display: 'words',
  words: ({ value_text }) => value_text ?? '',
  draftOf: ({ value_text }) => value_text ?? '',
  sentOf: (text) => ({ kind: 'value', members: { value_text: text } }),
  filterControl: { kind: 'line', type: 'text' },
  comparisons: [contains, { value: '=', label: phrase('is') }],
  filterWords: asTyped,
  defaultText: ({ value_text }) => value_text ?? '',
  defaultOf: (text) => ({ value_text: text }),
  defaultWords: asTyped,
  constraints: lengths,
} as const satisfies Partial<FieldTypeView>;

const { mostCharacters: mostInLine = 0 } = factsOf.text;
const { mostCharacters: mostInLines = 0 } = factsOf.longtext;

export const text: FieldTypeView = {
  ...words,
  label: 'Text',
  icon: 'type',
  explanation: 'One line.',
  control: { kind: 'line', type: 'text', maxlength: mostInLine },
  defaultControl: { kind: 'line', type: 'text', maxlength: mostInLine },
};

export const longtext: FieldTypeView = {
  ...words,
  label: 'Long text',
  icon: 'text',
  explanation: 'Several lines without formatting.',
  control: { kind: 'lines', maxlength: mostInLines },
  defaultControl: { kind: 'lines' },
};
