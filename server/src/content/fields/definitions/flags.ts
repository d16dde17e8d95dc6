import { capabilities } from '@vitrine/contract/capabilities';
import { factsOf, fieldTypes, longestValue } from '@vitrine/contract/field-types';
import type { FieldDefinition } from '@vitrine/contract/fields';
import { extractionSources, patternBounds } from '@vitrine/contract/limits';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { refuse } from '../../../platform/http/refuse.ts';
import {
  type Sentence,
  type SentenceValue,
  sentence,
  verbatim,
} from '../../../platform/language/sentence.ts';

const { characters, steps, work } = patternBounds;

/** Whether the pattern contains an anchor outside of classes, escapes and quotations. */
function hasAnchor(pattern: string): boolean {
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') {
      const quoted = pattern[at + 1] === 'Q' && !inClass;
      const end = quoted ? pattern.indexOf('\\E', at + 2) : at + 1;
      if (end === -1) return false;
      at = quoted ? end + 1 : end;
    } else if (inClass) {
      // `[[:alpha:]^]`: a named class ends with its own bracket.
      const named = pattern.startsWith('[:', at) ? pattern.indexOf(':]', at) : -1;
      if (named !== -1) at = named + 1;
      else if (character === ']') inClass = false;
    } else if (character === '[') {
      inClass = true;
      // `[]a]` and `[^]a]`: a bracket in first position is literal.
      if (pattern[at + 1] === '^') at += 1;
      if (pattern[at + 1] === ']') at += 1;
    } else if (character === '^' || character === '$') return true;
  }
  return false;
}

/**
 * Throws a 400 with the compiler's message when the pattern is not RE2 syntax, and a 400 when matching it could take
 * too long: RE2 needs time proportional to program size times text length.
 */
export function checkPattern(pattern: string, longest: number): void {
  if (pattern.length > characters) throw refuse('pattern-too-long', { max: characters });
  if (hasAnchor(pattern)) {
    throw refuse('pattern-anchored');
  }
  const size = sizeOf(pattern);
  if (size > steps) {
    throw refuse('pattern-too-complex', { steps: size, max: steps });
  }
  if (size * longest > work) {
    throw refuse('pattern-too-complex-for-length', {
      length: longest,
      steps: size,
      max: Math.floor(work / size),
    });
  }
}

/** What the compiler says of a pattern that is not RE2 syntax. */
const syntaxFaults: readonly Sentence[] = [
  sentence('invalid character class range'),
  sentence('invalid escape sequence'),
  sentence('invalid named capture'),
  sentence('invalid or unsupported Perl syntax'),
  sentence('invalid nested repetition operator'),
  sentence('invalid repeat count'),
  sentence('missing closing ]'),
  sentence('missing closing )'),
  sentence('missing argument to repetition operator'),
  sentence('trailing backslash at end of expression'),
  sentence('duplicate capture group name'),
  sentence('unexpected )'),
  sentence('expression nests too deeply'),
  sentence('expression too large'),
];

/** Returns what the compiler says; the words of a fault that is not in the list are as they are. */
function faultOf(error: unknown): Sentence {
  if (!(error instanceof RE2JSSyntaxException)) return verbatim(String(error));
  const [description, part] = [error.getDescription(), error.getPattern()];
  const fault = syntaxFaults.find(({ text }) => text === description) ?? verbatim(description);
  return part === null || part === ''
    ? sentence('error parsing regexp: {fault}', { fault })
    : sentence('error parsing regexp: {fault}: `{part}`', { fault, part });
}

function sizeOf(pattern: string): number {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    throw refuse('pattern-invalid', { reason: faultOf(error) });
  }
}

/** Returns words as `one and other`; null without words. */
export const listedWithAnd = (words: readonly string[]): SentenceValue | null =>
  words.reduce<SentenceValue | null>(
    (one, other) => (one === null ? other : sentence('{one} and {other}', { one, other })),
    null,
  );

/** The columns of a definition that its flags depend on. */
export type Flagged = Pick<
  FieldDefinition,
  | 'code'
  | 'type'
  | 'options'
  | 'subject_kind'
  | 'mirrors_column'
  | 'read_only'
  | 'regexp_filter'
  | 'show_on_card'
  | 'read_capability'
  | 'write_capability'
  | 'edit_tab'
  | 'extraction_source'
>;

/** A field may have a capability of its own for its readers (FIELD-45). */
function checkCapability(name: string, code: string | null, own: string | null = null): void {
  if (code !== null && code !== own && !capabilities.some((known) => known === code)) {
    throw refuse('capability-not-found', { property: name, capability: code });
  }
}

/** Throws a 400 that names the conflicting flags of an updated definition (FIELD-12, FIELD-18, FIELD-19). */
export function checkFlags(field: Flagged): void {
  checkCapability('read_capability', field.read_capability, `fields.read.${field.code}`);
  checkCapability('write_capability', field.write_capability);
  // Everyone who sees an asset sees its card.
  if (field.show_on_card && field.read_capability !== null) {
    throw refuse('card-excludes-read-capability');
  }
  if (field.edit_tab !== null && field.edit_tab.trim() === '') {
    throw refuse('edit-tab-empty');
  }
  if (field.mirrors_column !== null && field.read_only) {
    throw refuse('mirrored-column', { property: 'read_only', column: field.mirrors_column });
  }
  // The asset's own rules apply to a mirrored column, so a capability here would protect nothing.
  if (field.mirrors_column !== null && field.read_capability !== null) {
    throw refuse('mirrored-column', { property: 'read_capability', column: field.mirrors_column });
  }
  if (field.regexp_filter !== null) {
    if (field.mirrors_column !== null) {
      throw refuse('mirrored-column', { property: 'regexp_filter', column: field.mirrors_column });
    }
    if (!factsOf[field.type].takesPattern) {
      const types = listedWithAnd(fieldTypes.filter((type) => factsOf[type].takesPattern)) ?? '';
      throw refuse('pattern-for-other-type', { types, type: field.type });
    }
    checkPattern(field.regexp_filter, longestValue(field.type, field.options));
  }
  if (field.extraction_source !== '') {
    if (!extractionSources.some((known) => known === field.extraction_source)) {
      throw refuse('extraction-source-unknown', { source: field.extraction_source });
    }
    if (field.subject_kind === 'collection') {
      throw refuse('extraction-without-file');
    }
  }
}
