import { phrase } from '#lib/languages/phrase.ts';
import { series } from '#lib/texts/series.ts';
import { asTyped, type FieldTypeView } from './field-type.ts';

/** One term. */
const ofOneTerm = {
  display: 'terms',
  words: ({ value_text }, { labelOf }) => (value_text === undefined ? '' : labelOf(value_text)),
  control: { kind: 'terms' },
  draftOf: ({ value_text }) => value_text ?? '',
  sentOf: (text) => ({ kind: 'value', members: { value_text: text } }),
  filterControl: { kind: 'terms' },
  filterWords: asTyped,
  defaultControl: { kind: 'terms' },
  defaultText: ({ value_text }) => value_text ?? '',
  defaultOf: (text) => ({ value_text: text }),
  defaultWords: asTyped,
  constraints: [],
} as const satisfies Partial<FieldTypeView>;

export const select: FieldTypeView = {
  ...ofOneTerm,
  label: 'One term',
  icon: 'tag',
  explanation: 'One term of a vocabulary.',
  comparisons: [{ value: '=', label: phrase('is') }],
};

export const tree: FieldTypeView = {
  ...ofOneTerm,
  label: 'Term in a tree',
  icon: 'list-tree',
  explanation: 'One term of a vocabulary with levels.',
  comparisons: [{ value: '=', label: phrase('is or is below') }],
};

export const multiSelect: FieldTypeView = {
  ...ofOneTerm,
  label: 'Several terms',
  icon: 'tags',
  explanation: 'Any number of terms of a vocabulary.',
  words: ({ value_options = [] }, { labelOf }) => series(value_options.map(labelOf)),
  draftOf: ({ value_options }) => value_options ?? [],
  sentOf: (text) => ({ kind: 'value', members: { value_options: [text] } }),
  comparisons: [{ value: '=', label: phrase('has') }],
  defaultText: ({ value_options }) => (value_options ?? []).join(', '),
  defaultOf: (text) => ({ value_options: [text] }),
  constraints: [
    { name: 'min_items', label: 'At least this many', input: 'number' },
    { name: 'max_items', label: 'At most this many', input: 'number' },
  ],
};
