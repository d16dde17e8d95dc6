import { join, resolve } from 'node:path';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { routesOf } from '@vitrine/contract/client';
import { operations } from '@vitrine/contract/operations';
import { defineConfig, type Plugin } from 'vite';
import { languagePlugin } from './languages/plugin.ts';

/** Gives the page the contract's routes as plain data, so that no schema reaches the browser. */
function contractRoutes(): Plugin {
  const id = 'virtual:routes';
  const resolved = `\0${id}`;
  return {
    name: 'vitrine-contract-routes',
    resolveId: (source) => (source === id ? resolved : null),
    load: (source) => (source === resolved ? `export default ${JSON.stringify(routesOf(operations))}` : null),
  };
}

/** Set by build-if-stale.js, which builds beside the live files and then swaps the folders. */
const pages = process.env.VITRINE_WEB_OUT ?? 'build';
const workFolder = process.env.VITRINE_WEB_WORK ?? '.svelte-kit';

/** The part of the bundler's API that is used. */
interface Graph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** Puts these routes and everything they import statically into one chunk. */
function groupOf(name: string, priority: number, parts: readonly string[]) {
  let reached: Set<string> | undefined;
  const isPart = (id: string, graph: Graph) => {
    if (reached === undefined) {
      reached = new Set(parts.map((part) => join(import.meta.dirname, 'src/routes', part)));
      for (const one of reached)
        for (const next of graph.getModuleInfo(one)?.importedIds ?? []) reached.add(next);
    }
    return reached.has(id);
  };
  return { name: (id: string, graph: Graph) => (isPart(id, graph) ? name : null), priority };
}

/** The routes that every visit starts with; all other routes need their modules too. */
const front = [
  '+layout.svelte',
  '+layout.ts',
  '+error.svelte',
  '(front)/+layout.svelte',
  '(front)/+layout.ts',
  '(front)/sign-in/+page.svelte',
];
const library = ['(library)/+layout.svelte', '(library)/+layout.ts', '(library)/+error.svelte'];
/** The page that most visits start with. What it needs before anything is pressed is one request. */
const feed = ['(library)/+page.svelte', '(library)/+page.ts'];

export default defineConfig({
  plugins: [
    contractRoutes(),
    languagePlugin(resolve(import.meta.dirname, workFolder, 'texts.json')),
    tailwindcss(),
    sveltekit({
      adapter: adapter({ pages, fallback: 'index.html' }),
      outDir: workFolder,
      paths: { relative: false },
      // The shell registers it when the first screen is complete.
      serviceWorker: { register: false },
      // The hash of the inputs: every machine that builds the same files gets the same pages.
      version: { name: process.env.VITRINE_WEB_VERSION ?? 'development' },
    }),
  ],
  build: { target: 'es2022' },
  environments: {
    client: {
      build: {
        rolldownOptions: {
          output: {
            // By default, every icon and component that two pages share becomes a chunk: a hundred requests per page.
            // Each group of routes gets one chunk, and small chunks are merged.
            codeSplitting: {
              groups: [
                // The version must be set before the framework loads, so it is in a separate chunk.
                {
                  name: 'start',
                  test: /vite\/preload-helper|kit\/src\/runtime\/client\/payload/,
                  priority: 4,
                },
                groupOf('front', 3, front),
                groupOf('library', 2, library),
                groupOf('feed', 1, feed),
                { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 5_000 },
              ],
            },
          },
        },
      },
    },
  },
});
