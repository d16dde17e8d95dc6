import { createRequire } from 'node:module';
import type { TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';

const require = createRequire(import.meta.url);

/**
 * Returns a function that compiles the schema when it is first called, because compiling every schema would double the
 * time until the service answers. The compiler, 350 modules, is loaded with the first schema.
 */
export function compileLater<S extends TSchema>(schema: S): () => Validator<Record<never, never>, S> {
  let compiled: Validator<Record<never, never>, S> | undefined;
  return () => {
    if (compiled === undefined) {
      // `require` returns an untyped module; this is the module of that name.
      const { Compile } = require('typebox/compile') as typeof import('typebox/compile');
      compiled = Compile(schema);
    }
    return compiled;
  };
}
