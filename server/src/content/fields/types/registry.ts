import type { FieldType } from '@vitrine/contract/field-types';
import { boolean } from './boolean.ts';
import { date } from './date.ts';
import { datetime } from './datetime.ts';
import type { FieldTypeRules } from './field-type.ts';
import { number } from './number.ts';
import { reference } from './reference.ts';
import { richText } from './rich-text.ts';
import { multiSelect, select, tree } from './terms.ts';
import { longtext, text } from './text.ts';

/** How the service treats values, by the type of their field. */
export const rulesOf: Readonly<Record<FieldType, FieldTypeRules>> = {
  text,
  longtext,
  rich_text: richText,
  number,
  boolean,
  date,
  datetime,
  select,
  multi_select: multiSelect,
  tree,
  reference,
};
