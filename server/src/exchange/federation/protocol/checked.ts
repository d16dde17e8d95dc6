import type { Static, TSchema } from 'typebox';
import { compileLater } from '../../../platform/http/compile-later.ts';
import { Rejection } from './rejection.ts';

/**
 * Returns a function that returns a value with the types of the schema or throws a Rejection: `unknown_field` for a
 * property that the schema does not have, `malformed` for everything else. `name` is the name of the value in the
 * detail.
 */
export function checked<S extends TSchema>(schema: S, name: string): (value: unknown) => Static<S> {
  const compiled = compileLater(schema);
  return (value) => {
    if (compiled().Check(value)) return value;
    const faults = [...compiled().Errors(value)];
    const unknown = faults.find(({ keyword }) => keyword === 'boolean');
    const fault = unknown ?? faults.find(({ keyword }) => keyword !== 'anyOf') ?? faults[0];
    const path = `${name}${(fault?.instancePath ?? '').replaceAll('/', '.')}`.slice(0, 200);
    if (unknown !== undefined)
      throw new Rejection('unknown_field', `${path} is not a property of the protocol`);
    throw new Rejection('malformed', `${path} ${fault?.message ?? 'is malformed'}`);
  };
}
