import { routesOf } from '@vitrine/contract/client';
import { operations } from '@vitrine/contract/operations';
import type { Plugin } from 'vite';
import { firstOperations } from '../src/lib/first-operations.ts';

/** Gives pages the contract's routes as plain data, so that no schema reaches the browser. */
export function contractRoutes(): Plugin {
  const routes = routesOf(operations);
  const first = Object.fromEntries(firstOperations.map((id) => [id, routes[id]]));
  const modules = new Map<string, object>([
    ['virtual:routes', routes],
    ['virtual:first-routes', first],
  ]);
  return {
    name: 'vitrine-contract-routes',
    resolveId: (source) => (modules.has(source) ? `\0${source}` : null),
    load(id) {
      const data = modules.get(id.slice(1));
      return data === undefined ? null : `export default ${JSON.stringify(data)}`;
    },
  };
}
