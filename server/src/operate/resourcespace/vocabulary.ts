import { type Entry, lowerCased, termKey } from '../../content/fields/vocabulary/terms.ts';
import type { Staging } from './staging.ts';
import { readTranslated } from './texts.ts';

/** The options of a field of ResourceSpace. */
export interface Option {
  node: number;
  label: string;
  /** The label in other languages. */
  others: string[];
  parent: number | null;
  isActive: boolean;
}

export interface Options {
  byNode: ReadonlyMap<number, Option>;
  /** The nodes that a cycle of parents contains; they count as being at the top. */
  cyclic: readonly number[];
}

const DEEPEST = 50;

/** Returns the options from the top down to one; stops at a cycle. */
export function pathOf(options: ReadonlyMap<number, Option>, node: number): Option[] {
  const path: Option[] = [];
  const seen = new Set<number>();
  for (let at: number | null = node; at !== null && !seen.has(at) && path.length < DEEPEST; ) {
    seen.add(at);
    const option: Option | undefined = options.get(at);
    if (option === undefined) break;
    path.unshift(option);
    at = option.parent;
  }
  return path;
}

interface NodeRow {
  ref: number;
  name: string | null;
  parent: number | null;
  active: number | null;
}

/** Reads the options of a field in their order. A parent in another field or in a cycle is none. */
export async function readOptions(staging: Staging, field: number, language: string): Promise<Options> {
  const rows = await staging.query<NodeRow>(
    `select ref, name, parent, active from rs_node where resource_type_field = $1 and ref is not null
     order by order_by nulls first, ref`,
    [field],
  );
  const known = new Set(rows.map(({ ref }) => ref));
  const byNode = new Map<number, Option>();
  for (const { ref, name, parent, active } of rows) {
    const { text, translations } = readTranslated(name ?? '', language);
    byNode.set(ref, {
      node: ref,
      label: text.trim() === '' ? `(option ${ref} without a label)` : text,
      others: [...translations.values()].filter((other) => other !== text && other.trim() !== ''),
      parent: parent !== null && known.has(parent) ? parent : null,
      isActive: active !== 0,
    });
  }
  const cyclic = [...byNode.keys()].filter((node) => isInCycle(byNode, node));
  for (const node of cyclic) {
    const option = byNode.get(node);
    if (option !== undefined) byNode.set(node, { ...option, parent: null });
  }
  return { byNode, cyclic };
}

function isInCycle(options: ReadonlyMap<number, Option>, node: number): boolean {
  const seen = new Set<number>();
  for (let at = options.get(node)?.parent ?? null; at !== null && !seen.has(at); ) {
    if (at === node) return true;
    seen.add(at);
    at = options.get(at)?.parent ?? null;
  }
  return false;
}

const LONGEST_SLUG = 80;
const LONGEST_LABEL = 200;

function slugOf(label: string): string {
  return lowerCased(label)
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, LONGEST_SLUG)
    .toWellFormed()
    .replace(/[-.\ufffd]+$/, '');
}

/** Returns the label of an option in a list: with its path, if the field was a tree. */
function labelInList(options: ReadonlyMap<number, Option>, node: number): string {
  return pathOf(options, node)
    .map(({ label }) => label)
    .join('/');
}

/** Terms for options, parents before children, with the option of each. */
export interface NewTerm {
  node: number;
  entry: Entry;
}

/**
 * Returns the terms of options that have none yet, each with a slug of its own. `slugOfNode` has the terms of an earlier run, and
 * `taken` the keys of the field. A path becomes the label unless `isNested`.
 */
export function termsFor(
  { byNode }: Options,
  isNested: boolean,
  slugOfNode: ReadonlyMap<number, string>,
  taken: Iterable<string>,
): NewTerm[] {
  const slugs = new Map(slugOfNode);
  const keys = new Set(taken);
  const depthOf = (node: number) => pathOf(byNode, node).length;
  const nodes = [...byNode.keys()];
  if (isNested) nodes.sort((a, b) => depthOf(a) - depthOf(b));
  const fresh = nodes.filter((node) => !slugs.has(node));
  const labels = new Map(
    fresh.map((node) => {
      const label = isNested ? (byNode.get(node)?.label ?? '') : labelInList(byNode, node);
      return [node, label.slice(0, LONGEST_LABEL).toWellFormed()];
    }),
  );
  for (const label of labels.values()) keys.add(termKey(label));
  const used = new Set([...slugs.values(), ...taken]);
  return fresh.flatMap((node) => {
    const option = byNode.get(node);
    if (option === undefined) return [];
    const label = labels.get(node) ?? '';
    const plain = slugOf(label);
    const slug = plain === '' || used.has(plain) ? `${plain === '' ? 'option' : plain}-${node}` : plain;
    used.add(slug);
    slugs.set(node, slug);
    keys.add(termKey(slug));
    const aliases = option.others
      .map((other) => lowerCased(other.slice(0, LONGEST_LABEL)))
      .filter((alias) => {
        const key = termKey(alias);
        if (isNested === false && depthOf(node) > 1) return false;
        if (keys.has(key)) return false;
        keys.add(key);
        return true;
      });
    const path = isNested ? pathOf(byNode, node).map((step) => slugs.get(step.node) ?? slug) : [slug];
    const parent = path.length > 1 ? (path.at(-2) ?? null) : null;
    const status = option.isActive ? ('active' as const) : ('deprecated' as const);
    return [
      {
        node,
        entry: { value: slug, label, translations: {}, status, replacedBy: null, aliases, parent, path },
      },
    ];
  });
}
