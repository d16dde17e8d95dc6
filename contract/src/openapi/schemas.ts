import { modules } from '../operations.ts';
import { isNull, isObject, type Json, type JsonObject, plainJson } from './json.ts';

/** `ErrorBody` would say the same twice: generators put it next to `Body` types of their own. */
const renamed: Readonly<Record<string, string>> = { ErrorBody: 'Error' };

/** Objects, unions and enumerations are worth a name; a text with a pattern is not. */
function isNameable(schema: unknown): schema is JsonObject {
  return isObject(schema) && ('properties' in schema || 'anyOf' in schema || 'enum' in schema);
}

/** The names of all exported schemas by what the schemas say. */
function exportedNames(): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, schema] of modules.flatMap((exported) => Object.entries(exported))) {
    if (!isNameable(schema) || !/^[A-Z]/.test(name)) continue;
    const text = JSON.stringify(schema);
    if (!names.has(text)) names.set(text, renamed[name] ?? name);
  }
  return names;
}

/** The schemas of the document: named ones as references, each written once under `components`. */
export interface SchemaBook {
  /** The schema, or a reference to it. An object that has no name yet gets `name`. */
  of(schema: object, name: string): Json;
  /** The schema of one value, written out where it stands. */
  inline(schema: Json): Json;
  /** Everything that was referred to, by name. */
  components(): JsonObject;
  /** Which name each schema has, by the text of the schema. */
  nameOf(schema: Json): string | undefined;
}

/** `{items, next_cursor}` and perhaps more: the item's schema. */
function pagedItem({ properties }: JsonObject): Json | undefined {
  if (!isObject(properties) || !isObject(properties.items) || !('next_cursor' in properties))
    return undefined;
  return Object.keys(properties).length === 2 ? properties.items.items : undefined;
}

/**
 * Writes schemas as OpenAPI 3.0 does: a union with null is `nullable`, a constant an enumeration of one. A schema is
 * known by what it says, not by identity, because TypeBox copies the schemas of optional properties.
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

  /** A value or null. 3.0 reads `nullable` only beside `type`, so a reference gets null as another branch. */
  function nullable(branches: Json[]): Json {
    const rest = branches.filter((one) => !isNull(one));
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

  /** The schema itself, with references in place of the named schemas in it. */
  function convert(schema: JsonObject): JsonObject {
    const converted: JsonObject = {};
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'const') converted.enum = [value];
      // A record of anything: OpenAPI 3.0 has no patternProperties.
      else if (key === 'patternProperties') converted.additionalProperties = true;
      else if (key === 'properties' && isObject(value)) {
        converted.properties = Object.fromEntries(
          Object.entries(value).map(([name, one]) => [name, inline(one)]),
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
