import { type FieldType, isNested } from '@vitrine/contract/field-types';
import { languages } from '@vitrine/contract/languages';
import type { TermStatus } from '@vitrine/contract/vocabulary';
import { refuse } from '../../../platform/http/refuse.ts';
import { charactersIn } from '../types/characters.ts';
import { type Entry, lowerCased, MOST_TERMS, termKey } from './terms.ts';

/** The greatest depth of a tree. */
export const DEEPEST_TERM = 10;

const slugPattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;

/**
 * Returns the text as a term's slug in NFC. Throws a 400 unless it consists of caseless letters of any script,
 * digits, and `.`, `_` or `-` inside.
 */
function checkSlug(given: unknown): string {
  if (typeof given !== 'string' || given === '') throw refuse('term-without-value');
  const value = given.normalize('NFC');
  const fits = value.length <= 100 && slugPattern.test(value) && value === value.toLowerCase();
  if (!fits) {
    throw refuse('term-not-slug', { value: value.slice(0, 120) });
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readLabel(value: string, label: unknown): string {
  if (label === undefined || label === null) return value;
  if (typeof label !== 'string' || label.trim() === '' || charactersIn(label) > 200) {
    throw refuse('term-label-malformed', { term: value });
  }
  return label.normalize('NFC').trim();
}

const tags: ReadonlySet<string> = new Set(languages);

/** Returns the labels of a term in other languages. Throws for a malformed label and for another language (LANGUAGE-5). */
function readTranslations(value: string, given: unknown): Entry['translations'] {
  if (given === undefined || given === null) return {};
  if (!isObject(given)) throw refuse('term-label-malformed', { term: value });
  const unknown = Object.keys(given).find((tag) => !tags.has(tag));
  if (unknown !== undefined)
    throw refuse('term-property-unknown', { term: value, unknown: `translations.${unknown}` });
  return Object.fromEntries(Object.entries(given).map(([tag, label]) => [tag, readLabel(value, label)]));
}

function readStatus(value: string, status: unknown): TermStatus {
  if (status === undefined || status === null) return 'active';
  if (status === 'active' || status === 'deprecated' || status === 'archived') return status;
  throw refuse('term-status-unknown', { term: value });
}

/** Returns the aliases of a term in the form of `lowerCased`; throws a 400 when one is empty, too long or repeated. */
export function readAliases(value: string, aliases: unknown): string[] {
  if (aliases === undefined || aliases === null) return [];
  if (!Array.isArray(aliases) || aliases.length > 100) {
    throw refuse('aliases-malformed', { term: value });
  }
  const read = aliases.map((alias: unknown) => {
    if (typeof alias !== 'string' || alias.trim() === '' || charactersIn(alias) > 200) {
      throw refuse('alias-malformed', { term: value });
    }
    return lowerCased(alias);
  });
  const keys = read.map(termKey);
  const twice = read.find((_, index) => keys.indexOf(keys[index] ?? '') !== index);
  if (twice !== undefined) throw refuse('alias-repeated', { term: value, alias: twice });
  return read;
}

function readReplacement(value: string, status: TermStatus, given: unknown): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== 'string') throw refuse('successor-malformed', { term: value });
  const replacedBy = given.normalize('NFC');
  if (replacedBy === value) throw refuse('successor-is-itself', { list: 'options', term: value });
  if (status === 'active') throw refuse('successor-of-active', { list: 'options', term: value });
  return replacedBy;
}

const entryKeys = new Set(['value', 'label', 'translations', 'status', 'replaced_by', 'aliases', 'children']);

interface Place {
  type: FieldType;
  parent: string | null;
  path: readonly string[];
}

function readEntry(raw: unknown, { type, parent, path }: Place): { entry: Entry; children: unknown[] } {
  const given = typeof raw === 'string' ? { value: raw } : raw;
  if (!isObject(given)) throw refuse('term-malformed');
  const value = checkSlug(given.value);
  const unknown = Object.keys(given).find((key) => !entryKeys.has(key));
  if (unknown !== undefined) throw refuse('term-property-unknown', { term: value, unknown });
  const status = readStatus(value, given.status);
  const children = given.children ?? [];
  if (!Array.isArray(children)) throw refuse('term-children-malformed', { term: value });
  if (children.length > 0 && !isNested(type)) {
    throw refuse('term-children-not-allowed', { term: value });
  }
  return {
    entry: {
      value,
      label: readLabel(value, given.label),
      translations: readTranslations(value, given.translations),
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
    throw refuse('term-cannot-be-parent', { parent: parent.value });
  }
  if (parent?.path.length === DEEPEST_TERM) {
    throw refuse('term-too-deep', { parent: parent.value, max: DEEPEST_TERM });
  }
  const place = { type, parent: parent?.value ?? null, path: parent?.path ?? [] };
  return readEntry(raw, place).entry;
}

function readList(list: readonly unknown[], place: Place, into: Entry[]): void {
  for (const raw of list) {
    const { entry, children } = readEntry(raw, place);
    into.push(entry);
    if (into.length > MOST_TERMS) throw refuse('too-many-option-terms', { max: MOST_TERMS });
    if (children.length === 0) continue;
    if (entry.path.length === DEEPEST_TERM) {
      throw refuse('term-children-too-deep', { term: entry.value, max: DEEPEST_TERM });
    }
    readList(children, { ...place, parent: entry.value, path: entry.path }, into);
  }
}

/** Throws a 400 when a slug repeats at any depth, or when an alias equals a slug, a label or another alias. */
export function checkKeys(entries: readonly Entry[]): void {
  const slugs = new Map<string, Entry>();
  for (const entry of entries) {
    if (slugs.has(entry.value)) throw refuse('term-repeated', { term: entry.value });
    slugs.set(entry.value, entry);
  }
  const named = new Map(entries.map(({ value }) => [termKey(value), value]));
  const labels = new Map(entries.map((entry) => [termKey(entry.label), entry.value]));
  const aliases = new Map<string, string>();
  for (const { value, aliases: own } of entries) {
    for (const alias of own) {
      const key = termKey(alias);
      if (named.has(key)) throw refuse('alias-is-value', { alias, term: value });
      const labelled = labels.get(key);
      if (labelled !== undefined) throw refuse('alias-is-label', { alias, term: value, other: labelled });
      const other = aliases.get(key);
      if (other !== undefined) throw refuse('alias-is-alias', { alias, term: value, other });
      aliases.set(key, value);
    }
  }
}

/** The 400 for a cycle of successors. `way` leads to `value` and back to it. */
export function replacedByItself(member: string, way: readonly string[], value: string) {
  const circle = [...way.slice(way.indexOf(value)), value].join(' > ');
  return refuse('successor-in-cycle', { list: member, term: value, cycle: circle });
}

/** Throws a 400 when a successor is missing or successors form a cycle. */
export function checkReplacements(replacements: ReadonlyMap<string, string | null>): void {
  const settled = new Set<string>();
  for (const [start, first] of replacements) {
    const way = new Set([start]);
    for (let next = first; next !== null && !settled.has(next); ) {
      const after = replacements.get(next);
      if (after === undefined)
        throw refuse('successor-not-found', { list: 'options', term: start, successor: next });
      if (way.has(next)) throw replacedByItself('options', [...way], next);
      way.add(next);
      next = after;
    }
    for (const value of way) settled.add(value);
  }
}

/** Reads `options.values`, parents before children. Throws a 400 that names the faulty term. */
export function readVocabulary(type: FieldType, values: unknown): Entry[] {
  if (!Array.isArray(values)) throw refuse('vocabulary-not-list');
  const entries: Entry[] = [];
  readList(values, { type, parent: null, path: [] }, entries);
  checkKeys(entries);
  checkReplacements(new Map(entries.map(({ value, replacedBy }) => [value, replacedBy])));
  return entries;
}

export interface StoredTerm {
  value: string;
  label: string;
  translations: Entry['translations'];
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
    ...(Object.keys(term.translations).length === 0 ? {} : { translations: term.translations }),
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
