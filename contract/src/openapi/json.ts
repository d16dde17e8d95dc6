/** JSON values of the document and the schemas. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a TypeBox schema as plain JSON, without TypeBox's own properties. */
export function plainJson(schema: object): Json {
  return JSON.parse(JSON.stringify(schema));
}

export function isNull(schema: Json): boolean {
  return isObject(schema) && schema.type === 'null';
}
