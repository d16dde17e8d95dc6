import { phrase } from '#lib/languages/phrase.ts';
import { asTyped, type FieldTypeView } from './field-type.ts';

const uuidPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

export const reference: FieldTypeView = {
  label: 'Asset',
  icon: 'file-image',
  explanation: 'Another asset of the library.',
  display: 'asset',
  // Its title is resolved elsewhere.
  words: ({ value_ref }) => (value_ref === undefined ? '' : 'An asset'),
  control: { kind: 'asset' },
  draftOf: ({ value_ref }) => value_ref ?? '',
  sentOf: (text) => ({ kind: 'value', members: { value_ref: text } }),
  filterControl: { kind: 'asset' },
  comparisons: [{ value: '=', label: phrase('is') }],
  filterWords: () => phrase('one asset'),
  defaultControl: {
    kind: 'line',
    type: 'text',
    hint: 'Paste the address of its page, or its ID.',
    spellcheck: false,
  },
  defaultText: ({ value_ref }) => value_ref ?? '',
  defaultOf: (text) => {
    // Accepts the address of the asset's page as well as its id.
    const [id] = uuidPattern.exec(text) ?? [];
    return id === undefined ? null : { value_ref: id.toLowerCase() };
  },
  defaultWords: asTyped,
  constraints: [],
};
