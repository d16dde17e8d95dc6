import type { Plugin } from 'vite';

const id = '\0plain-state';

const code = `
export const stringify = (value) => JSON.stringify(value);
export const parse = (text) => JSON.parse(text);
const refuse = () => { throw new Error('only plain JSON is available'); };
export { refuse as stringifyAsync, refuse as unflatten, refuse as uneval };
`;

/**
 * The framework keeps the state of pages with a library for values of all types, which no page needs: their state is
 * plain JSON. Nothing else in the browser uses the library.
 */
export function plainState(): Plugin {
  return {
    name: 'vitrine-plain-state',
    apply: 'build',
    enforce: 'pre',
    applyToEnvironment: ({ name }) => name === 'client',
    resolveId: (source) => (source === 'devalue' ? id : null),
    load: (source) => (source === id ? code : null),
  };
}
