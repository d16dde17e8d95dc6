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
  /** What it does, in one sentence. */
  readonly hint: string;
}

const flags: readonly Flag[] = [
  { name: 'required', label: 'Required', hint: 'Has to be filled in when something new is added.' },
  { name: 'searchable', label: 'Searchable', hint: 'The search finds things by what stands in this field.' },
  { name: 'show_on_card', label: 'On cards', hint: 'Its value stands on the card below the picture.' },
  {
    name: 'show_in_advanced_search',
    label: 'In advanced search',
    hint: 'The page for advanced search has a control for it.',
  },
  { name: 'show_on_upload', label: 'When uploading', hint: 'The page for new uploads asks for it.' },
  {
    name: 'read_only',
    label: 'Read-only',
    hint: 'Nobody writes it by hand; only defaults and what is read out of files do.',
  },
];

const open: Flag = {
  name: 'open_vocabulary',
  label: 'Open vocabulary',
  hint: 'Whoever may extend vocabularies adds a term by typing a new one.',
};

/** The flags that mean something for a field. */
export function flagsFor({ type }: Pick<FieldDefinition, 'type'>): readonly Flag[] {
  return type === 'multi_select' ? [...flags, open] : flags;
}
