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
import { defaultContexts, fieldTypes } from './field-types.ts';
import { noContent, operation } from './operation.ts';
import { translationsOf } from './translations.ts';
import { closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

/** FIELD-2. */
export const FieldType = Type.Enum(fieldTypes);
export type FieldType = Static<typeof FieldType>;

export const SubjectKind = Type.Enum(['asset', 'collection']);
export type SubjectKind = Static<typeof SubjectKind>;

export const FieldStatus = Type.Enum(['active', 'deprecated', 'archived']);
export type FieldStatus = Static<typeof FieldStatus>;

export const ExtractionMode = Type.Enum(['', 'skip_if_set', 'replace', 'append', 'prepend']);
export type ExtractionMode = Static<typeof ExtractionMode>;

/** FIELD-31. The server decides which members are valid for which type. */
export const DefaultValue = closed({
  kind: Type.Enum(['literal', 'context']),
  value_text: Type.Optional(nullable(Type.String({ maxLength: 100_000 }))),
  value_num: Type.Optional(nullable(Type.Number())),
  value_date: Type.Optional(nullable(Timestamp)),
  value_options: Type.Optional(nullable(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1000 }))),
  value_ref: Type.Optional(nullable(Uuid)),
  context: Type.Optional(Type.Enum([...defaultContexts])),
});
export type DefaultValue = Static<typeof DefaultValue>;

/** FIELD-37: additional keys are allowed. For select, multi_select and tree, `values` is the vocabulary (TERM-1). */
export const FieldOptions = Type.Record(Type.String(), Type.Unknown());
export type FieldOptions = Static<typeof FieldOptions>;

const Order = Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 });
const Code = Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-z][a-z0-9_]*$' });
const Label = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const Description = Type.String({ maxLength: 10_000 });
const CapabilityCode = Type.String({ minLength: 1, maxLength: 100 });
const AppliesTo = Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), { maxItems: 200 });
const Group = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });

/** LANGUAGE-5: a label in other languages, in responses. */
export const Translations = translationsOf(Type.String());

/** LANGUAGE-5: a label in other languages, in requests. */
export const LabelTranslations = translationsOf(Label);

/** FIELD-2. A missing value is null, an empty text or an empty list; properties are never absent. */
export const FieldDefinition = closed({
  id: Uuid,
  code: Type.String(),
  label: Type.String(),
  translations: Translations,
  description: Type.String(),
  type: FieldType,
  subject_kind: SubjectKind,
  options: FieldOptions,
  open_vocabulary: Type.Boolean(),
  required: Type.Boolean(),
  searchable: Type.Boolean(),
  applies_to: Type.Array(Type.Integer()),
  read_capability: nullable(Type.String()),
  write_capability: nullable(Type.String()),
  display_order: Type.Integer(),
  display_group: Type.String(),
  extraction_source: Type.String(),
  extraction_mode: ExtractionMode,
  show_on_card: Type.Boolean(),
  show_in_advanced_search: Type.Boolean(),
  show_on_upload: Type.Boolean(),
  edit_tab: nullable(Type.String()),
  read_only: Type.Boolean(),
  regexp_filter: nullable(Type.String()),
  mirrors_column: nullable(Type.String()),
  display_condition: nullable(Type.Array(Type.String())),
  status: FieldStatus,
  deprecated_replacement_id: nullable(Uuid),
  default_value: nullable(DefaultValue),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type FieldDefinition = Static<typeof FieldDefinition>;

/** FIELD-4: exactly these properties. The other flags are set by an update. */
export const FieldCreate = closed({
  code: Code,
  label: Label,
  description: Type.Optional(Description),
  type: FieldType,
  subject_kind: Type.Optional(SubjectKind),
  options: Type.Optional(FieldOptions),
  open_vocabulary: Type.Optional(Type.Boolean()),
  required: Type.Optional(Type.Boolean()),
  searchable: Type.Optional(Type.Boolean()),
  applies_to: Type.Optional(AppliesTo),
  read_capability: Type.Optional(nullable(CapabilityCode)),
  write_capability: Type.Optional(nullable(CapabilityCode)),
  display_order: Type.Optional(Order),
  display_group: Type.Optional(Group),
  default_value: Type.Optional(DefaultValue),
});
export type FieldCreate = Static<typeof FieldCreate>;

const flag = Type.Optional(nullable(Type.Boolean()));
const removal = Type.Optional(nullable(Type.Boolean()));

/** FIELD-5: every mutable property. Absent and null leave it unchanged. */
export const FieldUpdate = closed({
  label: Type.Optional(nullable(Label)),
  /** Replaces all translations; an empty object removes them. */
  translations: Type.Optional(nullable(LabelTranslations)),
  description: Type.Optional(nullable(Description)),
  options: Type.Optional(nullable(FieldOptions)),
  open_vocabulary: flag,
  required: flag,
  searchable: flag,
  applies_to: Type.Optional(nullable(AppliesTo)),
  read_capability: Type.Optional(nullable(CapabilityCode)),
  write_capability: Type.Optional(nullable(CapabilityCode)),
  display_order: Type.Optional(nullable(Order)),
  display_group: Type.Optional(nullable(Group)),
  extraction_source: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  extraction_mode: Type.Optional(nullable(ExtractionMode)),
  show_on_card: flag,
  show_in_advanced_search: flag,
  show_on_upload: flag,
  edit_tab: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
  read_only: flag,
  regexp_filter: Type.Optional(nullable(Type.String({ maxLength: 20_000 }))),
  display_condition: Type.Optional(nullable(Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 50 }))),
  status: Type.Optional(nullable(FieldStatus)),
  deprecated_replacement_id: Type.Optional(nullable(Uuid)),
  default_value: Type.Optional(nullable(DefaultValue)),
  clear_default: removal,
  clear_edit_tab: removal,
  clear_regexp_filter: removal,
  clear_display_condition: removal,
  clear_read_capability: removal,
  clear_write_capability: removal,
  clear_deprecated_replacement: removal,
  if_unchanged_since: Type.Optional(nullable(Timestamp)),
});
export type FieldUpdate = Static<typeof FieldUpdate>;

const idParams = closed({ id: Uuid });
const admin = { holds: 'fields.admin' } as const;

export const listFields = operation({
  id: 'listFields',
  method: 'GET',
  path: '/fields',
  tag: 'Fields',
  summary: 'List fields',
  description:
    'Lists the field definitions visible to the caller, in display order. Long vocabularies are truncated; `GET /fields/{id}/values` has all terms. Archived fields are shown to `fields.admin` only.',
  door: 'public',
  scope: 'read',
  query: closed({
    subject_kind: Type.Optional(SubjectKind),
    /** Without it, active and deprecated fields. Archived fields are shown to `fields.admin` only. */
    status: Type.Optional(Type.Enum(['active', 'deprecated', 'archived', 'any'])),
    asset_type: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
    ...pageQuery,
  }),
  replica: true,
  responses: { 200: page(FieldDefinition) },
  errors: [],
});

export const getField = operation({
  id: 'getField',
  method: 'GET',
  path: '/fields/{id}',
  tag: 'Fields',
  summary: 'Get a field',
  description:
    'Returns a field definition. Returns 404 if the caller lacks the read capability of the field.',
  door: 'public',
  scope: 'read',
  params: idParams,
  replica: true,
  responses: { 200: FieldDefinition },
  errors: ['not-found'],
});

/** FIELD-4. */
export const createField = operation({
  id: 'createField',
  method: 'POST',
  path: '/fields',
  tag: 'Fields',
  summary: 'Create a field',
  description:
    '`code`, `type` and `subject_kind` cannot change later. Returns 409 if the code is taken. Display flags are set by an update.',
  door: admin,
  scope: 'fields.admin',
  example: { code: 'camera', label: 'Camera', type: 'text' },
  body: FieldCreate,
  responses: { 201: FieldDefinition },
  errors: [
    ...readValueErrors,
    ...defaultErrors,
    ...termErrors,
    ...newTermErrors,
    ...optionErrors,
    ...flagErrors,
    'default-asset-not-found',
    'field-code-taken',
    'mirrored-column',
  ],
});

const changing = {
  path: '/fields/{id}',
  tag: 'Fields',
  door: admin,
  scope: 'fields.admin',
  params: idParams,
  body: FieldUpdate,
  responses: { 200: FieldDefinition },
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
    'default-asset-not-found',
    'default-of-team-invalid',
    'exclusive-properties',
    'merge-in-progress',
    'mirrored-column',
    'not-found',
  ],
} as const;

export const updateField = operation({
  ...changing,
  id: 'updateField',
  method: 'PATCH',
  summary: 'Change a field',
  description:
    'Options, vocabulary and default are checked together; a change that makes a stored default or a used term invalid returns 400. With `if_unchanged_since`, returns 409 when the field has changed since.',
});

export const putField = operation({
  ...changing,
  id: 'putField',
  method: 'PUT',
  summary: 'Change a field (alias)',
  description: 'The same as `PATCH /fields/{id}`.',
});

export const archiveField = operation({
  id: 'archiveField',
  method: 'DELETE',
  path: '/fields/{id}',
  tag: 'Fields',
  summary: 'Archive a field',
  description:
    'Idempotent. The field is hidden from everyone but `fields.admin`, its values stay, and an update makes it active again.',
  door: admin,
  scope: 'fields.admin',
  params: idParams,
  responses: { 204: noContent },
  errors: ['not-found'],
});

/** FIELD-38. */
export const setFieldExtraction = operation({
  id: 'setFieldExtraction',
  method: 'PUT',
  path: '/fields/{id}/extraction',
  tag: 'Fields',
  summary: 'Set the extraction of a field',
  description:
    'Chooses which metadata of a file fills the field, and how an existing value is treated. An unknown source returns 400; an empty one turns extraction off.',
  door: admin,
  scope: 'fields.admin',
  params: idParams,
  body: closed({ source: Type.String({ maxLength: 100 }), mode: Type.Optional(ExtractionMode) }),
  responses: { 200: FieldDefinition },
  errors: [...flagErrors, 'mirrored-column', 'not-found'],
});

export const DefaultOverride = closed({
  team_id: Uuid,
  team_name: Type.String(),
  default_value: DefaultValue,
  updated_at: Timestamp,
});
export type DefaultOverride = Static<typeof DefaultOverride>;

const overrideParams = closed({ id: Uuid, team_id: Uuid });

export const listDefaultOverrides = operation({
  id: 'listDefaultOverrides',
  method: 'GET',
  path: '/fields/{id}/default-overrides',
  tag: 'Fields',
  summary: 'List the team defaults of a field',
  description: 'Lists defaults that apply to the uploads of one team, by team name.',
  door: admin,
  scope: 'read',
  params: idParams,
  query: closed({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(Type.String({ maxLength: 1500 })),
  }),
  responses: { 200: page(DefaultOverride) },
  errors: ['not-found'],
});

export const setDefaultOverride = operation({
  id: 'setDefaultOverride',
  method: 'PUT',
  path: '/fields/{id}/default-overrides/{team_id}',
  tag: 'Fields',
  summary: 'Set the default of a team',
  description:
    'Overrides the default of an asset field for the uploads of one team. It is checked like the default of the field.',
  door: admin,
  scope: 'fields.admin',
  params: overrideParams,
  body: DefaultValue,
  responses: { 200: DefaultOverride },
  errors: [
    ...readValueErrors,
    ...defaultErrors,
    'default-asset-not-found',
    'field-of-collections',
    'mirrored-column',
    'not-found',
    'team-not-found',
  ],
});

export const removeDefaultOverride = operation({
  id: 'removeDefaultOverride',
  method: 'DELETE',
  path: '/fields/{id}/default-overrides/{team_id}',
  tag: 'Fields',
  summary: 'Remove the default of a team',
  description: 'The default of the field applies again.',
  door: admin,
  scope: 'fields.admin',
  params: overrideParams,
  responses: { 204: noContent },
  errors: ['not-found'],
});
