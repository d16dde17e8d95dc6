import { resolve } from 'node:path';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';
import { chunkGroups, routesInChunks, writePreloads } from './bundling/chunks.ts';
import { contractRoutes } from './bundling/contract-routes.ts';
import { plainState } from './bundling/plain-state.ts';
import { signInInDevelopment } from './bundling/sign-in.ts';
import { languagePlugin } from './languages/plugin.ts';

/** Set by build-if-stale.js, which builds beside the live files and then swaps the folders. */
const pages = process.env.VITRINE_WEB_OUT ?? 'build';
const workFolder = process.env.VITRINE_WEB_WORK ?? '.svelte-kit';

export default defineConfig({
  plugins: [
    contractRoutes(),
    plainState(),
    routesInChunks(),
    signInInDevelopment(),
    writePreloads(resolve(import.meta.dirname, workFolder, 'preloads.json')),
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
            codeSplitting: { groups: chunkGroups },
          },
        },
      },
    },
  },
});
