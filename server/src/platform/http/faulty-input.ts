import type { TLocalizedValidationError as Fault } from 'typebox/error';
import { type SentenceValue, sentence } from '../language/sentence.ts';
import { type Refusal, refuse } from './refuse.ts';

function nameOf(path: string, whole: string): string {
  return path === '' ? whole : path.slice(1).replaceAll('/', '.');
}

/** Returns the names of types, such as `string or null`. */
const alternatives = (types: readonly string[]) =>
  types.reduce<SentenceValue>(
    (one, other) => (one === '' ? other : sentence('{one} or {other}', { one, other })),
    '',
  );

/** Returns the error for one violation of a schema. */
function refusalOf(fault: Fault, whole: string): Refusal {
  const property = nameOf(fault.instancePath, whole);
  switch (fault.keyword) {
    case 'boolean':
      return refuse('property-unknown', { property });
    case 'additionalProperties':
      return refuse('properties-unknown', { property });
    case 'required': {
      const missing = fault.params.requiredProperties;
      const [first = ''] = missing;
      return refuse('value-missing', {
        property: fault.instancePath === '' ? first : `${property}.${first}`,
        object: property,
        missing,
      });
    }
    case 'type': {
      const { type } = fault.params;
      return typeof type === 'string'
        ? refuse('value-of-wrong-type', { property, type })
        : refuse('value-of-wrong-types', { property, types: alternatives(type) });
    }
    case 'anyOf':
      return refuse('value-of-no-variant', { property });
    case 'const':
      return refuse('value-not-allowed', { property });
    case 'enum':
      return refuse('value-not-listed', { property });
    case 'format':
      return refuse('value-malformed', { property, format: fault.params.format });
    case 'pattern':
      return refuse('value-without-match', { property, pattern: String(fault.params.pattern) });
    case 'minLength':
      return refuse('value-too-short', { property, min: fault.params.limit });
    case 'maxLength':
      return refuse('value-too-long', { property, max: fault.params.limit });
    case 'minItems':
      return refuse('too-few-items', { property, min: fault.params.limit });
    case 'maxItems':
      return refuse('too-many-items', { property, max: fault.params.limit });
    case 'minProperties':
      return refuse('too-few-properties', { property, min: fault.params.limit });
    case 'maxProperties':
      return refuse('too-many-properties', { property, max: fault.params.limit });
    case 'uniqueItems':
      return refuse('items-repeated', { property });
    case 'minimum':
      return refuse('value-too-small', { property, min: Number(fault.params.limit) });
    case 'maximum':
      return refuse('value-too-large', { property, max: Number(fault.params.limit) });
    case 'exclusiveMinimum':
      return refuse('value-not-above', { property, min: Number(fault.params.limit) });
    case 'exclusiveMaximum':
      return refuse('value-not-below', { property, max: Number(fault.params.limit) });
    case 'multipleOf':
      return refuse('value-not-multiple', { property, step: Number(fault.params.multipleOf) });
    default:
      return refuse('value-invalid', { property, reason: fault.message });
  }
}

/** Returns the error for the first violation that a client can act on; `whole` names the part of the request. */
export function faultyInput(faults: readonly Fault[], whole: string): Refusal {
  const fault =
    faults.find(({ keyword }) => keyword === 'boolean') ??
    faults.find(({ keyword }) => keyword !== 'anyOf') ??
    faults[0];
  return fault === undefined ? refuse('input-malformed', { part: whole }) : refusalOf(fault, whole);
}
