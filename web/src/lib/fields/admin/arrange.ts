import type { FieldDefinition, SubjectKind } from '@vitrine/contract/fields';

export interface Group {
  /** Identifies the group among all groups. */
  readonly key: string;
  readonly subject: SubjectKind;
  readonly tab: string | null;
  readonly name: string;
  readonly fields: readonly FieldDefinition[];
}

interface Tab {
  readonly name: string | null;
  readonly groups: readonly Group[];
}

export interface Subject {
  readonly kind: SubjectKind;
  readonly tabs: readonly Tab[];
}

type Placed = Pick<FieldDefinition, 'display_order' | 'code'>;

/** Display order, as in the service. */
function inOrder(a: Placed, b: Placed): number {
  if (a.display_order !== b.display_order) return a.display_order - b.display_order;
  return a.code < b.code ? -1 : 1;
}

/** Groups items by a key, each key at the position of its first item. */
function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): [K, T[]][] {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const own = groups.get(keyOf(item));
    if (own === undefined) groups.set(keyOf(item), [item]);
    else own.push(item);
  }
  return [...groups];
}

export function keyOfGroup({
  subject_kind,
  edit_tab,
  display_group,
}: Pick<FieldDefinition, 'subject_kind' | 'edit_tab' | 'display_group'>): string {
  return JSON.stringify([subject_kind, edit_tab, display_group]);
}

/** Groups definitions by subject, tab and group; tabs and groups are at the position of their first field. */
export function arrange(fields: readonly FieldDefinition[]): Subject[] {
  const ordered = [...fields].sort(inOrder);
  const kinds: readonly SubjectKind[] = ['asset', 'collection'];
  return kinds.flatMap((kind) => {
    const own = ordered.filter((field) => field.subject_kind === kind);
    if (own.length === 0) return [];
    const tabs = groupBy(own, (field) => field.edit_tab).map(([tab, inTab]) => ({
      name: tab,
      groups: groupBy(inTab, (field) => field.display_group).map(([name, inGroup]) => ({
        key: JSON.stringify([kind, tab, name]),
        subject: kind,
        tab,
        name,
        fields: inGroup,
      })),
    }));
    return [{ kind, tabs }];
  });
}

/** Returns the definitions whose name or code contains the search text. */
export function found(fields: readonly FieldDefinition[], text: string): FieldDefinition[] {
  const wanted = text.trim().toLowerCase();
  return fields.filter(
    ({ label, code }) => label.toLowerCase().includes(wanted) || code.includes(wanted.replaceAll(' ', '_')),
  );
}

const STEP = 10;

/**
 * Returns the display orders to write so that a field is at `index` among `others`, with the rest of its group in
 * order: a single one if there is an integer between its neighbours, otherwise the whole group is renumbered.
 */
export function ordersFor(
  others: readonly (Placed & { id: string })[],
  moved: Placed & { id: string },
  index: number,
): ReadonlyMap<string, number> {
  const before = others[index - 1];
  const after = others[index];
  const between = orderBetween(before?.display_order, after?.display_order);
  if (between !== undefined) return new Map([[moved.id, between]]);
  const list = [...others.slice(0, index), moved, ...others.slice(index)];
  const first = Math.min(...list.map((field) => field.display_order));
  const wanted = list.map((field, at) => ({ field, order: first + at * STEP }));
  return new Map(
    wanted
      .filter(({ field, order }) => field.display_order !== order)
      .map(({ field, order }) => [field.id, order]),
  );
}

function orderBetween(low: number | undefined, high: number | undefined): number | undefined {
  if (low === undefined && high === undefined) return 100;
  if (low === undefined) return high === undefined ? undefined : high - STEP;
  if (high === undefined) return low + STEP;
  const middle = Math.floor((low + high) / 2);
  return middle > low && middle < high ? middle : undefined;
}
