import type { Constraints, FieldType } from '@vitrine/contract/field-types';
import type { ValueMembers } from '@vitrine/contract/field-values';
import type { RawBuilder } from 'kysely';
import type { Caller } from '../../../access/caller.ts';
import type { ExtractedValue } from '../../../media/metadata/source.ts';
import type { TypedValue } from '../values/typed-value.ts';
import type { Cells } from './cells.ts';
import type { FieldFilter, Filterable } from './filtering.ts';

/** A value of a context at a creation (FIELD-33). */
type ContextValue = { name: string } | { now: string };

/** What metadata of a file contains. */
export type Extracted = ExtractedValue['value'];

/** How what a file contains becomes a value (EXTRACT-2). */
type Extraction =
  /** Never. */
  | { from: 'nothing' }
  /** Each text names a term. */
  | { from: 'terms' }
  | {
      from: 'text';
      /** How much of the text is taken. */
      longest: number;
      convert(text: string): TypedValue | null;
      /** How the text is appended to another one, and the greatest length of the result (EXTRACT-3). */
      separator: string;
      longestJoined: number;
    }
  | {
      from: 'single';
      /** Returns what the file offers; undefined where its type does not match. */
      offer(found: Extracted): string | number | undefined;
      convert(found: string | number): TypedValue | null;
    };

/** The forms that values have in the federation protocol. */
export type WireForm = 'text' | 'number' | 'flag' | 'day' | 'time' | 'term' | 'terms' | 'asset';

/** How values are exchanged with peers. */
interface Federation {
  form: WireForm;
  /** The types of a peer's fields whose values a field of this type can store (FED-63). */
  takes: readonly FieldType[];
}

/** How a value violates a constraint of its field. Its error codes are `value-` and `default-` with the kind. */
export interface ValueFault {
  readonly kind:
    | 'above-maximum'
    | 'after-maximum'
    | 'before-minimum'
    | 'below-minimum'
    | 'not-date'
    | 'not-finite'
    | 'not-multiple-of-step'
    | 'not-whole'
    | 'text-too-long'
    | 'text-too-short'
    | 'too-few-terms'
    | 'too-many-terms';
  /** The value of the constraint, if it has one. */
  readonly limit?: number | string;
}

/** How the service treats the values of a type. `factsOf` in the contract has what web pages need, too. */
export interface FieldTypeRules {
  /**
   * Reads what a client wrote into the member of the type; null when it is absent. Throws a 400 or 422 that begins with
   * the code of the field.
   */
  parse(code: string, given: ValueMembers): TypedValue | null;
  /** Returns how a value violates the constraints of its field; null when it does not (FIELD-21). */
  faultOf(constraints: Constraints, value: TypedValue): ValueFault | null;
  /** Returns the value of a default that depends on a context; null for one that the type does not have (FIELD-31). */
  ofContext(context: ContextValue): TypedValue | null;
  /** The condition of a filter, whose comparison is one of the type, on a value `v` (VALUE-16). */
  filter(filter: FieldFilter, field: Filterable, caller: Caller): RawBuilder<boolean>;
  /** A value `v` of a field `d` as the text on cards, or null when it has none for this caller (VALUE-18). */
  words(caller: Caller): RawBuilder<string | null>;
  /**
   * The text of a value `v` of a field `d` in which searches look, for highlights; null when searches do not find
   * values of the type. The schema's function `field_value_text` is what the index contains.
   */
  searched: RawBuilder<string | null> | null;
  extraction: Extraction;
  cells: Cells;
  federation: Federation;
}
