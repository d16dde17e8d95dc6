import type { FieldOptions } from '@vitrine/contract/fields';
import { languages } from '@vitrine/contract/languages';
import type { TermStatus } from '@vitrine/contract/vocabulary';
import type { Translations } from '#lib/translations/written.ts';

/** A term with its children, as in the definition (TERM-1). */
export interface TermNode {
  readonly value: string;
  readonly label: string;
  readonly translations: Translations;
  readonly status: TermStatus;
  readonly replacedBy: string | undefined;
  readonly aliases: readonly string[];
  readonly children: readonly TermNode[];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readTranslations(given: unknown): Translations {
  if (!isRecord(given)) return {};
  const texts = languages.map((tag) => [tag, given[tag]] as const);
  return Object.fromEntries(texts.filter(([, text]) => typeof text === 'string'));
}

function readNode(raw: unknown): TermNode[] {
  const given = typeof raw === 'string' ? { value: raw } : raw;
  if (!isRecord(given) || typeof given.value !== 'string') return [];
  const { value, label, translations, status, replaced_by, aliases, children } = given;
  return [
    {
      value,
      label: typeof label === 'string' ? label : value,
      translations: readTranslations(translations),
      status: status === 'deprecated' || status === 'archived' ? status : 'active',
      replacedBy: typeof replaced_by === 'string' ? replaced_by : undefined,
      aliases: Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === 'string') : [],
      children: readNodes(children),
    },
  ];
}

function readNodes(values: unknown): TermNode[] {
  return Array.isArray(values) ? values.flatMap(readNode) : [];
}

/** Returns the vocabulary in a field's options. */
export function readVocabulary(options: FieldOptions): TermNode[] {
  return readNodes(options.values);
}

/** Returns whether the definition contains only the beginning of its vocabulary; the rest is searched. */
export function isCutShort(options: FieldOptions): boolean {
  return options.truncated === true;
}

/** A row of the list with its position. */
export interface TermLine {
  readonly node: TermNode;
  readonly depth: number;
  readonly parent: string | null;
  readonly index: number;
  /** The number of terms with the same parent. */
  readonly count: number;
}

/** Returns the visible rows: the top level, and the children of expanded terms. */
export function linesOf(
  nodes: readonly TermNode[],
  isOpen: (value: string) => boolean,
  depth = 0,
  parent: string | null = null,
): TermLine[] {
  return nodes.flatMap((node, index) => {
    const line = { node, depth, parent, index, count: nodes.length };
    return isOpen(node.value) ? [line, ...linesOf(node.children, isOpen, depth + 1, node.value)] : [line];
  });
}

/** The target of a move: the index among the children of `parent`, not counting the term itself. */
export interface Move {
  readonly value: string;
  readonly parent: string | null;
  readonly index: number;
}

function without(nodes: readonly TermNode[], value: string): TermNode[] {
  return nodes
    .filter((node) => node.value !== value)
    .map((node) => ({ ...node, children: without(node.children, value) }));
}

function withNode(
  nodes: readonly TermNode[],
  added: TermNode,
  { parent, index }: Move,
  at: string | null,
): TermNode[] {
  const deeper = nodes.map((node) => ({
    ...node,
    children: withNode(node.children, added, { value: added.value, parent, index }, node.value),
  }));
  return at === parent ? [...deeper.slice(0, index), added, ...deeper.slice(index)] : deeper;
}

export function findTerm(nodes: readonly TermNode[], value: string): TermNode | undefined {
  for (const node of nodes) {
    const found = node.value === value ? node : findTerm(node.children, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns whether a term may be moved there; not below itself. */
export function mayMove(nodes: readonly TermNode[], { value, parent }: Move): boolean {
  const node = findTerm(nodes, value);
  return (
    node !== undefined &&
    (parent === null || (parent !== value && findTerm(node.children, parent) === undefined))
  );
}

/** Returns the vocabulary with a term and its descendants moved. */
export function moved(nodes: readonly TermNode[], move: Move): readonly TermNode[] {
  const node = findTerm(nodes, move.value);
  return node === undefined ? nodes : withNode(without(nodes, move.value), node, move, null);
}

/** Returns the target of an arrow key; undefined if the term cannot move further. */
export function moveByKey(lines: readonly TermLine[], value: string, key: string): Move | undefined {
  const line = lines.find(({ node }) => node.value === value);
  if (line === undefined) return undefined;
  const { parent, index, count } = line;
  if (key === 'ArrowUp') return index === 0 ? undefined : { value, parent, index: index - 1 };
  if (key === 'ArrowDown') return index === count - 1 ? undefined : { value, parent, index: index + 1 };
  if (key === 'ArrowRight') {
    const before = lines.find((sibling) => sibling.parent === parent && sibling.index === index - 1);
    return before && { value, parent: before.node.value, index: before.node.children.length };
  }
  const above = lines.find(({ node }) => node.value === parent);
  return key === 'ArrowLeft' && above ? { value, parent: above.parent, index: above.index + 1 } : undefined;
}

/** Returns the target of a drop: beside a row, or below it. */
export function moveByDrop(
  lines: readonly TermLine[],
  value: string,
  { key, zone }: { readonly key: string; readonly zone: 'before' | 'inside' | 'after' },
): Move | undefined {
  const from = lines.find(({ node }) => node.value === value);
  const at = lines.find(({ node }) => node.value === key);
  if (from === undefined || at === undefined || key === value) return undefined;
  if (zone === 'inside') return { value, parent: key, index: at.node.children.length };
  // The term itself does not count among its siblings.
  const ahead = from.parent === at.parent && from.index < at.index ? 1 : 0;
  const index = at.index - ahead + (zone === 'after' ? 1 : 0);
  return from.parent === at.parent && from.index === index ? undefined : { value, parent: at.parent, index };
}

/** Derives a term's slug from its label: lower-case letters of any script, digits, and hyphens between them. */
export function slugOf(label: string): string {
  return label
    .normalize('NFKD')
    .replace(/\p{Diacritic}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^[-\p{M}]+|-+$/gu, '')
    .slice(0, 100)
    .replace(/-+$/, '');
}

export interface PastedTerm {
  value: string;
  label: string;
  parent?: string;
}

export interface Pasted {
  readonly terms: readonly PastedTerm[];
  /** Explains why the lines cannot be sent. */
  readonly problem: string | undefined;
}

function depthOf(line: string): number {
  const [blank = ''] = /^[\t ]*/.exec(line) ?? [];
  return [...blank].reduce((depth, character) => depth + (character === '\t' ? 2 : 1), 0);
}

/**
 * Parses pasted lines, one term each: a label, or a label and a slug separated by a bar. In a tree, an indented line
 * is a child of the line before it.
 */
export function readPasted(text: string, { nests, below }: { nests: boolean; below: string | null }): Pasted {
  const terms: PastedTerm[] = [];
  const seen = new Set<string>();
  const above: { depth: number; value: string }[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const [label = '', given] = line.split('|').map((part) => part.trim());
    const value = given === undefined || given === '' ? slugOf(label) : given.toLowerCase();
    if (label === '' || value === '')
      return { terms, problem: `Line ${at + 1} has no letter or digit to make a short name of.` };
    if (seen.has(value)) return { terms, problem: `Line ${at + 1}: “${value}” occurs twice.` };
    seen.add(value);
    const depth = depthOf(line);
    while ((above.at(-1)?.depth ?? -1) >= depth) above.pop();
    const parent = nests ? (above.at(-1)?.value ?? below) : null;
    terms.push({ value, label, ...(parent === null ? {} : { parent }) });
    above.push({ depth, value });
  }
  return { terms, problem: undefined };
}

/** The maximum number of terms per request. */
const MOST_AT_ONCE = 5000;

/** Splits the terms into batches for requests, parents before their children. */
export function inParts(terms: readonly PastedTerm[]): PastedTerm[][] {
  const parts: PastedTerm[][] = [];
  for (let at = 0; at < terms.length; at += MOST_AT_ONCE) parts.push(terms.slice(at, at + MOST_AT_ONCE));
  return parts;
}

/** Parses typed aliases, separated by line breaks or commas. */
export function readAliases(text: string): string[] {
  return [...new Set(text.split(/[\n,]/).flatMap((entry) => entry.trim().toLowerCase() || []))];
}
