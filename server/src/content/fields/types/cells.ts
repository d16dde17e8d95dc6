import type { ValueMembers } from '@vitrine/contract/field-values';
import { refuse } from '../../../platform/http/refuse.ts';
import type { TypedValue } from '../values/typed-value.ts';
import { charactersIn } from './characters.ts';

/** How values of a type are written in the cells of CSV files (CSV-3). */
export interface Cells {
  /** Returns the text of a value of this type. */
  write(value: TypedValue): string;
  /**
   * Returns what a client would write for the text of a cell, which is not empty; the rules of the type then check it.
   * `decimal` is the decimal separator of the file. Throws what no client could write.
   */
  read(code: string, text: string, decimal: '.' | ','): ValueMembers;
}

/** Separates the terms of a value; no slug contains it. */
const TERMS = '|';

const LONGEST_TERM = 200;

export const textCells: Cells = {
  write: (value) => (value.kind === 'text' ? value.text : ''),
  read: (_, text) => ({ value_text: text }),
};

export const numberCells: Cells = {
  write: (value) => (value.kind === 'num' ? String(value.num) : ''),
  read: (code, text, decimal) => {
    const plain = decimal === ',' ? text.trim().replace(',', '.') : text.trim();
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?$/i.test(plain))
      throw refuse('value-not-finite', { property: code });
    return { value_num: Number(plain) };
  },
};

const flags = new Map([
  ['1', 1],
  ['true', 1],
  ['yes', 1],
  ['0', 0],
  ['false', 0],
  ['no', 0],
]);

/** Spreadsheets translate `true` and keep `1`. */
export const booleanCells: Cells = {
  write: numberCells.write,
  read: (code, text) => {
    const num = flags.get(text.trim().toLowerCase());
    if (num === undefined) throw refuse('value-not-boolean', { property: code });
    return { value_num: num };
  },
};

const readMoment: Cells['read'] = (_, text) => ({ value_date: text.trim() });

export const dayCells: Cells = {
  write: (value) => (value.kind === 'date' ? value.date.slice(0, 10) : ''),
  read: readMoment,
};

export const instantCells: Cells = {
  write: (value) => (value.kind === 'date' ? value.date : ''),
  read: readMoment,
};

export const termsCells: Cells = {
  write: (value) => (value.kind === 'options' ? value.options.join(TERMS) : ''),
  read: (code, text) => {
    const terms = text
      .split(TERMS)
      .map((term) => term.trim())
      .filter((term) => term !== '');
    if (terms.some((term) => charactersIn(term) > LONGEST_TERM))
      throw refuse('value-exceeds-term', { property: code });
    return { value_options: terms };
  },
};

export const referenceCells: Cells = {
  write: (value) => (value.kind === 'ref' ? value.ref : ''),
  read: (code, text) => {
    const id = text.trim().toLowerCase();
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
      throw refuse('value-asset-not-found', { property: code, asset: id.slice(0, 100) });
    return { value_ref: id };
  },
};
