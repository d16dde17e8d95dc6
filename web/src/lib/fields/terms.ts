import { hasVocabulary, holdsSeveral, isNested } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import type { Term } from '@vitrine/contract/vocabulary';
import { inPageLanguage } from '#lib/translations/shown.ts';
import { isCutShort, readVocabulary, type TermNode } from './admin/vocabulary.ts';

/** A term for forms and display. */
export interface KnownTerm extends Pick<Term, 'value' | 'label' | 'path' | 'status'> {
  /** Whether it has narrower terms: only leaves are stored (TERM-5). */
  readonly isBranch: boolean;
}

function flattened(nodes: readonly TermNode[], above: readonly string[]): KnownTerm[] {
  return nodes.flatMap(({ value, label: plain, translations, status, children }) => {
    const label = inPageLanguage(plain, translations);
    const path = [...above, label];
    return [{ value, label, path, status, isBranch: children.length > 0 }, ...flattened(children, path)];
  });
}

/** Returns the terms in a definition, parents before their children. */
export function termsIn({ options }: Pick<FieldDefinition, 'options'>): KnownTerm[] {
  return flattened(readVocabulary(options), []);
}

/** Returns what labels the terms of a field: these labels, else those in its definition, else the slug itself. */
export function labelsOf(
  field: Pick<FieldDefinition, 'options'>,
  ...resolved: readonly ReadonlyMap<string, string>[]
): (term: string) => string {
  const own = new Map(termsIn(field).map(({ value, label }) => [value, label]));
  const known = [...resolved, own];
  return (term) => known.find((labels) => labels.has(term))?.get(term) ?? term;
}

/** The maximum number of terms in a plain list; longer vocabularies are searched. */
const mostInList = 25;

/** Returns whether a vocabulary is short enough for a plain list. */
export function isShortVocabulary({ type, options }: Pick<FieldDefinition, 'type' | 'options'>): boolean {
  const isFlat = hasVocabulary(type) && !holdsSeveral(type) && !isNested(type);
  return isFlat && !isCutShort(options) && readVocabulary(options).length <= mostInList;
}

/** Returns whether the definition contains the whole vocabulary, so that it can be searched locally. */
export function isCompleteVocabulary({ options }: Pick<FieldDefinition, 'options'>): boolean {
  return !isCutShort(options);
}
