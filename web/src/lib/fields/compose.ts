import type { FieldDefinition } from '@vitrine/contract/fields';

type Placed = Pick<FieldDefinition, 'code' | 'display_order' | 'display_group' | 'edit_tab'>;

export interface FieldGroup<F> {
  readonly name: string;
  readonly fields: readonly F[];
}

export interface FieldTab<F> {
  /** Null for fields without a tab (FIELD-15). */
  readonly name: string | null;
  readonly groups: readonly FieldGroup<F>[];
}

function inOrder<F extends Placed>(fields: readonly F[]): F[] {
  return fields.toSorted((a, b) => a.display_order - b.display_order || (a.code < b.code ? -1 : 1));
}

/** Groups fields, each group at the position of its first field. */
export function groupsOf<F extends Placed>(fields: readonly F[]): FieldGroup<F>[] {
  const groups = Map.groupBy(inOrder(fields), (field) => field.display_group);
  return [...groups].map(([name, members]) => ({ name, fields: members }));
}

/** Groups fields by tab and group; those without a tab come first. */
export function tabsOf<F extends Placed>(fields: readonly F[]): FieldTab<F>[] {
  const tabs = Map.groupBy(inOrder(fields), (field) => field.edit_tab);
  const without = tabs.get(null);
  const named = [...tabs].filter(([name]) => name !== null);
  const all: [string | null, F[]][] = without === undefined ? named : [[null, without], ...named];
  return all.map(([name, inTab]) => ({ name, groups: groupsOf(inTab) }));
}

/** The headings of the groups of a new library, in the language of the page. */
const seededHeadings: ReadonlyMap<string, string> = new Map([
  ['general', 'General'],
  ['rights', 'Rights'],
  ['capture', 'Capture'],
  ['place', 'Place'],
  ['file', 'File'],
]);

/** Formats the name of a group or tab as a heading: `rights_and_use` is "Rights and use". */
export function headingOf(name: string): string {
  const seeded = seededHeadings.get(name);
  if (seeded !== undefined) return seeded;
  const [first = '', ...rest] = name.replaceAll('_', ' ').trim();
  return first.toLocaleUpperCase() + rest.join('');
}
