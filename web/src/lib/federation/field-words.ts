import type { PeerField } from '@vitrine/contract/federated-fields';
import { fieldTypes } from '@vitrine/contract/field-types';
import { viewOf } from '#lib/fields/types/registry.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';

const names: Readonly<Record<string, string>> = {
  status: 'Status',
  mirrors_column: 'Mirrors',
  field_type: 'Type',
  subject_kind: 'Belongs to',
  min: 'Lowest value',
  max: 'Highest value',
  step: 'Step',
  integer: 'Whole numbers',
  min_items: 'Fewest terms',
  max_items: 'Most terms',
  min_length: 'Shortest text',
  max_length: 'Longest text',
  label: 'Name',
  description: 'Description',
  required: 'Required',
  searchable: 'Found by search',
  open_vocabulary: 'New terms allowed',
  display_group: 'Group',
  display_order: 'Position',
  show_on_card: 'On cards',
  show_in_advanced_search: 'In the advanced search',
  show_on_upload: 'On the upload page',
  edit_tab: 'Tab',
  regexp_filter: 'Pattern',
  display_condition: 'Shown when',
  default_value: 'Default',
};

/** Labels a property that differs. */
export function propertyName(property: string): string {
  return names[property] ?? property.charAt(0).toUpperCase() + property.slice(1);
}

/** Formats the value of a property that differs. */
export function sideText(property: string, text: string | null): string {
  if (text === null) return '–';
  const type = property === 'field_type' ? fieldTypes.find((known) => known === text) : undefined;
  if (type !== undefined) return viewOf[type].label;
  if (text === 'true') return 'Yes';
  return text === 'false' ? 'No' : text;
}

/** Describes how a peer's field is used here, and whether a decision is needed. */
export function fieldStateOf({ state, field }: PeerField): { label: string; text: string; open: boolean } {
  const name = field === null ? '' : phrase(`“${field.label}”`);
  switch (state) {
    case 'same':
      return { label: 'The same', text: `Values are used in ${name}.`, open: false };
    case 'differs':
      return { label: 'Decide', text: `${name} means something else here. No values are used.`, open: true };
    case 'new':
      return { label: 'Decide', text: 'There is no such field here. No values are used.', open: true };
    case 'mapped':
      return { label: 'Used here', text: `Values are used in your field ${name}.`, open: false };
    case 'adopted':
      return { label: 'Taken over', text: `Values are used in ${name}, which was taken over.`, open: false };
    case 'ignored':
      return { label: 'Ignored', text: 'No values are used.', open: false };
  }
}

/** Describes how many objects have a value of the field, and how many of these values are not used here. */
export function countLine({ value_count: values, unused_count: unused }: PeerField): string {
  if (values === 0) return 'Nothing they currently share has a value.';
  const all = plural(values, ['# value', '# values']);
  return unused === 0 ? `${all}.` : `${all}, ${unused} of them not used.`;
}
