/**
 * The types of fields (FIELD-2), and what the service and web pages need to know of each. How the service treats
 * values is in `server/src/content/fields/types/`, how pages show them in `web/src/lib/fields/types/`.
 */

/** The member of a request or response that carries a value (VALUE-1). */
export const valueMembers = ['value_text', 'value_num', 'value_date', 'value_options', 'value_ref'] as const;
type ValueMember = (typeof valueMembers)[number];

/** The comparisons of filters (VALUE-13). */
export type FilterOperator = '=' | '~' | '<' | '>' | '<=' | '>=';

/** The comparisons of display conditions (FIELD-24). */
export type ConditionOperator = '=' | '~';

/** What a default may depend on (FIELD-31). */
export const defaultContexts = ['uploading_user', 'uploading_team', 'current_date'] as const;
export type DefaultContext = (typeof defaultContexts)[number];

/** The constraints among a field's options. Other keys are free and kept (FIELD-37). */
export interface Constraints {
  /** In characters. */
  min_length?: number;
  max_length?: number;
  /** A number; for days and times, a day or an instant as text. */
  min?: number | string;
  max?: number | string;
  /** Values are whole multiples of it, counted from `min`, or from 0. */
  step?: number;
  /** Whole numbers only. */
  integer?: boolean;
  /** How many terms a value has. */
  min_items?: number;
  max_items?: number;
}

/** What a type is, as far as both sides need it. */
export interface FieldTypeFacts {
  member: ValueMember;
  /** The greatest number of characters of a text; a field may allow fewer. */
  mostCharacters?: number;
  /** For types whose values are terms of a vocabulary. */
  vocabulary?: {
    /** Whether a value has several terms, which lets people add terms by writing them (TERM-7). */
    several: boolean;
    /** Whether terms have narrower ones; only those without are values (TERM-5). */
    nested: boolean;
  };
  /** The constraints that a field of this type may have. Options of other names are free keys. */
  constraints: readonly (keyof Constraints)[];
  /** Whether a field may have a pattern (FIELD-19). */
  takesPattern: boolean;
  /** The comparisons with which values are filtered (VALUE-16). */
  filters: readonly FilterOperator[];
  /** The comparisons of display conditions that refer to such a field (FIELD-24). */
  conditions: readonly ConditionOperator[];
  /** What a default may depend on (FIELD-31). */
  contexts: readonly DefaultContext[];
}

const names = ['uploading_user', 'uploading_team'] as const;
const ordered = ['=', '<', '>', '<=', '>='] as const;

/** Plain text. */
const plain = {
  member: 'value_text',
  constraints: ['min_length', 'max_length'],
  takesPattern: true,
  filters: ['=', '~'],
  conditions: ['=', '~'],
  contexts: names,
} as const satisfies FieldTypeFacts;

/** One term of a vocabulary. */
const term = {
  member: 'value_text',
  vocabulary: { several: false, nested: false },
  constraints: [],
  takesPattern: false,
  filters: ['='],
  conditions: ['='],
  contexts: [],
} as const satisfies FieldTypeFacts;

/** A day or an instant. */
const moment = {
  member: 'value_date',
  constraints: ['min', 'max'],
  takesPattern: false,
  filters: ordered,
  conditions: [],
  contexts: ['current_date'],
} as const satisfies FieldTypeFacts;

const facts = {
  text: { ...plain, mostCharacters: 2000 },
  longtext: { ...plain, mostCharacters: 50_000 },
  rich_text: { ...plain, mostCharacters: 100_000, takesPattern: false, filters: ['~'], conditions: [] },
  number: {
    member: 'value_num',
    constraints: ['min', 'max', 'step', 'integer'],
    takesPattern: false,
    filters: ordered,
    conditions: [],
    contexts: [],
  },
  boolean: {
    member: 'value_num',
    constraints: [],
    takesPattern: false,
    filters: ['='],
    conditions: [],
    contexts: [],
  },
  date: moment,
  datetime: moment,
  select: term,
  multi_select: {
    ...term,
    member: 'value_options',
    vocabulary: { several: true, nested: false },
    constraints: ['min_items', 'max_items'],
  },
  tree: { ...term, vocabulary: { several: false, nested: true } },
  reference: {
    member: 'value_ref',
    constraints: [],
    takesPattern: false,
    filters: ['='],
    conditions: [],
    contexts: [],
  },
} as const satisfies Record<string, FieldTypeFacts>;

export type FieldType = keyof typeof facts;

/** What each type is. */
export const factsOf: Readonly<Record<FieldType, FieldTypeFacts>> = facts;

/** All types, in the order in which they are offered. `Object.keys` does not know the names of the properties. */
export const fieldTypes = Object.keys(facts) as FieldType[];

/** Whether values of a type are terms of a vocabulary. */
export function hasVocabulary(type: FieldType): boolean {
  return factsOf[type].vocabulary !== undefined;
}

/** TERM-7: whether the vocabulary of a field is open. */
export function isOpenVocabulary(field: { type: FieldType; open_vocabulary: boolean }): boolean {
  return field.open_vocabulary && factsOf[field.type].vocabulary?.several === true;
}

/** Whether a value of a type has several terms. */
export function holdsSeveral(type: FieldType): boolean {
  return factsOf[type].vocabulary?.several === true;
}

/** Whether terms of a type have narrower ones. */
export function isNested(type: FieldType): boolean {
  return factsOf[type].vocabulary?.nested === true;
}

/** The greatest length of a text value of a field in characters. */
export function longestValue(
  type: FieldType,
  { max_length: own }: Readonly<Record<string, unknown>>,
): number {
  const most = factsOf[type].mostCharacters ?? Infinity;
  return typeof own === 'number' ? Math.min(most, own) : most;
}
