import type { FieldType } from '@vitrine/contract/field-types';
import { boolean } from './boolean.ts';
import { date } from './date.ts';
import { datetime } from './datetime.ts';
import type { FieldTypeView } from './field-type.ts';
import { number } from './number.ts';
import { reference } from './reference.ts';
import { richText } from './rich-text.ts';
import { multiSelect, select, tree } from './terms.ts';
import { longtext, text } from './text.ts';

/** How pages show fields and values, by the type of the field. */
export const viewOf: Readonly<Record<FieldType, FieldTypeView>> = {
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
