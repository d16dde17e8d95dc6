import { type Static, Type } from 'typebox';
import { readValueErrors, writtenValueErrors } from './errors/groups.ts';
import { factsOf } from './field-types.ts';
import { FieldType } from './fields.ts';
import { noContent, operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** The source of a value; clients cannot set it (VALUE-6). */
export const SetBy = Type.Enum([
  'manual',
  'exif',
  'iptc',
  'xmp',
  'api',
  'import',
  'computed',
  'default',
  'mirror',
]);
export type SetBy = Static<typeof SetBy>;

/** The maximum number of terms in one value. */
export const mostOptions = 500;

/** The maximum number of values given with a new asset or collection. */
const MOST_GIVEN = 200;

const Text = Type.String({
  maxLength: Math.max(...Object.values(factsOf).map(({ mostCharacters }) => mostCharacters ?? 0)),
});
const Options = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: mostOptions });

/** Exactly the member that the field's type requires; null counts as absent (VALUE-1). */
const givenMembers = {
  value_text: Type.Optional(nullable(Text)),
  /** 0 or 1 for a boolean. */
  value_num: Type.Optional(nullable(Type.Number())),
  /** A day (`2026-11-21`) or an instant. A field of type `date` stores the day as written. */
  value_date: Type.Optional(nullable(Type.String({ maxLength: 40 }))),
  value_options: Type.Optional(nullable(Options)),
  value_ref: Type.Optional(nullable(Uuid)),
};

/** A value without the subject and field that it belongs to. */
export const ValueMembers = closed(givenMembers);
export type ValueMembers = Static<typeof ValueMembers>;

const since = Type.Optional(nullable(Timestamp));

export const ValueWrite = closed({
  ...givenMembers,
  /** The `set_at` that the client has read: 409 if the value has changed since. */
  if_unchanged_since: since,
  /** 409 if there is already a value. */
  if_absent: Type.Optional(nullable(Type.Boolean())),
});
export type ValueWrite = Static<typeof ValueWrite>;

export const ValueClear = closed({ if_unchanged_since: since });

/** A value given with a new asset or collection. The field is named by id or by code. */
export const GivenValue = closed({
  field_id: Type.Optional(Uuid),
  field_code: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  ...givenMembers,
});
export type GivenValue = Static<typeof GivenValue>;
export const GivenValues = Type.Array(GivenValue, { maxItems: MOST_GIVEN });

/** A term for display. The label is the slug when none was set. */
export const ResolvedOption = closed({
  value: Type.String(),
  label: Type.String(),
  status: Type.Enum(['active', 'deprecated', 'archived']),
});

/** The asset that a reference names, if the caller may see it. */
export const ResolvedReference = closed({
  id: Uuid,
  title: Type.String(),
  preview_available: Type.Boolean(),
});

const storedMembers = {
  value_text: Type.Optional(Type.String()),
  value_num: Type.Optional(Type.Number()),
  value_date: Type.Optional(Timestamp),
  value_options: Type.Optional(Type.Array(Type.String())),
  value_ref: Type.Optional(Uuid),
};

/** VALUE-8: a value in a response. */
export const FieldValue = closed({
  field_id: Uuid,
  field_code: Type.String(),
  field_label: Type.String(),
  type: FieldType,
  ...storedMembers,
  set_by: SetBy,
  set_at: Timestamp,
  set_by_user_ref: nullable(Ref),
  resolved_options: Type.Optional(Type.Array(ResolvedOption)),
  resolved_reference: Type.Optional(ResolvedReference),
});
export type FieldValue = Static<typeof FieldValue>;

/** All values, in the order of the fields; at most one for each field. */
export const FieldValues = closed({ items: Type.Array(FieldValue) });

export const PastValue = closed(storedMembers);

/** One change of a value: the old and the new value. Null means no value. */
export const ValueChange = closed({
  id: Uuid,
  before: nullable(PastValue),
  after: nullable(PastValue),
  set_by: SetBy,
  set_by_user_ref: nullable(Ref),
  at: Timestamp,
});
export type ValueChange = Static<typeof ValueChange>;

/** ASSET-30: a value as display text for a card. */
export const CardField = closed({ code: Type.String(), label: Type.String(), value: Type.String() });
export type CardField = Static<typeof CardField>;

/** VALUE-15: `field:<code><op><value>`, each at most 10,000 characters. */
export const Filters = Type.Array(Type.String({ minLength: 1, maxLength: 10_000 }), { maxItems: 20 });

const idParams = closed({ id: Uuid });
const valueParams = closed({ id: Uuid, field_id: Uuid });

/** The operations on values are the same for every kind of subject, which adds its path, its noun and its scope. */
const listing = {
  method: 'GET',
  tag: 'Field values',
  door: 'public',
  scope: 'read',
  params: idParams,
  responses: { 200: FieldValues },
  errors: ['not-found'],
} as const;
const writing = {
  method: 'PUT',
  tag: 'Field values',
  door: 'signedIn',
  params: valueParams,
  body: ValueWrite,
  responses: { 200: FieldValue },
  errors: [
    ...readValueErrors,
    ...writtenValueErrors,
    'changed',
    'if-absent-exclusive',
    'not-found',
    'not-owner',
    'value-exists',
  ],
} as const;
const clearing = {
  method: 'DELETE',
  tag: 'Field values',
  door: 'signedIn',
  params: valueParams,
  body: ValueClear,
  bodyOptional: true,
  responses: { 204: noContent },
  errors: [
    'changed',
    'field-archived',
    'field-capability-missing',
    'field-deprecated',
    'field-not-for-type',
    'field-read-only',
    'not-found',
    'not-owner',
    'value-exceeds-column',
    'value-exists',
  ],
} as const;
const lookingBack = {
  method: 'GET',
  tag: 'Field values',
  door: 'signedIn',
  scope: 'read',
  params: valueParams,
  query: Type.Object(pageQuery),
  responses: { 200: page(ValueChange) },
  errors: ['not-found'],
} as const;

export const listAssetFieldValues = operation({
  ...listing,
  id: 'listAssetFieldValues',
  path: '/assets/{id}/fields',
  summary: 'List the field values of an asset',
  description:
    'Lists the values that the caller may read, in the order of the fields. An asset whose columns are withheld has none.',
  replica: true,
});

export const setAssetFieldValue = operation({
  ...writing,
  id: 'setAssetFieldValue',
  path: '/assets/{id}/fields/{field_id}',
  example: { value_text: 'X100V' },
  summary: 'Set a field value of an asset',
  description:
    'Needs the right to edit the asset and the write capability of the field. Exactly one `value_*` property matches the type of the field; any other returns 400. A value that the options, pattern or vocabulary of the field do not allow returns 422. `if_unchanged_since` and `if_absent` are preconditions; 409 if they fail.',
  scope: 'assets.write',
});

export const clearAssetFieldValue = operation({
  ...clearing,
  id: 'clearAssetFieldValue',
  path: '/assets/{id}/fields/{field_id}',
  summary: 'Clear a field value of an asset',
  description: 'Idempotent. `if_unchanged_since` is a precondition; 409 if it fails.',
  scope: 'assets.write',
});

export const listAssetFieldHistory = operation({
  ...lookingBack,
  id: 'listAssetFieldHistory',
  path: '/assets/{id}/fields/{field_id}/history',
  summary: 'List the history of a field value of an asset',
  description: 'Lists changes, newest first, to callers who may read the value.',
  replica: true,
});

export const listCollectionFieldValues = operation({
  ...listing,
  id: 'listCollectionFieldValues',
  path: '/collections/{id}/fields',
  summary: 'List the field values of a collection',
  description: 'Lists the values that the caller may read, in the order of the fields.',
  replica: true,
});

export const setCollectionFieldValue = operation({
  ...writing,
  id: 'setCollectionFieldValue',
  path: '/collections/{id}/fields/{field_id}',
  example: { value_options: ['harbour'], if_absent: true },
  summary: 'Set a field value of a collection',
  description:
    'Needs the right to edit the collection and the write capability of the field. Exactly one `value_*` property matches the type of the field; any other returns 400. A value that the field does not allow returns 422. `if_unchanged_since` and `if_absent` are preconditions; 409 if they fail.',
  scope: 'posts.write',
});

export const clearCollectionFieldValue = operation({
  ...clearing,
  id: 'clearCollectionFieldValue',
  path: '/collections/{id}/fields/{field_id}',
  summary: 'Clear a field value of a collection',
  description: 'Idempotent. `if_unchanged_since` is a precondition; 409 if it fails.',
  scope: 'posts.write',
});

export const listCollectionFieldHistory = operation({
  ...lookingBack,
  id: 'listCollectionFieldHistory',
  path: '/collections/{id}/fields/{field_id}/history',
  summary: 'List the history of a field value of a collection',
  description: 'Lists changes, newest first, to callers who may read the value.',
});
