import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/**
 * Returns a function that compiles the schema when it is first called, because compiling every schema would double the
 * time until the service answers.
 */
export function compileLater<S extends TSchema>(schema: S): () => Validator<Record<never, never>, S> {
  let compiled: Validator<Record<never, never>, S> | undefined;
  return () => {
    compiled ??= Compile(schema);
    return compiled;
  };
}
