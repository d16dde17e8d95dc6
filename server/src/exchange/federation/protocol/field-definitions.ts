import { FieldType, SubjectKind } from '@vitrine/contract/fields';
import { closed, nullable } from '@vitrine/contract/values';
import { type Static, Type } from 'typebox';
import { ActorUri, Time, text } from './values.ts';

const Code = Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-z][a-z0-9_]*$' });
const Order = Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 });
const Slug = Type.String({ minLength: 1, maxLength: 200 });

/** A term without its lifecycle, which is the history of one install. */
const Term = Type.Cyclic(
  {
    Term: closed({
      value: Slug,
      label: Type.Optional(text(200)),
      aliases: Type.Optional(Type.Array(Slug, { maxItems: 100 })),
      children: Type.Optional(Type.Array(Type.Ref('Term'), { maxItems: 5000 })),
    }),
  },
  'Term',
);
export interface AaTerm {
  value: string;
  label?: string;
  aliases?: string[];
  children?: AaTerm[];
}

const Limit = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 }));

/** A number; a day or a time for fields of these types. */
const LimitValue = Type.Union([Type.Number(), text(40)]);

const Options = closed({
  values: Type.Optional(Type.Array(Term, { maxItems: 5000 })),
  min_length: Limit,
  max_length: Limit,
  min: Type.Optional(LimitValue),
  max: Type.Optional(LimitValue),
  step: Type.Optional(Type.Number()),
  integer: Type.Optional(Type.Boolean()),
  min_items: Limit,
  max_items: Limit,
});

/** A literal or context; a reference would name an asset of the sender. */
const Default = closed({
  kind: Type.Enum(['literal', 'context']),
  value_text: Type.Optional(text(100_000)),
  value_num: Type.Optional(Type.Number()),
  value_date: Type.Optional(Time),
  value_options: Type.Optional(Type.Array(Slug, { maxItems: 1000 })),
  context: Type.Optional(Type.Enum(['uploading_user', 'uploading_team', 'current_date'])),
});

/** The properties of a definition that describe the field and nothing of the install that has it. */
const FieldDefinition = closed({
  type: Type.Literal('aa:FieldDefinition'),
  code: Code,
  label: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
  description: text(10_000),
  field_type: FieldType,
  subject_kind: SubjectKind,
  required: Type.Boolean(),
  searchable: Type.Boolean(),
  open_vocabulary: Type.Boolean(),
  display_group: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
  display_order: Order,
  show_on_card: Type.Boolean(),
  show_in_advanced_search: Type.Boolean(),
  show_on_upload: Type.Boolean(),
  edit_tab: nullable(Type.String({ minLength: 1, maxLength: 100 })),
  regexp_filter: nullable(Type.String({ minLength: 1, maxLength: 1000 })),
  /** Terms name other fields by code and are kept as they are, whether or not the receiver has those fields. */
  display_condition: nullable(Type.Array(text(2000), { minItems: 1, maxItems: 20 })),
  default_value: nullable(Default),
  options: Options,
});
export type AaFieldDefinition = Omit<Static<typeof FieldDefinition>, 'options'> & {
  options: Omit<Static<typeof Options>, 'values'> & { values?: AaTerm[] };
};

/** Definitions travel together, so that the receiver adopts all that it chose or nothing. */
export const FieldDefinitions = closed({
  type: Type.Literal('aa:FieldDefinitions'),
  attributedTo: ActorUri,
  updated: Time,
  items: Type.Array(FieldDefinition, { minItems: 1, maxItems: 500 }),
});
export type AaFieldDefinitions = Omit<Static<typeof FieldDefinitions>, 'items'> & {
  items: AaFieldDefinition[];
};
