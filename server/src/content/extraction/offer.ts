import type { FieldType } from '@vitrine/contract/fields';
import type { ExtractedValue } from '../../media/metadata/source.ts';

type Value = ExtractedValue['value'];

/** Parses a number, also one written as a fraction: `1/250`. */
function numberOf(text: string): number | undefined {
  const found = /^\s*([-+]?\d+(?:\.\d+)?)(?:\s*\/\s*(\d+(?:\.\d+)?))?\s*$/.exec(text);
  const number = Number(found?.[1] ?? Number.NaN) / Number(found?.[2] ?? 1);
  return Number.isFinite(number) ? number : undefined;
}

/**
 * Parses a time with its offset. Without an offset in the file, its local time counts as UTC, so that it reads the same
 * everywhere.
 */
function instantOf(text: string): string | undefined {
  const found = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z|[+-]\d\d:\d\d)?)?$/.exec(text);
  if (found === null) return undefined;
  const [, day, time = '00:00:00', offset = 'Z'] = found;
  const at = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(at.getTime()) ? undefined : `${day}T${time}${offset}`;
}

/**
 * Returns what a file offers to a field of this type; nothing where the types do not match. A date is the local one
 * where the picture was taken.
 */
export function offerFor(type: FieldType, value: Value): Value | undefined {
  const text = Array.isArray(value) ? value.join(', ') : String(value);
  switch (type) {
    case 'number':
    case 'boolean':
      return typeof value === 'number' ? value : numberOf(text);
    case 'date':
      return instantOf(text) === undefined ? undefined : text.slice(0, 10);
    case 'datetime':
      return instantOf(text);
    case 'reference':
      return undefined;
    default:
      return value;
  }
}
