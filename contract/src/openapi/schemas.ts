import { modules } from '../operations.ts';
import { isNull, isObject, type Json, type JsonObject, plainJson } from './json.ts';

/** Renamed, because generators would put `ErrorBody` next to `Body` types of their own. */
const renamed: Readonly<Record<string, string>> = { ErrorBody: 'Error' };

/** Objects, unions and enumerations get a name; a string with a pattern does not. */
function isNameable(schema: unknown): schema is JsonObject {
  return isObject(schema) && ('properties' in schema || 'anyOf' in schema || 'enum' in schema);
}

/** Returns the names of all exported schemas by their JSON text. */
function exportedNames(): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, schema] of modules.flatMap((exported) => Object.entries(exported))) {
    if (!isNameable(schema) || !/^[A-Z]/.test(name)) continue;
    const text = JSON.stringify(schema);
    if (!names.has(text)) names.set(text, renamed[name] ?? name);
  }
  return names;
}

/** The schemas of the document. Named schemas become references, each defined once under `components`. */
export interface SchemaBook {
  /** Returns the schema, or a reference to it. An object without a name gets `name`. */
  of(schema: object, name: string): Json;
  /** Returns the schema of one value inline. */
  inline(schema: Json): Json;
  /** All referenced schemas, by name. */
  components(): JsonObject;
  /** The name of each schema, by its JSON text. */
  nameOf(schema: Json): string | undefined;
}

/** Returns the item schema of a page, an object with `items` and `next_cursor`. */
function pagedItem({ properties }: JsonObject): Json | undefined {
  if (!isObject(properties) || !isObject(properties.items) || !('next_cursor' in properties))
    return undefined;
  return Object.keys(properties).length === 2 ? properties.items.items : undefined;
}

/**
 * Converts schemas to OpenAPI 3.0: a union with null becomes `nullable`, a constant an enumeration of one value.
 * Schemas are identified by their JSON text because TypeBox copies the schemas of optional properties.
 */
export function openSchemaBook(): SchemaBook {
  const names = exportedNames();
  const written: JsonObject = {};

  function nameOf(schema: Json): string | undefined {
    if (!isNameable(schema)) return undefined;
    const known = names.get(JSON.stringify(schema));
    if (known !== undefined) return known;
    const item = pagedItem(schema);
    const itemName = item === undefined ? undefined : nameOf(item);
    return itemName === undefined ? undefined : `${itemName}Page`;
  }

  function refer(name: string, schema: JsonObject): JsonObject {
    if (!(name in written)) {
      written[name] = {};
      written[name] = convert(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** A value or null. OpenAPI 3.0 reads `nullable` only beside `type`, so a reference gets null as another branch. */
  function nullable(branches: Json[]): Json {
    const rest = branches.filter((branch) => !isNull(branch));
    const [only] = rest;
    const isEnum = isObject(only) && 'enum' in only;
    const value = isEnum ? convert(only) : inline(only ?? null);
    if (rest.length > 1 || !isObject(value) || value.type === undefined) {
      return { anyOf: [...rest.map(inline), { type: 'string', nullable: true, enum: [null] }] };
    }
    return Array.isArray(value.enum)
      ? { ...value, enum: [...value.enum, null], nullable: true }
      : { ...value, nullable: true };
  }

  /** The schema itself, in which named schemas are replaced by references. */
  function convert(schema: JsonObject): JsonObject {
    const converted: JsonObject = {};
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'const') converted.enum = [value];
      // A record with any keys: OpenAPI 3.0 has no patternProperties.
      else if (key === 'patternProperties') converted.additionalProperties = true;
      else if (key === 'properties' && isObject(value)) {
        converted.properties = Object.fromEntries(
          Object.entries(value).map(([name, property]) => [name, inline(property)]),
        );
      } else if (key === 'anyOf' && Array.isArray(value)) converted.anyOf = value.map(inline);
      else if (key === 'items') converted.items = inline(value);
      else converted[key] = value;
    }
    if (Array.isArray(converted.enum) && converted.type === undefined) {
      const kind = typeof converted.enum[0];
      converted.type = kind === 'number' ? 'integer' : kind;
    }
    return converted;
  }

  function inline(schema: Json): Json {
    if (!isObject(schema)) return schema;
    if (Array.isArray(schema.anyOf) && schema.anyOf.some(isNull)) return nullable(schema.anyOf);
    const name = nameOf(schema);
    return name === undefined ? convert(schema) : refer(name, schema);
  }

  return {
    of(given, name) {
      const schema = plainJson(given);
      if (isNameable(schema) && nameOf(schema) === undefined) names.set(JSON.stringify(schema), name);
      return inline(schema);
    },
    inline,
    components: () => Object.fromEntries(Object.entries(written).sort(([a], [b]) => (a < b ? -1 : 1))),
    nameOf,
  };
}
