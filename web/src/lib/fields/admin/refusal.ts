import { CallError } from '@vitrine/contract/client';
import { phrase } from '#lib/languages/phrase.ts';
import { problemText } from '#lib/problems.ts';

/** Names of properties in the service and their labels on the pages. */
const names: Readonly<Record<string, string>> = {
  applies_to: phrase('the types of asset'),
  clear_default: phrase('no default'),
  default_value: phrase('the default'),
  deprecated_replacement_id: phrase('the replacement'),
  display_condition: phrase('the condition'),
  display_group: phrase('the group'),
  display_order: phrase('the order'),
  edit_tab: phrase('the tab'),
  extraction_mode: phrase('the way it is written'),
  extraction_source: phrase('the source'),
  max_items: phrase('“At most”'),
  max_length: phrase('“Longest”'),
  min_items: phrase('“At least”'),
  min_length: phrase('“Shortest”'),
  mirrors_column: phrase('a mirrored column'),
  read_capability: phrase('“Who may read it”'),
  read_only: phrase('“Read-only”'),
  regexp_filter: phrase('the pattern'),
  replaced_by: phrase('a successor'),
  show_in_advanced_search: phrase('“In advanced search”'),
  show_on_card: phrase('“On cards”'),
  show_on_upload: phrase('“When uploading”'),
  write_capability: phrase('“Who may write it”'),
};

/** What errors of terms are about, whether they are sent alone or with the field. */
export const termProperties = [
  'terms',
  'options',
  'value',
  'label',
  'aliases',
  'status',
  'replaced_by',
  'parent',
] as const;

/** Returns an error text with labels instead of property names. */
export function labelledProblem(problem: string): string {
  // Quoted text was typed by a user.
  const text = problem.replace(/"[^"]*"|[A-Za-z]+(?:_[a-z]+)+/g, (word) => names[word.toLowerCase()] ?? word);
  const [first = '', ...rest] = text;
  return first.toLocaleUpperCase() + rest.join('');
}

/** Assigns an error to the controls of a form. */
export interface Refusal {
  /** Returns the error to show beside the control of one of these properties. */
  about(...properties: readonly string[]): string | undefined;
  /** Returns the error to show below the form, if it concerns none of these properties. */
  beside(...properties: readonly string[]): string | undefined;
}

/** Returns the error of a form's last attempt; undefined without one. */
export function refusalOf(error: unknown): Refusal {
  const property = error instanceof CallError ? error.params?.property : undefined;
  // The control beside which it appears says which list is meant.
  const text =
    error === undefined
      ? undefined
      : labelledProblem(problemText(error).replace(/^(?:terms|options|source|target): /i, ''));
  const isAbout = (properties: readonly string[]) => properties.some((name) => name === property);
  return {
    about: (...properties) => (isAbout(properties) ? text : undefined),
    beside: (...properties) => (isAbout(properties) ? undefined : text),
  };
}

/** Returns the name that cannot be given because another term has it; undefined for other errors. */
export function takenNameIn(error: unknown): string | undefined {
  if (!(error instanceof CallError)) return undefined;
  const isTaken =
    error.code === 'term-is-alias' || error.code === 'term-is-label' || error.code === 'term-is-value';
  return isTaken ? String(error.params?.name ?? '') : undefined;
}

/** Returns whether an error is about this term of a condition. The service shortens long ones. */
export function isAboutTerm(error: unknown, text: string): boolean {
  const term = error instanceof CallError ? error.params?.term : undefined;
  return term !== undefined && text.startsWith(String(term));
}
