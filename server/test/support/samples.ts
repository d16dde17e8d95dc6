/** A JSON value, such as a schema of the contract after JSON.stringify. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Returns a number from 0 to 1. */
export type Random = () => number;

/** Returns a generator of numbers from 0 to 1, the same for the same seed (xorshift32). */
export function randomFrom(seed: number): Random {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

export function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}

/** Returns the value if it is an object, otherwise an empty one. */
export function asObject(value: Json | undefined): JsonObject {
  // Array.isArray does not narrow a readonly array.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** Returns a schema of the contract as plain JSON. */
export function schemaOf(schema: object | undefined): JsonObject {
  return schema === undefined ? {} : JSON.parse(JSON.stringify(schema));
}

export function propertiesOf({ properties }: JsonObject): [string, JsonObject][] {
  return Object.entries(asObject(properties)).map(([name, one]) => [name, asObject(one)]);
}

/** Returns the alternatives of a schema, without null. */
export function variantsOf({ anyOf }: JsonObject): JsonObject[] {
  return Array.isArray(anyOf) ? anyOf.map(asObject).filter(({ type }) => type !== 'null') : [];
}

export function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export const uuidAt = (place: number) => `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;

/** Returns a value that the schema allows, different for different places. */
export function sampleOf(schema: JsonObject, place = 1): Json {
  const [variant] = variantsOf(schema);
  if (variant !== undefined) return sampleOf(variant, place);
  if ('const' in schema) return schema.const ?? null;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'string':
      if (schema.format === 'uuid') return uuidAt(place);
      if (schema.format === 'date-time') return '2099-01-01T00:00:00Z';
      return `text${place}`.padEnd(numberOf(schema.minLength) ?? 0, 'x');
    case 'integer':
    case 'number':
      return numberOf(schema.minimum) ?? place;
    case 'boolean':
      return true;
    case 'array':
      return samplesOf(schema, Math.max(1, numberOf(schema.minItems) ?? 0));
    case 'object':
      return Object.fromEntries(propertiesOf(schema).map(([name, one]) => [name, sampleOf(one, place)]));
    default:
      return {};
  }
}

/** Returns this many different items that an array's schema allows. */
export function samplesOf({ items }: JsonObject, count: number): Json[] {
  return Array.from({ length: count }, (_, index) => sampleOf(asObject(items), index + 1));
}
