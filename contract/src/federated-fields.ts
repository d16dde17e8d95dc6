import { type Static, Type } from 'typebox';
import {
  conditionErrors,
  defaultErrors,
  flagErrors,
  newTermErrors,
  optionErrors,
  readValueErrors,
  termErrors,
} from './errors/groups.ts';
import { FieldType, SubjectKind } from './fields.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

/** FED-63: how a peer's field is used here. `same`, `mapped` and `adopted` use its values. */
const PeerFieldState = Type.Enum(['same', 'differs', 'new', 'mapped', 'adopted', 'ignored']);

/** A property that differs, as text; null for one that is not set. */
const FieldDifference = closed({
  property: Type.String(),
  ours: nullable(Type.String()),
  theirs: nullable(Type.String()),
  /** Whether it changes the meaning of values. Other differences only affect how the field is shown. */
  decisive: Type.Boolean(),
});

const Code = Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-z][a-z0-9_]*$' });

/** A field of which a peer has sent values. */
export const PeerField = closed({
  code: Code,
  label: Type.String(),
  type: FieldType,
  subject_kind: SubjectKind,
  state: PeerFieldState,
  /** The local field for its values: the chosen one, or else the one with the same code. */
  field: nullable(closed({ id: Uuid, code: Type.String(), label: Type.String() })),
  /** The differences from that field, decisive ones first; empty without such a field. */
  differences: Type.Array(FieldDifference),
  /** Mirrored assets and collections that have a value, and those whose value is not used here. */
  value_count: Count,
  unused_count: Count,
  received_at: Timestamp,
});
export type PeerField = Static<typeof PeerField>;

/** FED-63. */
export const PeerFieldDecision = closed({
  /**
   * `map`: keeps the local field and stores the values in it. `adopt`: takes over the peer's definition, for the field
   * with the same code or, with `code`, for a new one. `ignore`: does not use the values.
   */
  decision: Type.Enum(['map', 'adopt', 'ignore']),
  /** With `map`: the local field; by default the one with the same code. */
  field_id: Type.Optional(nullable(Uuid)),
  /** With `adopt`: the code of a new field. */
  code: Type.Optional(nullable(Code)),
});
export type PeerFieldDecision = Static<typeof PeerFieldDecision>;

const tag = 'Federation';
const door = { holds: 'fields.admin' } as const;
const fieldParams = closed({ id: Uuid, code: Code });

export const listPeerFields = operation({
  id: 'listPeerFields',
  method: 'GET',
  path: '/admin/peers/{id}/fields',
  tag,
  summary: 'List the fields of a peer',
  description:
    'Lists the fields whose values the peer has sent, by code, with their differences from the fields here.',
  door,
  scope: 'read',
  params: closed({ id: Uuid }),
  query: closed(pageQuery),
  responses: { 200: page(PeerField) },
  errors: ['not-found'],
});

export const decidePeerField = operation({
  id: 'decidePeerField',
  method: 'PUT',
  path: '/admin/peers/{id}/fields/{code}',
  tag,
  summary: 'Decide about a field of a peer',
  description:
    'Replaces an earlier decision. Values that have arrived follow in the background. Returns 409 when the type or subject of the fields does not fit, or a new code is taken.',
  door,
  scope: 'fields.admin',
  params: fieldParams,
  example: { decision: 'map' },
  body: PeerFieldDecision,
  responses: { 200: PeerField },
  errors: [
    ...readValueErrors,
    ...defaultErrors,
    ...termErrors,
    ...newTermErrors,
    ...optionErrors,
    ...flagErrors,
    ...conditionErrors,
    'capability-not-held',
    'changed',
    'code-requires-adopt',
    'default-asset-not-found',
    'default-of-team-invalid',
    'exclusive-properties',
    'field-code-taken',
    'field-id-requires-map',
    'merge-in-progress',
    'mirrored-column',
    'not-found',
    'offer-code-not-found',
    'offer-code-taken-by-type',
    'offer-field-mirrors',
    'offer-field-mirrors-here',
    'offer-field-not-found',
    'offer-field-of-other-kind',
    'offer-type-mismatch',
    'offer-vocabulary-too-long',
  ],
});

export const resetPeerField = operation({
  id: 'resetPeerField',
  method: 'DELETE',
  path: '/admin/peers/{id}/fields/{code}',
  tag,
  summary: 'Withdraw a decision about a field of a peer',
  description:
    'Values are used again only while the field with the same code means the same. A field that was adopted stays.',
  door,
  scope: 'fields.admin',
  params: fieldParams,
  responses: { 204: noContent },
  errors: ['not-found'],
});
