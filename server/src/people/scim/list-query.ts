import { type RawBuilder, sql } from 'kysely';
import { bareName } from './attributes.ts';
import { MOST_RESULTS } from './discovery.ts';
import { invalidValue } from './fault.ts';
import { type Filterables, filterCondition } from './filter.ts';

const USUAL_RESULTS = 100;
/** Beyond the end of every list. */
const MOST_INDEX = 1_000_000_000;

type Query = Readonly<Record<string, unknown>>;

/** Returns a parameter of the address; of a repeated one, the first. */
function parameter(query: Query, name: string): string | undefined {
  const found = Object.entries(query).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  const value: unknown = Array.isArray(found) ? found[0] : found;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function integerOf(query: Query, name: string, usual: number): number {
  const text = parameter(query, name);
  if (text === undefined) return usual;
  if (!/^-?\d+$/.test(text)) throw invalidValue(`${name} must be an integer`);
  return Number(text);
}

/** Which of the rows that meet a condition are read. */
export interface Cut {
  limit: number | null;
  offset: number;
}

export const everyRow: Cut = { limit: null, offset: 0 };

/** A page of a list: counted from 1, as RFC 7644 has it. */
export interface ListQuery {
  startIndex: number;
  where: RawBuilder<boolean>;
  cut: Cut;
}

/** Reads `filter`, `startIndex` and `count`. A number that is too small or too large counts as the nearest allowed one. */
export function listQuery(query: Query, attributes: Filterables): ListQuery {
  const filter = parameter(query, 'filter');
  const startIndex = Math.min(MOST_INDEX, Math.max(1, integerOf(query, 'startIndex', 1)));
  const count = Math.min(MOST_RESULTS, Math.max(0, integerOf(query, 'count', USUAL_RESULTS)));
  return {
    startIndex,
    where: filter === undefined ? sql`true` : filterCondition(filter, attributes),
    cut: { limit: count, offset: startIndex - 1 },
  };
}

const always = new Set(['schemas', 'id', 'meta']);

/** Whether the response has an attribute. */
export type Selection = (attribute: string) => boolean;

/** Returns which attributes the response has, by `attributes` and `excludedAttributes`. */
export function selectionOf(query: Query): Selection {
  const namesIn = (name: string) =>
    parameter(query, name)
      ?.split(',')
      .map((one) => bareName(one.trim()).split('.')[0] ?? '');
  const [wanted, unwanted] = [namesIn('attributes'), namesIn('excludedAttributes')];
  return (attribute) => {
    const name = attribute.toLowerCase();
    if (always.has(name)) return true;
    return wanted === undefined ? unwanted?.includes(name) !== true : wanted.includes(name);
  };
}

/** Returns a resource with the selected attributes. */
export function selected(resource: object, isWanted: Selection): object {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isWanted(name)));
}
