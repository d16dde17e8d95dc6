/** Properties as the service names them, and as the pages do. */
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

/** What a refusal is about: the first property the service names. */
function subjectOf(problem: string | undefined): string | undefined {
  if (problem === undefined) return undefined;
  if (/^there is a field with the code/i.test(problem)) return 'code';
  const [first] = /^[a-z_]+/i.exec(problem) ?? [];
  return first?.toLowerCase();
}

/** A refusal with the names people see; everything else as the service says it. */
export function inWords(problem: string): string {
  // What stands in quotes was typed by somebody.
  const text = problem.replace(/"[^"]*"|[A-Za-z]+(?:_[a-z]+)+/g, (word) => names[word.toLowerCase()] ?? word);
  const [first = '', ...rest] = text;
  return first.toLocaleUpperCase() + rest.join('');
}

/** A refusal taken to the controls of a form. */
export interface Refusal {
  /** What to say beside the control of one of these properties. */
  about(...properties: readonly string[]): string | undefined;
  /** What to say below the form: a refusal about none of them. */
  beside(...properties: readonly string[]): string | undefined;
}

/** The refusal of a form's last attempt. */
export function refusalOf(problem: string | undefined): Refusal {
  const subject = subjectOf(problem);
  const text = problem === undefined ? undefined : inWords(problem);
  const isAbout = (properties: readonly string[]) => subject !== undefined && properties.includes(subject);
  return {
    about: (...properties) => (isAbout(properties) ? text : undefined),
    beside: (...properties) => (isAbout(properties) ? undefined : text),
  };
}
