/** JSON as the document and the schemas are written in. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A TypeBox schema without what TypeBox remembers of it. */
export function plainJson(schema: object): Json {
  return JSON.parse(JSON.stringify(schema));
}

export function isNull(schema: Json): boolean {
  return isObject(schema) && schema.type === 'null';
}
