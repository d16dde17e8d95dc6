import type { Plugin } from 'vite';

const id = '\0plain-state';

const code = `
export const stringify = (value) => JSON.stringify(value);
export const parse = (text) => JSON.parse(text);
const refuse = () => { throw new Error('only plain JSON is available'); };
export { refuse as stringifyAsync, refuse as unflatten, refuse as uneval };
`;

/**
 * Replaces devalue, with which the framework stores the state of pages. It serialises values of any type, but the state
 * of these pages is plain JSON, and nothing else in the browser uses it.
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
