/** Names of properties in the service and their labels on the pages. */
const names: Readonly<Record<string, string>> = {
  applies_to: 'the types of asset',
  clear_default: 'no default',
  default_value: 'the default',
  deprecated_replacement_id: 'the replacement',
  display_condition: 'the condition',
  display_group: 'the group',
  display_order: 'the order',
  edit_tab: 'the tab',
  extraction_mode: 'the way it is written',
  extraction_source: 'the source',
  max_items: '“At most”',
  max_length: '“Longest”',
  min_items: '“At least”',
  min_length: '“Shortest”',
  mirrors_column: 'a mirrored column',
  read_capability: '“Who may read it”',
  read_only: '“Read-only”',
  regexp_filter: 'the pattern',
  replaced_by: 'a successor',
  show_in_advanced_search: '“In advanced search”',
  show_on_card: '“On cards”',
  show_on_upload: '“When uploading”',
  write_capability: '“Who may write it”',
};

/** Returns the subject of an error: the first property that it names. */
function subjectOf(problem: string | undefined): string | undefined {
  if (problem === undefined) return undefined;
  if (/^there is a field with the code/i.test(problem)) return 'code';
  const [first] = /^[a-z_]+/i.exec(problem) ?? [];
  return first?.toLowerCase();
}

/** Replaces property names in an error text by labels. */
export function inWords(problem: string): string {
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

/** Returns the error of a form's last attempt. */
export function refusalOf(problem: string | undefined): Refusal {
  const subject = subjectOf(problem);
  const text = problem === undefined ? undefined : inWords(problem);
  const isAbout = (properties: readonly string[]) => subject !== undefined && properties.includes(subject);
  return {
    about: (...properties) => (isAbout(properties) ? text : undefined),
    beside: (...properties) => (isAbout(properties) ? undefined : text),
  };
}
