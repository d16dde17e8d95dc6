import type { FieldDefinition } from '@vitrine/contract/fields';
import type { Term } from '@vitrine/contract/vocabulary';
import { isCutShort, readVocabulary, type TermNode } from './admin/vocabulary.ts';

/** A term as a form offers and shows it. */
export interface KnownTerm extends Pick<Term, 'value' | 'label' | 'path' | 'status'> {
  /** Whether there are terms below it: what is stored is a leaf (TERM-5). */
  readonly isBranch: boolean;
}

function flattened(nodes: readonly TermNode[], above: readonly string[]): KnownTerm[] {
  return nodes.flatMap(({ value, label, status, children }) => {
    const path = [...above, label];
    return [{ value, label, path, status, isBranch: children.length > 0 }, ...flattened(children, path)];
  });
}

/** The terms that a definition carries, parents before what is below them. */
export function termsIn({ options }: Pick<FieldDefinition, 'options'>): KnownTerm[] {
  return flattened(readVocabulary(options), []);
}

/** How many terms stand in a plain list; more are looked for by typing. */
const mostInList = 25;

/** Whether a vocabulary is short enough to choose from a plain list. */
export function isShortVocabulary({ type, options }: Pick<FieldDefinition, 'type' | 'options'>): boolean {
  return type === 'select' && !isCutShort(options) && readVocabulary(options).length <= mostInList;
}

/** Whether all of a vocabulary is in the definition, so that it can be looked through without asking. */
export function isCompleteVocabulary({ options }: Pick<FieldDefinition, 'options'>): boolean {
  return !isCutShort(options);
}
