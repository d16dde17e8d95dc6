import { type Static, Type } from 'typebox';
import { defaultErrors, newTermErrors, readValueErrors, termErrors } from './errors/groups.ts';
import { FieldStatus, LabelTranslations, Translations } from './fields.ts';
import { operation } from './operation.ts';
import { Count, closed, nullable, Uuid } from './values.ts';

/** The vocabulary of a field: listing, creating, changing and merging its terms. */

const admin = { holds: 'fields.admin' } as const;
const idParams = closed({ id: Uuid });
const removal = Type.Optional(nullable(Type.Boolean()));

/** TERM-2: the status of a term. */
export const TermStatus = FieldStatus;
export type TermStatus = Static<typeof TermStatus>;

/** A term in a list. `path` contains the labels from the root to the term. */
export const Term = closed({
  value: Type.String(),
  label: Type.String(),
  /** The label in other languages; absent without any. */
  translations: Type.Optional(Translations),
  path: Type.Array(Type.String()),
  status: TermStatus,
  replaced_by: Type.Optional(Type.String()),
  aliases: Type.Optional(Type.Array(Type.String())),
});
export type Term = Static<typeof Term>;

export const Vocabulary = closed({
  values: Type.Array(Term),
  /** The number of matching terms, of which `returned` are in this response. */
  matched: Count,
  returned: Count,
  limit: Type.Integer(),
  truncated: Type.Boolean(),
  /** The number of terms of the field in any status. */
  vocabulary_size: Count,
  open_vocabulary: Type.Boolean(),
  /** True if the caller may create a term by using it in a value. */
  can_extend: Type.Boolean(),
});
export type Vocabulary = Static<typeof Vocabulary>;

/** TERM-13: the response for offering values. */
export const listFieldValues = operation({
  id: 'listFieldValues',
  method: 'GET',
  path: '/fields/{id}/values',
  tag: 'Fields',
  summary: 'List the terms of a field',
  description:
    'Offers terms of a vocabulary: exact matches first, then prefixes, then substrings. Only active terms are offered unless `status` says otherwise. Returns 400 for a field of a type without a vocabulary.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed({
    q: Type.Optional(Type.String({ maxLength: 200 })),
    match: Type.Optional(Type.Enum(['prefix', 'substring'])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    status: Type.Optional(Type.Enum(['active', 'deprecated', 'archived', 'any'])),
  }),
  replica: true,
  responses: { 200: Vocabulary },
  errors: ['field-without-vocabulary', 'not-found'],
});

const Slug = Type.String({ minLength: 1, maxLength: 100 });
const TermLabel = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const Aliases = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 });

export const addFieldTerms = operation({
  id: 'addFieldTerms',
  method: 'POST',
  path: '/fields/{id}/terms',
  tag: 'Fields',
  summary: 'Add terms to a field',
  description: 'Appends up to 5,000 terms to the vocabulary. Returns 409 if a slug exists.',
  door: admin,
  scope: 'fields.admin',
  params: idParams,
  example: { terms: ['harbour', { value: 'lighthouse', label: 'Lighthouse', aliases: ['beacon'] }] },
  body: closed({
    terms: Type.Array(
      Type.Union([
        Type.String({ minLength: 1, maxLength: 100 }),
        closed({
          value: Slug,
          label: Type.Optional(TermLabel),
          translations: Type.Optional(LabelTranslations),
          status: Type.Optional(TermStatus),
          aliases: Type.Optional(Aliases),
          replaced_by: Type.Optional(Slug),
          parent: Type.Optional(Slug),
        }),
      ]),
      { minItems: 1, maxItems: 5000 },
    ),
  }),
  responses: { 201: closed({ added: Count, vocabulary_size: Count }) },
  errors: [
    ...readValueErrors,
    ...defaultErrors,
    ...termErrors,
    ...newTermErrors,
    'default-of-team-invalid',
    'field-without-vocabulary',
    'not-found',
    'parent-not-found-before',
    'term-cannot-be-parent',
    'term-exists',
    'term-is-alias',
    'term-is-label',
    'term-is-value',
    'term-too-deep',
    'too-many-terms',
  ],
});

export const updateFieldTerm = operation({
  id: 'updateFieldTerm',
  method: 'PATCH',
  path: '/fields/{id}/terms/{value}',
  tag: 'Fields',
  summary: 'Change a term',
  description:
    'Changes the label, status, aliases, successor or position of one term. The slug cannot change. Returns 409 while the values of the term are being merged.',
  door: admin,
  scope: 'fields.admin',
  params: closed({ id: Uuid, value: Slug }),
  example: { label: 'Harbour', aliases: ['harbor'] },
  body: closed({
    label: Type.Optional(nullable(TermLabel)),
    /** Replaces all translations; an empty object removes them. */
    translations: Type.Optional(nullable(LabelTranslations)),
    status: Type.Optional(nullable(TermStatus)),
    aliases: Type.Optional(nullable(Aliases)),
    replaced_by: Type.Optional(nullable(Slug)),
    clear_replaced_by: removal,
    parent: Type.Optional(nullable(Slug)),
    /** Moves the term to the top level of the tree. */
    clear_parent: removal,
    /** The position among the terms with the same parent, starting at 0. */
    position: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }))),
  }),
  responses: { 200: Term },
  errors: [
    ...readValueErrors,
    ...defaultErrors,
    ...termErrors,
    'default-of-team-invalid',
    'exclusive-properties',
    'field-without-vocabulary',
    'merge-in-progress',
    'not-found',
    'parent-below-itself',
    'parent-not-found',
    'parents-only-in-trees',
    'term-is-alias',
    'term-is-label',
    'term-is-value',
    'terms-too-deep',
  ],
});

/** Values that a job still moves (TERM-19). The list of jobs shows its progress. */
export const MergeRun = closed({
  id: Type.String({ format: 'uuid' }),
  /** Values that are moved already, and in total. */
  done: Count,
  total: Count,
});
export type MergeRun = Static<typeof MergeRun>;

export const mergeFieldTerms = operation({
  id: 'mergeFieldTerms',
  method: 'POST',
  path: '/fields/{id}/values/merge',
  tag: 'Fields',
  summary: 'Merge two terms',
  description:
    'Moves values, aliases, defaults and conditions from `source` to `target` and keeps `source` as a tombstone. `dry_run` only counts. With more than 1,000 values, a job moves them in steps, and `run` is present. Returns 400 if the source has children or the target is archived.',
  door: { holds: 'fields.vocabulary.merge' },
  scope: 'fields.admin',
  params: idParams,
  example: { source: 'harbor', target: 'harbour', reason: 'One spelling for all.', dry_run: true },
  body: closed({
    source: Slug,
    target: Slug,
    reason: Type.String({ minLength: 3, maxLength: 500, pattern: '\\S' }),
    dry_run: Type.Optional(Type.Boolean()),
  }),
  responses: {
    200: closed({
      source: Type.String(),
      target: Type.String(),
      dry_run: Type.Boolean(),
      /** Values that were moved or would be. */
      assets: Count,
      collections: Count,
      aliases: Count,
      /** Defaults and display conditions that refer to the source. */
      defaults: Count,
      conditions: Count,
      /** Only present if values are still being moved. */
      run: Type.Optional(MergeRun),
    }),
  },
  errors: [
    'field-without-vocabulary',
    'merge-into-archived',
    'merge-into-itself',
    'merge-into-parent',
    'merge-into-replaced',
    'merge-of-merged',
    'merge-of-parent',
    'merge-term-not-found',
    'not-found',
  ],
});
