import { isOpenVocabulary } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { termKey } from '../../../content/fields/vocabulary/terms.ts';
import type { AaFieldDefinition, AaTerm } from '../protocol/field-definitions.ts';
import { wireDefinition } from './definitions.ts';

/** A property that differs between a definition here and the one of a peer. */
interface Difference {
  property: string;
  ours: string | null;
  theirs: string | null;
  /** Whether the difference changes the meaning of values, so that they are not used without a decision (FED-61). */
  decisive: boolean;
}

/** A term with its place in the hierarchy. */
interface Placed {
  value: string;
  label: string;
  parent: string | null;
}

/** Returns the terms of a vocabulary in order, each with its broader term. */
function placedTerms(terms: readonly AaTerm[] = [], parent: string | null = null): Placed[] {
  return terms.flatMap(({ value, label, children }) => [
    { value, label: label ?? value, parent },
    ...placedTerms(children, value),
  ]);
}

/** Maximum number of terms that a difference names. */
const NAMED = 20;

function termsText(terms: readonly Placed[]): string | null {
  if (terms.length === 0) return null;
  const named = terms.slice(0, NAMED).map(({ value, label, parent }) => {
    const name = termKey(label) === termKey(value) ? value : `${value} (${label})`;
    return parent === null ? name : `${name} below ${parent}`;
  });
  return terms.length > NAMED ? `${named.join(', ')} and ${terms.length - NAMED} more` : named.join(', ');
}

/** Compares vocabularies: terms that only one side has, and terms with another name or place. */
function termDifferences(ours: AaFieldDefinition, theirs: AaFieldDefinition): Difference[] {
  const here = new Map(placedTerms(ours.options.values).map((term) => [term.value, term]));
  const there = new Map(placedTerms(theirs.options.values).map((term) => [term.value, term]));
  const missing = [...there.values()].filter(({ value }) => !here.has(value));
  const added = [...here.values()].filter(({ value }) => !there.has(value));
  const changed = [...there.values()].filter((term) => {
    const own = here.get(term.value);
    return own !== undefined && (termKey(own.label) !== termKey(term.label) || own.parent !== term.parent);
  });
  const open = isOpenVocabulary({ ...ours, type: ours.field_type }) && theirs.open_vocabulary;
  return [
    ...(missing.length === 0 && added.length === 0
      ? []
      : [
          {
            property: 'terms of one library only',
            ours: termsText(added),
            theirs: termsText(missing),
            // Terms that only we have do not occur in their values, and open vocabularies grow on both sides.
            decisive: missing.length > 0 && !open,
          },
        ]),
    ...(changed.length === 0
      ? []
      : [
          {
            property: 'terms with another name or place',
            ours: termsText(changed.flatMap(({ value }) => here.get(value) ?? [])),
            theirs: termsText(changed),
            decisive: true,
          },
        ]),
  ];
}

const decisive = ['field_type', 'subject_kind'] as const;
const shown = [
  'label',
  'description',
  'required',
  'searchable',
  'open_vocabulary',
  'display_group',
  'display_order',
  'show_on_card',
  'show_in_advanced_search',
  'show_on_upload',
  'edit_tab',
  'regexp_filter',
  'display_condition',
  'default_value',
] as const;
/** Constraints that define the valid values; lengths only limit input. */
const decisiveOptions = ['min', 'max', 'step', 'integer', 'min_items', 'max_items'] as const;
const options = [...decisiveOptions, 'min_length', 'max_length'] as const;

/** Returns JSON that is independent of the order of keys. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(entries));
}

function pair(property: string, ours: unknown, theirs: unknown, isDecisive: boolean): Difference[] {
  const [here, there] = [textOf(ours), textOf(theirs)];
  return here === there ? [] : [{ property, ours: here, theirs: there, decisive: isDecisive }];
}

/** Returns the properties in which a peer's definition differs from the field here with the same code (FED-61). */
export function differencesOf(own: FieldDefinition, theirs: AaFieldDefinition): Difference[] {
  const ours = wireDefinition(own);
  const standing: Difference[] = [
    // Values of peers are never stored in such a field.
    ...(own.status === 'archived'
      ? [{ property: 'status', ours: 'archived', theirs: 'active', decisive: true }]
      : []),
    ...(own.mirrors_column === null
      ? []
      : [{ property: 'mirrors_column', ours: own.mirrors_column, theirs: null, decisive: true }]),
  ];
  const found = [
    ...standing,
    ...decisive.flatMap((name) => pair(name, ours[name], theirs[name], true)),
    ...options.flatMap((name) =>
      pair(
        name,
        ours.options[name],
        theirs.options[name],
        decisiveOptions.some((option) => option === name),
      ),
    ),
    ...termDifferences(ours, theirs),
    ...shown.flatMap((name) => pair(name, ours[name], theirs[name], false)),
  ];
  return found.toSorted((a, b) => Number(b.decisive) - Number(a.decisive));
}

/** Whether the peer's values have the same meaning in the field here. */
export function agrees(own: FieldDefinition | undefined, theirs: AaFieldDefinition): boolean {
  return own !== undefined && !differencesOf(own, theirs).some((difference) => difference.decisive);
}
