import { phrase } from '#lib/languages/phrase.ts';
import type { FieldTypeView } from './field-type.ts';

export const boolean: FieldTypeView = {
  label: 'Yes or no',
  icon: 'toggle-left',
  explanation: 'A switch.',
  display: 'words',
  words: ({ value_num }) => (value_num === undefined ? '' : value_num === 1 ? 'Yes' : 'No'),
  control: { kind: 'switch' },
  draftOf: ({ value_num }) => value_num?.toString() ?? '',
  sentOf: (text) => ({ kind: 'value', members: { value_num: text === '1' ? 1 : 0 } }),
  filterControl: { kind: 'yes or no' },
  comparisons: [{ value: '=', label: phrase('is') }],
  filterWords: (value) => (value === '1' ? phrase('yes') : phrase('no')),
  defaultControl: { kind: 'yes or no' },
  defaultText: ({ value_num }) => (value_num === 1 ? 'yes' : 'no'),
  defaultOf: (text) => ({ value_num: text === 'yes' ? 1 : 0 }),
  defaultWords: (text) => (text === 'yes' ? 'Yes' : 'No'),
  constraints: [],
};
