import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { openApiDocument } from '@vitrine/contract/openapi';
import { isPlain, type Operation } from '@vitrine/contract/operation';
import { operations } from '@vitrine/contract/operations';
import openapiTS, { astToString } from 'openapi-typescript';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';

interface Content {
  content?: Record<string, { examples?: { example: { value: unknown } } }>;
}
interface Described {
  summary: string;
  description: string;
  tags: string[];
  requestBody?: Content;
  responses: Record<string, Content & { $ref?: string }>;
}
interface Document {
  info: Record<string, unknown>;
  servers: unknown[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  components: {
    schemas: Record<string, unknown>;
    responses: Record<string, Content>;
    headers: Record<string, { schema: object; example?: unknown }>;
  };
}

const text = JSON.stringify(openApiDocument('0.1.0'));
/** The document as a client reads it. */
const read = (): Document => JSON.parse(text);
const document = read();
const all: readonly Operation[] = Object.values(operations);

function describedAs({ path, method }: Operation): Described {
  const found = document.paths[path]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${method} ${path} is not in the document`);
  return found;
}

/** The example of a body or a response, which may be a reference to a component. */
function exampleIn(given: (Content & { $ref?: string }) | undefined): unknown {
  const name = given?.$ref?.split('/').at(-1);
  const { content } = (name === undefined ? given : document.components.responses[name]) ?? {};
  return content?.['application/json']?.examples?.example.value;
}

// HTTP-32
describe('the OpenAPI document', () => {
  // HTTP-32
  test('describes every operation in sentences and says who may call it', () => {
    for (const operation of all) {
      const { summary, description } = describedAs(operation);
      expect(summary, operation.id).toMatch(/^[A-Z].*[^.]$/);
      expect(operation.description, operation.id).toMatch(/^[A-Z`].*\.$/);
      expect(description.startsWith(operation.description), operation.id).toBe(true);
      if (typeof operation.door === 'object') {
        expect(description).toContain(`Requires the capability \`${operation.door.holds}\`.`);
      }
    }
  });

  test('describes every tag, and has a contact, a licence and a server', () => {
    const described = document.tags.filter((tag) => tag.description !== '').map(({ name }) => name);
    expect([...new Set(all.map(({ tag }) => tag))].sort()).toEqual(described.sort());
    expect(document.info).toMatchObject({ contact: { name: /\w/ }, license: { name: 'Apache-2.0' } });
    expect(document.servers).toHaveLength(1);
  });

  // HTTP-32
  test('has an example of every JSON body and response, which its schema allows', () => {
    const faults: unknown[] = [];
    let examples = 0;
    const check = (where: string, schema: object, example: unknown) => {
      examples += 1;
      faults.push(...[...Compile(schema).Errors(example)].map((fault) => ({ where, ...fault })));
    };
    for (const operation of all) {
      const { requestBody, responses } = describedAs(operation);
      if (operation.body !== undefined && operation.form !== 'only' && operation.postedForm === undefined) {
        check(`${operation.id} request`, operation.body, exampleIn(requestBody));
      }
      for (const [status, body] of Object.entries(operation.responses)) {
        if (!isPlain(body)) check(`${operation.id} ${status}`, body, exampleIn(responses[status]));
      }
    }
    for (const [name, { schema, example }] of Object.entries(document.components.headers))
      if (example !== undefined) check(name, schema, example);
    expect(faults).toEqual([]);
    expect(examples).toBeGreaterThan(250);
  });

  test('passes the rules that Spectral recommends', async () => {
    // The types of spectral-core ask every ruleset to extend another one; this one, from the same authors, extends none.
    const recommended = oas as object as RulesetDefinition;
    const linter = new spectral.Spectral();
    // Redocly compares the examples of bodies with their schemas, too, and compiles every schema for it.
    const rules = { 'oas3-valid-media-example': 'off' as const };
    linter.setRuleset({ extends: [[recommended, 'recommended']], rules });
    const found = await linter.run({ ...read() });
    expect(found.map(({ code, path, message }) => ({ code, path, message }))).toEqual([]);
  });

  test('passes the rules that Redocly recommends', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    // The interface binds these two paths. Their parameters are a UUID and a number in the paths they resemble, and no
    // UUID reads `by-asset`, no number `by-username`.
    const bound = /`\/(posts\/by-asset\/\{id\}|users\/by-username\/\{username\})` and /;
    const unexpected = problems.filter(
      ({ ruleId, message, location }) =>
        (ruleId !== 'no-ambiguous-paths' || !bound.test(message)) &&
        // Browsers open these addresses, which always redirect.
        (ruleId !== 'operation-2xx-response' ||
          !location.some(({ pointer }) => /^#\/paths\/~1auth~1(oidc|saml)~1/.test(pointer ?? ''))),
    );
    expect(unexpected.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test('keeps the output of a type generator small', async () => {
    const nodes = await openapiTS(read() as object as Parameters<typeof openapiTS>[0]);
    const lines = astToString(nodes).split('\n');
    const start = (name: string) => lines.findIndex((line) => line.startsWith(`export interface ${name} `));
    const schemas = lines.indexOf('    schemas: {');
    const responses = lines.indexOf('    responses: {');
    expect(schemas).toBeGreaterThan(start('components'));
    expect(responses).toBeGreaterThan(schemas);
    // openapi-typescript prints 15 lines for a path and 14 for an operation, independent of their content.
    const fixed = 15 * Object.keys(document.paths).length + 14 * all.length;
    const statuses = all.flatMap((operation) => Object.keys(describedAs(operation).responses)).length;
    expect((lines.length - fixed - statuses) / all.length).toBeLessThan(21);
    expect((responses - schemas) / all.length).toBeLessThan(9.5);
    // A JSON body without a named type: only lists.
    const anonymous = lines.slice(start('operations')).filter((line) => /"application\/json": \{/.test(line));
    expect(anonymous).toEqual([]);
  });
});
