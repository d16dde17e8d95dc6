import { definitionOf, type ErrorCode, errorCodes, isErrorCode } from './errors/codes.ts';
import { errorHeader } from './errors/header.ts';
import { errorStatuses, frameCodes } from './errors/of-operation.ts';
import { ErrorBody, type ErrorStatus, statusMeaning } from './errors.ts';
import { accessOf, contact, description, license, tags } from './openapi/descriptions.ts';
import { errorExample, exampleOf, exampleRequest } from './openapi/examples.ts';
import { isObject, type Json, type JsonObject, plainJson } from './openapi/json.ts';
import { openSchemaBook, type SchemaBook } from './openapi/schemas.ts';
import { isPlain, type Operation, type ResponseBody } from './operation.ts';
import { apiVersion, basePath, operations } from './operations.ts';
import { pageQuery } from './values.ts';

/** Capitalises an operation id for use in a schema name, such as `CreatePost`. */
function pascal(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1);
}

/** The paging parameters of all lists, written once. */
const sharedParameters: { readonly [name: string]: { schema: Json; description: string } } = {
  limit: { schema: plainJson(pageQuery.limit), description: 'The most items that the page has.' },
  cursor: {
    schema: plainJson(pageQuery.cursor),
    description: 'The `next_cursor` of the previous page. It is valid only for this list and these filters.',
  },
};

function parametersOf(operation: Operation, book: SchemaBook): Json[] {
  const found: Json[] = [];
  for (const [place, schema] of [
    ['path', operation.params],
    ['query', operation.query],
  ] as const) {
    const object = schema === undefined ? null : plainJson(schema);
    if (!isObject(object) || !isObject(object.properties)) continue;
    const required = Array.isArray(object.required) ? object.required : [];
    for (const [name, property] of Object.entries(object.properties)) {
      const shared = place === 'query' ? sharedParameters[name] : undefined;
      if (shared !== undefined && JSON.stringify(shared.schema) === JSON.stringify(property)) {
        found.push({ $ref: `#/components/parameters/${pascal(name)}` });
        continue;
      }
      found.push({
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        schema: book.inline(property),
      });
    }
  }
  return found;
}

const binary = { type: 'string', format: 'binary' };

/** The multipart form of an upload: the body's properties as form fields and the part `file`. */
function formSchema(body: Json, book: SchemaBook): Json {
  const properties = isObject(body) && isObject(body.properties) ? body.properties : {};
  const { file_hash: _, upload_id: __, ...fields } = properties;
  // Forms of a file alone are the same schema.
  if (Object.keys(fields).length === 0)
    return book.of({ type: 'object', required: ['file'], properties: { file: binary } }, 'FileForm');
  return {
    type: 'object',
    required: ['file'],
    properties: {
      file: binary,
      ...Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, book.inline(schema)])),
    },
  };
}

/** A named example, because tools print the other form as a comment on every type. */
function examples(value: Json): JsonObject {
  return { examples: { example: { value } } };
}

function requestBody(operation: Operation, book: SchemaBook): JsonObject {
  if (operation.raw !== undefined) {
    const content = { 'application/octet-stream': { schema: binary } };
    return { requestBody: { required: true, content } };
  }
  if (operation.tus === true && (operation.method === 'POST' || operation.method === 'PATCH')) {
    const content = { 'application/offset+octet-stream': { schema: binary } };
    return { requestBody: { required: operation.method === 'PATCH', content } };
  }
  if (operation.unreadForm === true) {
    const form = { schema: { type: 'object' } };
    const content = { 'multipart/form-data': form, 'application/x-www-form-urlencoded': form };
    return { requestBody: { required: false, content } };
  }
  if (operation.body === undefined) return {};
  if (operation.postedForm !== undefined) {
    const schema = book.of(operation.body, `${pascal(operation.id)}Request`);
    return { requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema } } } };
  }
  const content: JsonObject = {};
  if (operation.form !== 'only') {
    const schema = book.of(operation.body, `${pascal(operation.id)}Request`);
    content['application/json'] = { schema, ...examples(exampleRequest(operation)) };
  }
  if (operation.form !== undefined) {
    content['multipart/form-data'] = { schema: formSchema(plainJson(operation.body), book) };
  }
  return { requestBody: { required: operation.bodyOptional !== true, content } };
}

const successMeaning: { readonly [status: string]: string } = {
  201: 'Created.',
  202: 'Accepted: a job does the rest.',
  204: 'Done.',
  206: 'The requested range.',
  302: 'Go on at `Location`.',
  303: 'Go on at `Location`.',
  304: 'Not modified: the client has these bytes.',
};

/** Responses written once: successes by schema, errors by status. */
interface ResponseBook {
  of(operation: Operation, status: string, body: ResponseBody): Json;
  components(): JsonObject;
}

function openResponseBook(book: SchemaBook): ResponseBook {
  const written: JsonObject = {};
  const refer = (name: string, response: JsonObject): Json => {
    written[name] ??= response;
    return { $ref: `#/components/responses/${name}` };
  };
  return {
    of(operation, status, body) {
      const meaning = successMeaning[status] ?? 'OK.';
      if (!isPlain(body)) {
        const schema = book.of(body, `${pascal(operation.id)}Result`);
        const example = examples(exampleOf(plainJson(body)));
        const response = { description: meaning, content: { 'application/json': { schema, ...example } } };
        const name = isObject(schema) ? /[^/]*$/.exec(String(schema.$ref ?? ''))?.[0] : undefined;
        const suffix = status === '200' ? '' : status === '201' ? 'Created' : 'Accepted';
        return name === undefined || name === '' ? response : refer(name + suffix, response);
      }
      if (body.kind === 'empty') {
        return refer(status === '304' ? 'NotModified' : `Empty${status}`, { description: meaning });
      }
      if (body.kind === 'events') {
        const named = Object.entries(body.events).map(
          ([name, schema]) => `${name}: ${JSON.stringify(schema)}`,
        );
        return {
          description: `Server-sent events with JSON data. ${named.join('; ')}`,
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        };
      }
      return { description: meaning, content: { [body.type]: { schema: binary } } };
    },
    components: () => Object.fromEntries(Object.entries(written).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const errorNames: Readonly<Record<ErrorStatus, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  431: 'RequestHeadTooLarge',
  500: 'ServerError',
  501: 'NotImplemented',
  503: 'ServiceUnavailable',
  507: 'InsufficientStorage',
};

// The keys of a typed record.
const statuses = Object.keys(errorNames).map(Number) as ErrorStatus[];

const codeHeader: JsonObject = { [errorHeader]: { $ref: '#/components/headers/VitrineError' } };

/** More response headers that tell a client how to react to a status. */
const headersOf: { readonly [status: number]: JsonObject } = {
  405: { Allow: { $ref: '#/components/headers/Allow' } },
  429: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  503: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
};

/** Groups codes by their statuses, in ascending order. */
function byStatus(codes: Iterable<ErrorCode>): Map<ErrorStatus, ErrorCode[]> {
  const groups = Map.groupBy([...codes].sort(), (code) => definitionOf(code).status);
  return new Map([...groups].sort(([a], [b]) => a - b));
}

const quoted = (codes: readonly ErrorCode[]) => codes.map((code) => `\`${code}\``).join(', ');

/** The codes that an operation has besides those of the shared responses, as text and as data. */
function ownCodes({ errors }: Operation): { text: string; data: JsonObject } {
  const groups = [...byStatus(new Set(errors))];
  if (groups.length === 0) return { text: '', data: {} };
  const text = groups.map(([status, codes]) => `${status} ${quoted(codes)}`).join('; ');
  return { text: ` Error codes: ${text}.`, data: { 'x-error-codes': Object.fromEntries(groups) } };
}

/** Every code with its status and its text, from which clients can make texts of their own. */
function catalogue(): JsonObject {
  const codes = Object.keys(errorCodes).filter(isErrorCode).sort();
  return Object.fromEntries(
    codes.map((code) => {
      const { status, text } = definitionOf(code);
      return [code, { status, text }];
    }),
  );
}

function errorResponses(book: SchemaBook): JsonObject {
  const schema = book.of(ErrorBody, 'Error');
  const all: readonly Operation[] = Object.values(operations);
  const common = byStatus(new Set(all.flatMap((operation) => [...frameCodes(operation)])));
  const codesFor = (status: ErrorStatus) =>
    status === 405 ? ['method-not-allowed' as const] : (common.get(status) ?? []);
  return Object.fromEntries(
    statuses.map((status) => [
      errorNames[status],
      {
        description: `${statusMeaning[status]}${codesFor(status).length === 0 ? '' : ` Codes: ${quoted(codesFor(status))}.`}`,
        headers: { ...codeHeader, ...headersOf[status] },
        content: { 'application/json': { schema, ...examples(errorExample(status)) } },
      },
    ]),
  );
}

function describe(operation: Operation, book: SchemaBook, successes: ResponseBook): Json {
  const responses: JsonObject = {};
  for (const [status, body] of Object.entries(operation.responses)) {
    responses[status] = successes.of(operation, status, body);
  }
  // 405 belongs to the path: it answers methods for which there is no operation.
  for (const status of [...errorStatuses(operation), 405 as const]) {
    responses[status] = { $ref: `#/components/responses/${errorNames[status]}` };
  }
  const parameters = parametersOf(operation, book);
  const { text, data } = ownCodes(operation);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description} ${accessOf(operation)}${text}`,
    ...data,
    ...(operation.door === 'open' ? { security: [] } : {}),
    ...(operation.door === 'public' ? { security: [{}, { session: [] }, { token: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(operation, book),
    responses,
  };
}

/** Returns the interface as an OpenAPI 3.0.3 document (HTTP-32). */
export function openApiDocument(version: string): JsonObject {
  const book = openSchemaBook();
  const successes = openResponseBook(book);
  const errors = errorResponses(book);
  const paths: { [path: string]: JsonObject } = {};
  for (const operation of Object.values(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, book, successes),
    };
  }
  return {
    openapi: '3.0.3',
    info: { title: 'Vitrine', version: apiVersion, description: description(version), contact, license },
    servers: [{ url: basePath, description: 'This library' }],
    tags,
    security: [{ session: [] }, { token: [] }],
    paths,
    'x-error-codes': catalogue(),
    components: {
      schemas: book.components(),
      parameters: Object.fromEntries(
        Object.entries(sharedParameters).map(([name, { schema, description }]) => [
          pascal(name),
          { name, in: 'query', required: false, description, schema },
        ]),
      ),
      headers: {
        Allow: { description: 'The methods of this path.', schema: { type: 'string' } },
        VitrineError: {
          description:
            'The code of the error with its parameters: an item of RFC 9651. `x-error-codes` has the texts of all codes.',
          schema: { type: 'string' },
          example: 'value-too-long;property="title";max=500',
        },
        RetryAfter: { description: 'When to try again, in seconds.', schema: { type: 'integer' } },
      },
      responses: { ...successes.components(), ...errors },
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'user',
          description: 'The session cookie that `POST /auth/login` sets.',
        },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A personal access token. It never allows more than its account may do.',
        },
      },
    },
  };
}
