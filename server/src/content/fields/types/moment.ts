import type { Constraints } from '@vitrine/contract/field-types';
import type { TypedValue } from '../values/typed-value.ts';
import type { Extracted, ValueFault } from './field-type.ts';

/** Returns how a day or an instant violates the constraints; null when it does not. */
export function faultOfMoment({ min, max }: Constraints, value: TypedValue): ValueFault | null {
  if (value.kind !== 'date') return null;
  const at = Date.parse(value.date);
  if (Number.isNaN(at)) return { kind: 'not-date' };
  if (typeof min === 'string' && at < Date.parse(min)) return { kind: 'before-minimum', limit: min };
  if (typeof max === 'string' && at > Date.parse(max)) return { kind: 'after-maximum', limit: max };
  return null;
}

/**
 * Parses a time in a file with its offset. Without an offset in the file, its local time counts as UTC, so that it
 * reads the same everywhere.
 */
export function momentIn(found: Extracted): string | undefined {
  const text = Array.isArray(found) ? found.join(', ') : String(found);
  const parts = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (parts === null) return undefined;
  const [, day, time = '00:00:00', offset = 'Z'] = parts;
  const at = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(at.getTime()) ? undefined : `${day}T${time}${offset}`;
}
