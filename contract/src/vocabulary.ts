import { type Static, Type } from 'typebox';
import { FieldStatus } from './fields.ts';
import { operation } from './operation.ts';
import { Count, closed, nullable, Uuid } from './values.ts';

/** The vocabulary of a field: its terms, how they are offered, made, changed and merged. */

const admin = { holds: 'fields.admin' } as const;
const idParams = closed({ id: Uuid });
const removal = Type.Optional(nullable(Type.Boolean()));

/** TERM-2: the life of a term. */
export const TermStatus = FieldStatus;
export type TermStatus = Static<typeof TermStatus>;

/** One term as it is offered; `path` is the labels from the root down to the term. */
export const Term = closed({
  value: Type.String(),
  label: Type.String(),
  path: Type.Array(Type.String()),
  status: TermStatus,
  replaced_by: Type.Optional(Type.String()),
  aliases: Type.Optional(Type.Array(Type.String())),
});
export type Term = Static<typeof Term>;

export const Vocabulary = closed({
  values: Type.Array(Term),
  /** Terms that answer the question, of which `returned` are here. */
  matched: Count,
  returned: Count,
  limit: Type.Integer(),
  truncated: Type.Boolean(),
  /** All terms of the field, whatever their status. */
  vocabulary_size: Count,
  open_vocabulary: Type.Boolean(),
  /** Whether the caller may add a term by naming it. */
  can_extend: Type.Boolean(),
});
export type Vocabulary = Static<typeof Vocabulary>;

/** TERM-13: the contract for offering values. */
export const listFieldValues = operation({
  id: 'listFieldValues',
  method: 'GET',
  path: '/fields/{id}/values',
  tag: 'Fields',
  summary: 'List the terms of a field',
  description:
    'Offers terms of a vocabulary: exact matches first, then prefixes, then substrings. Only active terms are offered unless `status` says otherwise. A field of a type without a vocabulary is 400.',
  door: 'public',
  scope: 'read',
  params: idParams,
  query: closed({
    q: Type.Optional(Type.String({ maxLength: 200 })),
    match: Type.Optional(Type.Enum(['prefix', 'substring'])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    status: Type.Optional(Type.Enum(['active', 'deprecated', 'archived', 'any'])),
  }),
  responses: { 200: Vocabulary },
  errors: [404],
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
  description: 'Appends up to 5,000 terms to the vocabulary. A slug that exists is 409.',
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
  errors: [404, 409],
});

export const updateFieldTerm = operation({
  id: 'updateFieldTerm',
  method: 'PATCH',
  path: '/fields/{id}/terms/{value}',
  tag: 'Fields',
  summary: 'Change a term',
  description: 'Changes the label, status, aliases, successor or place of one term. The slug cannot change.',
  door: admin,
  scope: 'fields.admin',
  params: closed({ id: Uuid, value: Slug }),
  example: { label: 'Harbour', aliases: ['harbor'] },
  body: closed({
    label: Type.Optional(nullable(TermLabel)),
    status: Type.Optional(nullable(TermStatus)),
    aliases: Type.Optional(nullable(Aliases)),
    replaced_by: Type.Optional(nullable(Slug)),
    clear_replaced_by: removal,
    parent: Type.Optional(nullable(Slug)),
    /** To the top of the tree. */
    clear_parent: removal,
    /** Its place among the terms below the same parent, counted from 0. */
    position: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }))),
  }),
  responses: { 200: Term },
  errors: [404],
});

export const mergeFieldTerms = operation({
  id: 'mergeFieldTerms',
  method: 'POST',
  path: '/fields/{id}/values/merge',
  tag: 'Fields',
  summary: 'Merge two terms',
  description:
    'Moves values, aliases, defaults and conditions from `source` to `target` and keeps `source` as a tombstone. `dry_run` only counts. A source with children is 400, and so is an archived target.',
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
      /** Values that move or would move. */
      assets: Count,
      collections: Count,
      aliases: Count,
      /** Defaults and display conditions that name the source. */
      defaults: Count,
      conditions: Count,
    }),
  },
  errors: [404],
});
