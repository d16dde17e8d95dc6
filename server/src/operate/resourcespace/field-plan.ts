import type { FieldType } from '@vitrine/contract/field-types';
import type { Field, Installation } from './installation.ts';
import type { Staging } from './staging.ts';
import { readDay, readMoment, readPlainNumber, readTranslated } from './texts.ts';
import { type Options, pathOf, readOptions } from './vocabulary.ts';

/** What a field becomes. */
export interface FieldPlan {
  field: Field;
  code: string;
  label: string;
  type: FieldType;
  isImported: boolean;
  /** The groups whose members read it; null for all. */
  readers: readonly number[] | null;
  /** Whether any value has texts in several languages. */
  hasTranslations: boolean;
}

/** The kinds of fields whose values are options. */
const optionKinds = new Set([2, 3, 7, 9, 12]);
const dateKinds = new Set([4, 6, 10]);
export const TREE = 7;
const DATE_RANGE = 14;
const DEEPEST_TERM = 10;

export const hasOptions = ({ kind }: Field) => optionKinds.has(kind);
export const isRange = ({ kind }: Field) => kind === DATE_RANGE;

/** What the values of a field are like. */
interface Facts {
  longest: number;
  /** The greatest number of values of one resource. */
  several: number;
  areDays: boolean;
  areMoments: boolean;
  areNumbers: boolean;
  hasTranslations: boolean;
}

async function readFacts(
  staging: Staging,
  fields: readonly Field[],
  language: string,
): Promise<Map<number, Facts>> {
  const facts = new Map(
    fields.map(({ ref }) => [
      ref,
      { longest: 0, several: 0, areDays: true, areMoments: true, areNumbers: true, hasTranslations: false },
    ]),
  );
  const counts = await staging.query<{ field: number; several: number }>(`
    select field, max(several) as several from (
      select n.resource_type_field as field, count(*) as several from rs_resource_node x join rs_node n on n.ref = x.node
      group by x.resource, n.resource_type_field) x group by field`);
  for (const { field, several } of counts) {
    const found = facts.get(field);
    if (found !== undefined) found.several = several;
  }
  const texts = fields.filter((field) => !hasOptions(field)).map(({ ref }) => ref);
  const used = `select n.resource_type_field as field, n.name from rs_node n where n.resource_type_field = any('{${texts.join(',')}}')
    and n.name is not null and exists (select from rs_resource_node x where x.node = n.ref)`;
  for await (const rows of staging.batches<{ field: number; name: string }>(used, 2000)) {
    for (const { field, name } of rows) {
      const found = facts.get(field);
      if (found === undefined) continue;
      found.longest = Math.max(found.longest, name.length);
      found.areDays &&= readDay(name) !== null;
      found.areMoments &&= readMoment(name) !== null;
      found.areNumbers &&= readPlainNumber(name) !== null;
      found.hasTranslations ||= readTranslated(name, language).translations.size > 0;
    }
  }
  return facts;
}

const LONGEST_TEXT = 2000;

function typeOfText({ kind, isNumeric }: Field, facts: Facts): FieldType {
  if (kind === 8) return 'rich_text';
  if (dateKinds.has(kind) && facts.areDays && facts.longest > 0) return 'date';
  if (dateKinds.has(kind) && facts.areMoments && facts.longest > 0) return 'datetime';
  if (isNumeric && facts.areNumbers && facts.longest > 0 && facts.several <= 1) return 'number';
  const isShort = (kind === 0 || dateKinds.has(kind) || kind === DATE_RANGE) && facts.longest <= LONGEST_TEXT;
  return isShort && facts.several <= (kind === DATE_RANGE ? 2 : 1) ? 'text' : 'longtext';
}

/** The nodes that were chosen: without ancestors that the system links by itself. */
export function chosenNodes(options: Options, linked: readonly number[], addsParents: boolean): number[] {
  if (!addsParents) return [...linked];
  const parents = new Set(linked.map((node) => options.byNode.get(node)?.parent ?? null));
  return linked.filter((node) => !parents.has(node));
}

async function isPlainTree(
  staging: Staging,
  field: Field,
  options: Options,
  addsParents: boolean,
): Promise<boolean> {
  const nodes = [...options.byNode.keys()];
  if (nodes.some((node) => pathOf(options.byNode, node).length > DEEPEST_TERM)) return false;
  const parents = new Set([...options.byNode.values()].map(({ parent }) => parent));
  const linked = `select x.resource, array_agg(x.node) as nodes from rs_resource_node x join rs_node n on n.ref = x.node
    where n.resource_type_field = ${field.ref} group by x.resource`;
  for await (const rows of staging.batches<{ nodes: number[] }>(linked, 2000)) {
    for (const row of rows) {
      const chosen = chosenNodes(options, row.nodes, addsParents);
      if (chosen.length > 1 || chosen.some((node) => parents.has(node))) return false;
    }
  }
  return true;
}

async function typeOfOptions(
  staging: Staging,
  field: Field,
  facts: Facts,
  installation: Installation,
): Promise<FieldType> {
  if (field.kind === TREE) {
    const options = await readOptions(staging, field.ref, installation.language);
    return (await isPlainTree(staging, field, options, addsParents(installation))) ? 'tree' : 'multi_select';
  }
  const isSingle = field.kind === 3 || field.kind === 12;
  return isSingle && facts.several <= 1 ? 'select' : 'multi_select';
}

export const addsParents = ({ settings }: Installation) => settings.category_tree_add_parents !== false;

function codeOf(field: Field, taken: ReadonlySet<string>): string {
  const plain = (field.name === '' ? field.label : field.name)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 50);
  const code = plain === '' ? `field_${field.ref}` : plain;
  if (!taken.has(code)) return code;
  return taken.has(`rs_${code}`) ? `rs_${code}_${field.ref}` : `rs_${code}`;
}

/** The groups that have accounts. */
export function groupsInUse({ users, groups }: Installation): number[] {
  const refs = new Set(users.flatMap(({ group }) => (group !== null && groups.has(group) ? [group] : [])));
  return [...refs].toSorted((a, b) => a - b);
}

/** A field that the system does not show is read by administrators alone. */
function readersOf(field: Field, installation: Installation): readonly number[] | null {
  if (!field.isActive) return [];
  const used = groupsInUse(installation);
  const readers = used.filter(
    (ref) => installation.groups.get(ref)?.permissions.readsField(field.ref) === true,
  );
  const isOpen = readers.length === used.length;
  return isOpen ? null : readers;
}

/** Proposes what each field becomes. `taken` has the codes of the library's own fields. */
export async function planFields(
  staging: Staging,
  installation: Installation,
  taken: ReadonlySet<string>,
): Promise<FieldPlan[]> {
  const { fields, language } = installation;
  const facts = await readFacts(staging, fields, language);
  const codes = new Set(taken);
  const plans: FieldPlan[] = [];
  for (const field of fields) {
    const own = facts.get(field.ref);
    if (own === undefined) continue;
    const code = codeOf(field, codes);
    codes.add(code);
    plans.push({
      field,
      code,
      label: field.label.slice(0, 200),
      type: hasOptions(field)
        ? await typeOfOptions(staging, field, own, installation)
        : typeOfText(field, own),
      isImported: true,
      readers: readersOf(field, installation),
      hasTranslations: own.hasTranslations && !hasOptions(field),
    });
  }
  return plans;
}
