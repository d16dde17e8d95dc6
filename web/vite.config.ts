import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { routesOf } from '@vitrine/contract/client';
import { operations } from '@vitrine/contract/operations';
import { defineConfig, type Plugin } from 'vite';

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

export default defineConfig({
  plugins: [
    contractRoutes(),
    tailwindcss(),
    sveltekit({
      adapter: adapter({ pages, fallback: 'index.html', precompress: true }),
      outDir: workFolder,
      paths: { relative: false },
      // The hash of the inputs: every machine that builds the same files gets the same pages.
      version: { name: process.env.VITRINE_WEB_VERSION ?? 'development' },
      csp: {
        mode: 'hash',
        directives: {
          'default-src': ['self'],
          'script-src': ['self'],
          // Positions of feed tiles and menus are inline styles; scripts stay closed.
          'style-src': ['self', 'unsafe-inline'],
          'img-src': ['self', 'blob:', 'data:'],
          'font-src': ['self'],
          'connect-src': ['self'],
          'object-src': ['none'],
          'base-uri': ['none'],
          'form-action': ['self'],
        },
      },
    }),
  ],
  build: { target: 'es2022' },
});
