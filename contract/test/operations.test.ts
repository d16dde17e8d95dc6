import { type Operation, renewsSession } from '@vitrine/contract/operation';
import { modules, operations } from '@vitrine/contract/operations';
import { Type } from 'typebox';
import { expect, test } from 'vitest';

const all: readonly Operation[] = Object.values(operations);

// The type of `operations` is derived from the names of exports, its keys are ids.
test('an operation is exported once, under its id', () => {
  const known = new Set<unknown>(all);
  const exported = modules.flatMap((module) =>
    Object.entries<unknown>(module).filter(([, value]) => known.has(value)),
  );
  const names = exported.map(([name]) => name).sort();
  expect(names).toEqual(Object.keys(operations).sort());
  for (const [name, value] of exported) expect(value).toMatchObject({ id: name });
  expect(names.length).toBeGreaterThan(250);
});

test('every method and path has one operation', () => {
  const routes = all.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);
  expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
});

// SESSION-1
test('responses that caches store do not carry the session cookie', () => {
  const stored = all.filter(({ budget }) => budget === 'bytes');
  expect(stored.length).toBeGreaterThan(10);
  expect(stored.filter(renewsSession).map(({ id }) => id)).toEqual([]);
});

test('an operation that serves stored bytes has the parameters to find them', () => {
  const needed = { original: ['id'], rendition: ['id', 'key'], stream: ['id', 'name'] };
  const serving = all.flatMap((one) => (one.serves === undefined ? [] : [{ ...one, serves: one.serves }]));
  expect(serving.map(({ serves }) => serves).sort()).toEqual(['original', 'rendition', 'stream']);
  for (const { id, path, serves } of serving) {
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(parameters, id).toEqual(needed[serves]);
  }
});

// HTTP-17
test('an operation whose body can remove a property declares the error of naming its value as well', () => {
  const removing = all.filter(
    ({ body }) =>
      body !== undefined &&
      Type.IsObject(body) &&
      Object.keys(body.properties).some((property) => property.startsWith('clear_')),
  );
  expect(removing.length).toBeGreaterThan(10);
  const silent = removing.filter(({ errors }) => !errors.includes('exclusive-properties'));
  expect(silent.map(({ id }) => id)).toEqual([]);
});
