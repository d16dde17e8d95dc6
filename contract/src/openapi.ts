import { ErrorBody, type ErrorStatus, statusMeaning } from './errors.ts';
import { isPlain, type Operation, type ResponseBody } from './operation.ts';
import { apiVersion, basePath, operations } from './operations.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainJson(schema: object): Json {
  return JSON.parse(JSON.stringify(schema));
}

const isNull = (schema: Json) => isObject(schema) && schema.type === 'null';

/** A union with null becomes `nullable`, a constant an enumeration of one: the forms of OpenAPI 3.0. */
function toOpenApi(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(toOpenApi);
  if (!isObject(schema)) return schema;
  if (Array.isArray(schema.anyOf) && schema.anyOf.some(isNull)) {
    const rest = schema.anyOf.filter((one) => !isNull(one)).map(toOpenApi);
    const [only] = rest;
    if (rest.length === 1 && isObject(only)) {
      return Array.isArray(only.enum)
        ? { ...only, enum: [...only.enum, null], nullable: true }
        : { ...only, nullable: true };
    }
    return { anyOf: rest, nullable: true };
  }
  const converted: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'const') converted.enum = [value];
    // A record of anything: OpenAPI 3.0 has no patternProperties.
    else if (key === 'patternProperties') converted.additionalProperties = true;
    else if (key === 'properties' && isObject(value)) {
      converted.properties = Object.fromEntries(
        Object.entries(value).map(([name, one]) => [name, toOpenApi(one)]),
      );
    } else converted[key] = toOpenApi(value);
  }
  if (Array.isArray(converted.enum) && converted.type === undefined) {
    const kind = typeof converted.enum[0];
    converted.type = kind === 'number' ? 'integer' : kind;
  }
  return converted;
}

function convert(schema: object): Json {
  return toOpenApi(plainJson(schema));
}

function parametersOf(operation: Operation): Json[] {
  const found: Json[] = [];
  for (const [place, schema] of [
    ['path', operation.params],
    ['query', operation.query],
  ] as const) {
    const object = schema === undefined ? null : plainJson(schema);
    if (!isObject(object) || !isObject(object.properties)) continue;
    const required = Array.isArray(object.required) ? object.required : [];
    for (const [name, property] of Object.entries(object.properties)) {
      found.push({
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        schema: toOpenApi(property),
      });
    }
  }
  return found;
}

/** The form of an upload: the body's members as fields beside the part `file`. */
function formSchema(body: Json): Json {
  const object = isObject(body) ? body : {};
  const properties = isObject(object.properties) ? object.properties : {};
  const { file_hash: _, upload_id: __, ...fields } = properties;
  return {
    type: 'object',
    required: ['file'],
    properties: { file: { type: 'string', format: 'binary' }, ...fields },
  };
}

function requestBody(operation: Operation): JsonObject {
  if (operation.raw !== undefined) {
    const content = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    return { requestBody: { required: true, content } };
  }
  if (operation.tus === true && (operation.method === 'POST' || operation.method === 'PATCH')) {
    const content = { 'application/offset+octet-stream': { schema: { type: 'string', format: 'binary' } } };
    return { requestBody: { required: operation.method === 'PATCH', content } };
  }
  if (operation.unreadForm === true) {
    const form = { schema: { type: 'object' } };
    const content = { 'multipart/form-data': form, 'application/x-www-form-urlencoded': form };
    return { requestBody: { required: false, content } };
  }
  if (operation.body === undefined) return {};
  const schema = convert(operation.body);
  const content: JsonObject = operation.form === 'only' ? {} : { 'application/json': { schema } };
  if (operation.form !== undefined) content['multipart/form-data'] = { schema: formSchema(schema) };
  return { requestBody: { required: operation.bodyOptional !== true, content } };
}

const successMeaning: { readonly [status: string]: string } = {
  201: 'Created.',
  204: 'Done.',
  206: 'A range.',
  304: 'Not modified: the client has these bytes.',
};

function success(status: string, body: ResponseBody): Json {
  const description = successMeaning[status] ?? 'OK.';
  if (!isPlain(body)) return { description, content: { 'application/json': { schema: convert(body) } } };
  if (body.kind === 'empty') return { description };
  if (body.kind === 'events') {
    const named = Object.entries(body.events).map(([name, schema]) => `${name}: ${JSON.stringify(schema)}`);
    return {
      description: `Server-sent events, their data as JSON. ${named.join('; ')}`,
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    };
  }
  return { description, content: { [body.type]: { schema: { type: 'string', format: 'binary' } } } };
}

/** The error statuses an operation may answer with, in ascending order. Every one has the body `{error}`. */
export function errorStatuses(operation: Operation): ErrorStatus[] {
  const writes = operation.method !== 'GET';
  return [
    ...new Set<ErrorStatus>([
      // A malformed or oversized request head is refused whatever it asks for.
      400,
      401,
      // An open door refuses nobody but another site's page, which may not ask for changes.
      ...(operation.door === 'open' && !writes ? [] : [403 as const]),
      // A head that takes too long is refused whatever it asks for.
      408,
      // A body is read even where the operation takes none.
      ...(writes ? ([413, 415] as const) : []),
      ...operation.errors,
      429,
      431,
      500,
      503,
      ...(writes ? [507 as const] : []),
    ]),
  ].sort((a, b) => a - b);
}

/** Headers that tell a client what to do about a status. */
const headersOf: { readonly [status: number]: JsonObject } = {
  405: { Allow: { description: 'The methods of this path.', schema: { type: 'string' } } },
  429: { 'Retry-After': { description: 'In seconds.', schema: { type: 'integer' } } },
  503: { 'Retry-After': { description: 'In seconds.', schema: { type: 'integer' } } },
};

function failure(status: ErrorStatus): Json {
  const headers = headersOf[status];
  return {
    description: statusMeaning[status],
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

function describe(operation: Operation): Json {
  const responses: JsonObject = {};
  for (const [status, body] of Object.entries(operation.responses)) responses[status] = success(status, body);
  // 405 is no answer of the operation itself, but of the methods that its path does not have.
  for (const status of [...errorStatuses(operation), 405 as const]) responses[status] = failure(status);
  const parameters = parametersOf(operation);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.door === 'open' ? { security: [] } : {}),
    ...(operation.door === 'public' ? { security: [{}, { session: [] }, { token: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(operation),
    responses,
  };
}

/** The interface as an OpenAPI 3.0.3 document (HTTP-32). */
export function openApiDocument(version: string): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const operation of Object.values(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation),
    };
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Vitrine', version: apiVersion, description: `Interface of Vitrine ${version}.` },
    servers: [{ url: basePath }],
    security: [{ session: [] }, { token: [] }],
    paths,
    components: {
      schemas: { Error: convert(ErrorBody) },
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'user' },
        token: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}
