import type { Term, TermStatus } from '@vitrine/contract/vocabulary';
import type { Translations } from '#lib/translations/written.ts';
import type { TermNode } from './vocabulary.ts';

/** A term that is displayed, from any list. */
export interface OpenTerm {
  readonly value: string;
  readonly label: string;
  readonly translations: Translations;
  readonly status: TermStatus;
  readonly aliases: readonly string[];
  readonly replacedBy: string | undefined;
  /** Labels from the root to the term, if known. */
  readonly path: readonly string[];
}

export function fromNode({ value, label, translations, status, aliases, replacedBy }: TermNode): OpenTerm {
  return { value, label, translations, status, aliases, replacedBy, path: [label] };
}

export function fromTerm({
  value,
  label,
  translations = {},
  status,
  aliases = [],
  replaced_by,
  path,
}: Term): OpenTerm {
  return { value, label, translations, status, aliases, replacedBy: replaced_by, path };
}
