import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSignIn } from '@vitrine/contract/page-kinds';
import type { Plugin } from 'vite';

const source = join(import.meta.dirname, '../src');

/** The script of the sign-in page, which is a document of its own without the code of the app. */
export const signInStart = join(source, 'lib/sign-in/start.ts');

/** How the names of the files of the sign-in page begin, and that of its script. */
const folder = '_app/immutable/sign-in/';
const entry = `${folder}start.`;

export const signInNames = {
  entryFileNames: `${entry}[hash].js`,
  chunkFileNames: `${folder}[hash].js`,
};

/** Leaves the styles to the app, whose file has them all: the sign-in page links to it. */
export function withoutStyles(): Plugin {
  return {
    name: 'vitrine-without-styles',
    apply: 'build',
    enforce: 'pre',
    load: (id) => (id.endsWith('.css') ? '' : null),
  };
}

/** Returns the sign-in page: the head of the page of the app, with its own script. Null without one among the files. */
export function signInHtml(page: string, files: readonly string[]): string | null {
  const script = files.find((file) => file.startsWith(entry) && file.endsWith('.js'));
  if (script === undefined) return null;
  return page
    .replace(/\s*<link [^>]*rel="modulepreload">/g, '')
    .replace(/<script>[\s\S]*?<\/script>/, '')
    .replace('</head>', `<script type="module" src="/${script}"></script>\n  </head>`);
}

/** Shows the sign-in page in the development server. */
export function signInInDevelopment(): Plugin {
  return {
    name: 'vitrine-sign-in',
    apply: 'serve',
    configureServer(server) {
      server.middlewares.use(async (request, response, next) => {
        const address = request.url ?? '';
        if (!isSignIn(address.split('?')[0] ?? '')) return next();
        const page = readFileSync(join(source, 'app.html'), 'utf8')
          .replace(/%sveltekit\.assets%/g, '')
          .replace(
            '%sveltekit.head%',
            '<link href="/src/app.css" rel="stylesheet"><script type="module" src="/src/lib/sign-in/start.ts"></script>',
          )
          .replace('%sveltekit.body%', '');
        response.setHeader('content-type', 'text/html');
        response.end(await server.transformIndexHtml(address, page));
      });
    },
  };
}
