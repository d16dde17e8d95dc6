import { SearchPage } from '@vitrine/contract/search';
import compileWriter from 'fast-json-stringify';
import { expect, test } from 'vitest';
import { byLiteral } from '../../src/platform/http/by-literal.ts';

const kindOf = (kind: string, properties: object) => ({
  type: 'object',
  properties: { kind: { const: kind }, ...properties },
  required: ['kind'],
});
const fruit = kindOf('fruit', { seeds: { type: 'integer' } });
const stone = kindOf('stone', { name: { type: 'string' } });
const metal = kindOf('metal', { name: { type: 'string' } });

test('writes each member of a union by its literal, and omits properties that its branch does not declare', () => {
  const write = compileWriter(byLiteral({ type: 'array', items: { anyOf: [fruit, stone, metal] } }));
  const values = [
    { kind: 'metal', name: 'tin', seeds: 1 },
    { kind: 'fruit', name: 'fig', seeds: 2 },
    { kind: 'stone', name: 'slate', seeds: 3 },
  ];
  expect(JSON.parse(write(values))).toEqual([
    { kind: 'metal', name: 'tin' },
    { kind: 'fruit', seeds: 2 },
    { kind: 'stone', name: 'slate' },
  ]);
});

test('does not change a union without a distinguishing literal', () => {
  const nullable = { anyOf: [{ type: 'string' }, { type: 'null' }] };
  const alike = { anyOf: [fruit, fruit] };
  expect(byLiteral(nullable)).toEqual(nullable);
  expect(byLiteral(alike)).toEqual(alike);
});

test('writes the hits of a search by their kind', () => {
  expect(byLiteral({ ...SearchPage })).toHaveProperty(
    'properties.items.items.if.properties.kind.const',
    'post',
  );
});
