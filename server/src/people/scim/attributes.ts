import { invalidValue, ScimFault } from './fault.ts';

/** A JSON object whose names are in lower case: SCIM compares names without regard to case. */
export type Attributes = ReadonlyMap<string, unknown>;

export const schemaUrns = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
} as const;

const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/i;

/** The parts of a person's name. */
export const nameParts = [
  'formatted',
  'familyName',
  'givenName',
  'middleName',
  'honorificPrefix',
  'honorificSuffix',
] as const;

/** Returns a path without the schema before it. */
export function withoutSchema(path: string): string {
  return path.replace(coreSchema, '');
}

/** Returns the name of an attribute without the schema before it, in lower case. */
export function bareName(name: string): string {
  return withoutSchema(name).toLowerCase();
}

/** Reads an object; throws `invalidSyntax` for another value, and for a name that occurs twice. */
export function attributesOf(value: unknown, what: string): Attributes {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ScimFault(400, 'invalidSyntax', `${what} must be an object`);
  const found = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    const name = bareName(key);
    if (found.has(name)) throw new ScimFault(400, 'invalidSyntax', `${what} has ${name} twice`);
    found.set(name, inner);
  }
  return found;
}

/** Reads a string; null for none. Directories send empty strings for values that they do not have. */
export function textOf(value: unknown, what: string, most: number): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw invalidValue(`${what} must be a string`);
  if ([...value].length > most) throw invalidValue(`${what} must have at most ${most} characters`);
  return value;
}

/** Reads a boolean; Entra ID sends `"True"` and `"False"`. Undefined for none. */
export function booleanOf(value: unknown, what: string): boolean | undefined {
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (word !== 'true' && word !== 'false') throw invalidValue(`${what} must be true or false`);
  return word === 'true';
}

/** Returns the values of an attribute with several; a single value is a list of one. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
