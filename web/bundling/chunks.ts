import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageKind } from '@vitrine/contract/page-kinds';
import type { Plugin, Rolldown } from 'vite';

/** The part of the bundler's API that is used. */
interface Graph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

const routes = join(import.meta.dirname, '../src/routes');

/** The routes that every visit starts with; all other routes need their modules too. */
const front = [
  '+layout.svelte',
  '+layout.ts',
  '+error.svelte',
  '(front)/+layout.svelte',
  '(front)/+layout.ts',
];
const library = ['(library)/+layout.svelte', '(library)/+layout.ts', '(library)/+error.svelte'];
/** The page that most visits start with. What it needs before anything is pressed is one request. */
const feed = ['(library)/+page.svelte', '(library)/+page.ts'];
const post = ['(library)/posts/[id]/+page.svelte', '(library)/posts/[id]/+page.ts'];
const link = [
  's/[token]/+layout.svelte',
  's/[token]/+layout.ts',
  's/[token]/+error.svelte',
  's/[token]/+page.svelte',
  's/[token]/+page.ts',
];
/** What the page of a post shows after its picture. */
const comments = ['../lib/comments/Comments.svelte'];
/** What pages of links with several files have in addition. */
const layoutSelect = ['../lib/posts/LayoutSelect.svelte'];
const inChunks = new Set([front, library, feed, post, link].flat());

/** The routes that each kind of page shows first. Those of the front are part of every page. */
const shownBy: Readonly<Record<PageKind, readonly string[]>> = {
  'sign-in': [],
  front: [],
  library,
  feed: [...library, ...feed],
  post: [...library, ...post],
  link,
};

/** The query in the ids of modules that only name the parts of a route. */
const named = '?in-chunk';

/**
 * The framework imports each route through a module that names its parts and is an entry of the build, so each becomes
 * a file. Under another id, those of routes with a chunk of their own become part of that chunk.
 */
export function routesInChunks(): Plugin {
  return {
    name: 'vitrine-routes-in-chunks',
    apply: 'build',
    enforce: 'pre',
    applyToEnvironment: ({ name }) => name === 'client',
    async resolveId(source, importer, options) {
      if (!/^\.\/nodes\/\d+$/.test(source) || importer?.endsWith('/app.js') !== true) return null;
      const node = await this.resolve(`${source}.js`, importer, { ...options, skipSelf: true });
      if (node === null) return null;
      const parts = readFileSync(node.id, 'utf8').matchAll(/src\/routes\/([^"]+)"/g);
      return [...parts].every(([, part = '']) => inChunks.has(part)) ? `${node.id}${named}` : node;
    },
  };
}

type IsPart = (id: string, graph: Graph) => boolean;

/** Returns whether these routes import a module statically. */
function reachOf(parts: readonly string[]): IsPart {
  const starts = new Set(parts.map((part) => join(routes, part)));
  let reached: Set<string> | undefined;
  return (id, graph) => {
    if (reached === undefined) {
      reached = new Set(starts);
      for (const one of reached)
        for (const next of graph.getModuleInfo(one)?.importedIds ?? []) reached.add(next);
    }
    if (!id.endsWith(named)) return reached.has(id);
    return (graph.getModuleInfo(id)?.importedIds ?? []).some((part) => starts.has(part));
  };
}

const inFront = reachOf(front);
const inLibrary = reachOf(library);
const inFeed = reachOf(feed);
const inPost = reachOf(post);
const inLink = reachOf(link);
const inComments = reachOf(comments);
const inLayoutSelect = reachOf(layoutSelect);

const group = (name: string, priority: number, isPart: IsPart) => ({
  name: (id: string, graph: Graph) => (isPart(id, graph) ? name : null),
  priority,
});

/**
 * By default, every icon and component that two pages share becomes a chunk: a hundred requests per page. Each group of
 * routes gets one chunk, and small chunks are merged.
 */
export const chunkGroups = [
  // The version must be set before the framework loads, so it is in a separate chunk.
  {
    name: 'start',
    test: /vite\/preload-helper|kit\/src\/runtime\/client\/payload|rolldown\/runtime/,
    priority: 9,
  },
  group(
    'front',
    8,
    (id, graph) => inFront(id, graph) || id.endsWith('kit/src/runtime/client/client-entry.js'),
  ),
  // What the pages of links share with the library.
  group(
    'common',
    7,
    (id, graph) =>
      (inLink(id, graph) || inLayoutSelect(id, graph)) && (inLibrary(id, graph) || inFeed(id, graph)),
  ),
  // A part that the feed shares with posts, too, so that posts need not load the feed.
  group('library', 6, (id, graph) => inLibrary(id, graph) || (inFeed(id, graph) && inPost(id, graph))),
  group('feed', 5, inFeed),
  group('post-and-link', 4, (id, graph) => inLink(id, graph) && (inPost(id, graph) || inComments(id, graph))),
  group('link', 3, inLink),
  group('layout-select', 3, (id, graph) => inLayoutSelect(id, graph) && !inLink(id, graph)),
  group('post', 2, inPost),
  group('comments', 1, inComments),
  { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 5_000 },
];

/** The files that each kind of page loads first. */
export type Preloads = Readonly<Record<PageKind, readonly string[]>>;

/** Returns the files of chunks, of what they import statically, and of their styles. */
function filesOf(starts: readonly Rolldown.OutputChunk[], bundle: Rolldown.OutputBundle): string[] {
  const files = new Set<string>();
  const add = (chunk: Rolldown.OutputChunk) => {
    if (files.has(chunk.fileName)) return;
    files.add(chunk.fileName);
    for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style);
    for (const name of chunk.imports) {
      const imported = bundle[name];
      if (imported?.type === 'chunk') add(imported);
    }
  };
  starts.forEach(add);
  return [...files];
}

/** Writes to `path` which files each kind of page loads first; `writeLanguages` reads it. */
export function writePreloads(path: string): Plugin {
  return {
    name: 'vitrine-preloads',
    apply: 'build',
    applyToEnvironment: ({ name }) => name === 'client',
    writeBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const preloads = Object.entries(shownBy).map(([kind, parts]) => {
        const wanted = new Set(parts.map((part) => join(routes, part)));
        const own = chunks.filter((chunk) => Object.keys(chunk.modules).some((id) => wanted.has(id)));
        return [kind, filesOf(own, bundle)];
      });
      writeFileSync(path, JSON.stringify(Object.fromEntries(preloads)));
    },
  };
}
