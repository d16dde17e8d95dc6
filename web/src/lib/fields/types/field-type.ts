import type { Constraints, FilterOperator } from '@vitrine/contract/field-types';
import type { FieldValue, ValueMembers } from '@vitrine/contract/field-values';
import type { DefaultValue } from '@vitrine/contract/fields';

/** The value of a field in a form: several terms, or one text whose meaning depends on the type. */
export type Draft = string | readonly string[];

/** The request for a draft: a value, no value, or an error if the draft is not valid for the type. */
export type Sent =
  | { readonly kind: 'none' }
  | { readonly kind: 'value'; readonly members: ValueMembers }
  | { readonly kind: 'problem'; readonly text: string };

/** A stored value. */
export type Members = Pick<
  FieldValue,
  'value_text' | 'value_num' | 'value_date' | 'value_options' | 'value_ref'
>;

/** What words for a value depend on besides the value. */
export interface WordsOf {
  /** Returns the label of a term, or its slug. */
  labelOf(term: string): string;
  readonly language: string | undefined;
}

/** An input of one line. */
interface LineControl {
  readonly kind: 'line';
  readonly type: 'text' | 'date' | 'datetime-local';
  readonly inputmode?: 'decimal';
  readonly maxlength?: number;
  readonly step?: number;
  readonly hint?: string;
  readonly spellcheck?: false;
}

/** An input of several lines. */
interface LinesControl {
  readonly kind: 'lines';
  readonly maxlength?: number;
  readonly hint?: string;
}

/** Controls that need no more than their kind, each a type of its own so that pages tell them apart. */
type OfKind<K extends string> = K extends string ? { readonly kind: K } : never;

export interface Constraint {
  readonly name: keyof Constraints;
  readonly label: string;
  readonly input: 'number' | 'date' | 'datetime-local' | 'switch';
  readonly hint?: string;
}

/** A comparison of filters with its label. */
export interface Comparison {
  readonly value: FilterOperator;
  readonly label: string;
}

/** Names of icons of Lucide. */
export type FieldIcon =
  | 'calendar'
  | 'calendar-clock'
  | 'file-image'
  | 'hash'
  | 'letter-text'
  | 'list-tree'
  | 'tag'
  | 'tags'
  | 'text'
  | 'toggle-left'
  | 'type';

/** How pages show a type of field and its values. `factsOf` in the contract has what the service needs, too. */
export interface FieldTypeView {
  readonly label: string;
  readonly explanation: string;
  readonly icon: FieldIcon;
  /** How a value is displayed where there is room for more than words. */
  readonly display: 'words' | 'terms' | 'rich text' | 'asset';
  /** Formats a value on one line. */
  words(value: Members, context: WordsOf): string;

  /** The control in forms. */
  readonly control: LineControl | LinesControl | OfKind<'rich text' | 'switch' | 'terms' | 'asset'>;
  /** Returns the draft of a stored value; empty without one. */
  draftOf(value: Members): Draft;
  /** Returns the request for a text that is not empty. Text is sent as typed (FIELD-21). */
  sentOf(text: string): Sent;

  /** The control for the value of a filter. */
  readonly filterControl: LineControl | OfKind<'yes or no' | 'terms' | 'asset'>;
  /** The comparisons of filters, the most common first. */
  readonly comparisons: readonly Comparison[];
  /** Formats the value of a filter; terms are labelled elsewhere. */
  filterWords(value: string): string;

  /** The control for the default of a field. */
  readonly defaultControl: LineControl | LinesControl | OfKind<'yes or no' | 'terms'>;
  /** Returns the text of a default in its control. */
  defaultText(value: DefaultValue): string;
  /** Returns the default for a text that is not blank; null if it is not valid for the type. */
  defaultOf(text: string): Omit<DefaultValue, 'kind' | 'context'> | null;
  /** Formats the text of a default. */
  defaultWords(text: string): string;

  /** The constraints that a field of this type can have. */
  readonly constraints: readonly Constraint[];
}

/** Types whose text is the value and is shown as it is. */
export const asTyped = (text: string): string => text;
