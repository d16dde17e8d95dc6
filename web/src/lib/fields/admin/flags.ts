import { holdsSeveral } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';

export interface Flag {
  readonly name:
    | 'required'
    | 'searchable'
    | 'show_on_card'
    | 'show_in_advanced_search'
    | 'show_on_upload'
    | 'read_only'
    | 'open_vocabulary';
  readonly label: string;
  /** Its effect, in one sentence. */
  readonly hint: string;
}

const flags: readonly Flag[] = [
  { name: 'required', label: 'Required', hint: 'Must be filled in when something is added.' },
  { name: 'searchable', label: 'Searchable', hint: 'Search finds content by the values of this field.' },
  { name: 'show_on_card', label: 'On cards', hint: 'Its value is shown on the card, below the picture.' },
  {
    name: 'show_in_advanced_search',
    label: 'In advanced search',
    hint: 'Shown on the page for advanced search.',
  },
  { name: 'show_on_upload', label: 'When uploading', hint: 'Shown on the page for new uploads.' },
  {
    name: 'read_only',
    label: 'Read-only',
    hint: 'People cannot edit it; only defaults and file metadata fill it.',
  },
];

const open: Flag = {
  name: 'open_vocabulary',
  label: 'Open vocabulary',
  hint: 'People who may extend vocabularies can add terms by typing them.',
};

/** Returns the flags that apply to a field. */
export function flagsFor({ type }: Pick<FieldDefinition, 'type'>): readonly Flag[] {
  return holdsSeveral(type) ? [...flags, open] : flags;
}
