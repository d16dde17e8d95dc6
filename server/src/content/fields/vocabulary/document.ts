import { type FieldType, isNested } from '@vitrine/contract/field-types';
import type { TermStatus } from '@vitrine/contract/vocabulary';
import { refuse } from '../../../platform/http/refuse.ts';
import { type Entry, lowerCased, MOST_TERMS, termKey } from './terms.ts';

/** The greatest depth of a tree. */
export const DEEPEST_TERM = 10;

const slugPattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;

/**
 * Returns the text as a term's slug in NFC. Throws a 400 unless it consists of caseless letters of any script,
 * digits, and `.`, `_` or `-` inside.
 */
function checkSlug(given: unknown): string {
  if (typeof given !== 'string' || given === '') throw refuse(400, 'options: a term has no value');
  const value = given.normalize('NFC');
  const fits = value.length <= 100 && slugPattern.test(value) && value === value.toLowerCase();
  if (!fits) {
    throw refuse(
      400,
      `options: "${value.slice(0, 120)}" is not a slug (lower case letters, digits, ".", "_", "-"; at most 100)`,
    );
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readLabel(value: string, label: unknown): string {
  if (label === undefined || label === null) return value;
  if (typeof label !== 'string' || label.trim() === '' || label.length > 200) {
    throw refuse(400, `options: the label of "${value}" is not a text of 1 to 200 characters`);
  }
  return label.normalize('NFC').trim();
}

function readStatus(value: string, status: unknown): TermStatus {
  if (status === undefined || status === null) return 'active';
  if (status === 'active' || status === 'deprecated' || status === 'archived') return status;
  throw refuse(400, `options: the status of "${value}" is not active, deprecated or archived`);
}

/** Returns the aliases of a term in the form of `lowerCased`; throws a 400 when one is empty, too long or repeated. */
export function readAliases(value: string, aliases: unknown): string[] {
  if (aliases === undefined || aliases === null) return [];
  if (!Array.isArray(aliases) || aliases.length > 100) {
    throw refuse(400, `options: the aliases of "${value}" are not a list of at most 100 texts`);
  }
  const read = aliases.map((alias: unknown) => {
    if (typeof alias !== 'string' || alias.trim() === '' || alias.length > 200) {
      throw refuse(400, `options: an alias of "${value}" is not a text of 1 to 200 characters`);
    }
    return lowerCased(alias);
  });
  const keys = read.map(termKey);
  const twice = read.find((_, index) => keys.indexOf(keys[index] ?? '') !== index);
  if (twice !== undefined) throw refuse(400, `options: "${value}" has the alias "${twice}" twice`);
  return read;
}

function readReplacement(value: string, status: TermStatus, given: unknown): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== 'string') throw refuse(400, `options: replaced_by of "${value}" is not a slug`);
  const replacedBy = given.normalize('NFC');
  if (replacedBy === value) throw refuse(400, `options: "${value}" is replaced by itself`);
  if (status === 'active') throw refuse(400, `options: "${value}" is active and has a replaced_by`);
  return replacedBy;
}

const entryKeys = new Set(['value', 'label', 'status', 'replaced_by', 'aliases', 'children']);

interface Place {
  type: FieldType;
  parent: string | null;
  path: readonly string[];
}

function readEntry(raw: unknown, { type, parent, path }: Place): { entry: Entry; children: unknown[] } {
  const given = typeof raw === 'string' ? { value: raw } : raw;
  if (!isObject(given)) throw refuse(400, 'options: a term is neither a slug nor an object');
  const value = checkSlug(given.value);
  const unknown = Object.keys(given).find((key) => !entryKeys.has(key));
  if (unknown !== undefined) throw refuse(400, `options: "${value}" has an unknown property ${unknown}`);
  const status = readStatus(value, given.status);
  const children = given.children ?? [];
  if (!Array.isArray(children)) throw refuse(400, `options: the children of "${value}" are not a list`);
  if (children.length > 0 && !isNested(type)) {
    throw refuse(400, `options: "${value}" has children, which only a tree may have`);
  }
  return {
    entry: {
      value,
      label: readLabel(value, given.label),
      status,
      replacedBy: readReplacement(value, status, given.replaced_by),
      aliases: readAliases(value, given.aliases),
      parent,
      path: [...path, value],
    },
    children,
  };
}

/** Reads a term that is added by itself, below a parent or at the top. */
export function readAddedTerm(
  type: FieldType,
  raw: unknown,
  parent: Pick<Entry, 'value' | 'path'> | null,
): Entry {
  if (parent !== null && !isNested(type)) {
    throw refuse(400, `terms: "${parent.value}" cannot be a parent, which only a tree has`);
  }
  if (parent?.path.length === DEEPEST_TERM) {
    throw refuse(400, `terms: below "${parent.value}" there would be more than ${DEEPEST_TERM} levels`);
  }
  const place = { type, parent: parent?.value ?? null, path: parent?.path ?? [] };
  return readEntry(raw, place).entry;
}

function readList(list: readonly unknown[], place: Place, into: Entry[]): void {
  for (const raw of list) {
    const { entry, children } = readEntry(raw, place);
    into.push(entry);
    if (into.length > MOST_TERMS) throw refuse(400, `options: more than ${MOST_TERMS} terms`);
    if (children.length === 0) continue;
    if (entry.path.length === DEEPEST_TERM) {
      throw refuse(400, `options: "${entry.value}" has children below ${DEEPEST_TERM} levels`);
    }
    readList(children, { ...place, parent: entry.value, path: entry.path }, into);
  }
}

/** Throws a 400 when a slug repeats at any depth, or when an alias equals a slug, a label or another alias. */
export function checkKeys(entries: readonly Entry[]): void {
  const slugs = new Map<string, Entry>();
  for (const entry of entries) {
    if (slugs.has(entry.value)) throw refuse(400, `options: the value "${entry.value}" occurs twice`);
    slugs.set(entry.value, entry);
  }
  const named = new Map(entries.map(({ value }) => [termKey(value), value]));
  const labels = new Map(entries.map((entry) => [termKey(entry.label), entry.value]));
  const aliases = new Map<string, string>();
  for (const { value, aliases: own } of entries) {
    for (const alias of own) {
      const key = termKey(alias);
      const text = `options: the alias "${alias}" of "${value}"`;
      if (named.has(key)) throw refuse(400, `${text} is the value of a term`);
      const labelled = labels.get(key);
      if (labelled !== undefined) throw refuse(400, `${text} is the label of "${labelled}"`);
      const other = aliases.get(key);
      if (other !== undefined) throw refuse(400, `${text} is an alias of "${other}" too`);
      aliases.set(key, value);
    }
  }
}

/** The 400 for a cycle of successors. `way` leads to `value` and back to it. */
export function replacedByItself(member: string, way: readonly string[], value: string) {
  const circle = [...way.slice(way.indexOf(value)), value].join(' > ');
  return refuse(400, `${member}: "${value}" is replaced by itself through a cycle: ${circle}`);
}

/** Throws a 400 when a successor is missing or successors form a cycle. */
export function checkReplacements(replacements: ReadonlyMap<string, string | null>): void {
  const settled = new Set<string>();
  for (const [start, first] of replacements) {
    const way = new Set([start]);
    for (let next = first; next !== null && !settled.has(next); ) {
      const after = replacements.get(next);
      if (after === undefined)
        throw refuse(400, `options: "${start}" is replaced by "${next}", which is not a term`);
      if (way.has(next)) throw replacedByItself('options', [...way], next);
      way.add(next);
      next = after;
    }
    for (const value of way) settled.add(value);
  }
}

/** Reads `options.values`, parents before children. Throws a 400 that names the faulty term. */
export function readVocabulary(type: FieldType, values: unknown): Entry[] {
  if (!Array.isArray(values)) throw refuse(400, 'options: values is not a list');
  const entries: Entry[] = [];
  readList(values, { type, parent: null, path: [] }, entries);
  checkKeys(entries);
  checkReplacements(new Map(entries.map(({ value, replacedBy }) => [value, replacedBy])));
  return entries;
}

export interface StoredTerm {
  value: string;
  label: string;
  status: TermStatus;
  replaced_by: string | null;
  parent: string | null;
  aliases: readonly string[];
}

type Written = string | Record<string, unknown>;

/** Writes a term in its shortest form: a bare slug when it has no other properties. */
function write(term: StoredTerm, children: readonly Written[]): Written {
  const more = {
    ...(term.label === term.value ? {} : { label: term.label }),
    ...(term.status === 'active' ? {} : { status: term.status }),
    ...(term.replaced_by === null ? {} : { replaced_by: term.replaced_by }),
    ...(term.aliases.length === 0 ? {} : { aliases: term.aliases }),
    ...(children.length === 0 ? {} : { children }),
  };
  return Object.keys(more).length === 0 ? term.value : { value: term.value, ...more };
}

/** Writes stored terms as `options.values`, in tree order. */
export function writeVocabulary(terms: readonly StoredTerm[]): Written[] {
  const below = new Map<string | null, StoredTerm[]>();
  for (const term of terms) {
    const siblings = below.get(term.parent);
    if (siblings === undefined) below.set(term.parent, [term]);
    else siblings.push(term);
  }
  const list = (parent: string | null): Written[] =>
    (below.get(parent) ?? []).map((term) => write(term, list(term.value)));
  return list(null);
}
