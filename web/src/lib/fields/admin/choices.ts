import { hasVocabulary } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { isCutShort, linesOf, readVocabulary } from './vocabulary.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/**
 * Returns the terms of a controlling field to choose from; undefined if the value is typed because there are too
 * many.
 */
export function choicesOf(field: FieldDefinition): readonly Choice[] | undefined {
  if (!hasVocabulary(field.type) || isCutShort(field.options)) return undefined;
  return linesOf(readVocabulary(field.options), () => true)
    .filter(({ node }) => node.status !== 'archived')
    .map(({ node, depth }) => ({ value: node.value, label: `${'\u2003'.repeat(depth)}${node.label}` }));
}
