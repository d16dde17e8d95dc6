import { resolve } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { contractRoutes } from './bundling/contract-routes.ts';
import { signInNames, signInStart, withoutStyles } from './bundling/sign-in.ts';
import { languagePlugin } from './languages/plugin.ts';

/** Builds the script of the sign-in page beside the pages of the app, with what it needs and no more. */
export default defineConfig({
  plugins: [
    contractRoutes(),
    languagePlugin(
      resolve(import.meta.dirname, process.env.VITRINE_WEB_WORK ?? '.svelte-kit', 'sign-in-texts.json'),
    ),
    withoutStyles(),
    svelte({ configFile: false }),
  ],
  publicDir: false,
  build: {
    target: 'es2022',
    outDir: process.env.VITRINE_WEB_OUT ?? 'build',
    emptyOutDir: false,
    modulePreload: false,
    rolldownOptions: { input: signInStart, output: signInNames },
  },
});
