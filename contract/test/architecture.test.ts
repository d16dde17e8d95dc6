import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const documents = ['README.md', 'CONTRIBUTING.md', 'STYLE_GUIDE.md', 'docs/architecture.md'];

/** The files and folders of the repository, each path after a slash; folders end with one. */
const tree = ['.ci', 'bench', 'contract', 'docs', 'messages', 'server', 'web']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => [
    `/${folder}/`,
    ...readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) => {
      const path = `${entry.parentPath.slice(root.length)}/${entry.name}`;
      return entry.isDirectory() ? `${path}/` : path;
    }),
  ])
  .filter((path) => !path.includes('/node_modules/'))
  .concat(readdirSync(root).map((name) => `/${name}`));

/** The source files and folders that a document names in backquotes, without patterns such as `<noun>`. */
function pathsIn(text: string): string[] {
  const named = [...text.matchAll(/`([\w.@][\w./()[\]+-]*(?:\.(?:ts|js|svelte|sql|jsonc?)|\/))`/g)];
  const rooted = [...text.matchAll(/`((?:contract|server|web|bench|docs)\/[\w./()[\]+-]+)`/g)];
  return [...new Set([...named, ...rooted].flatMap(([, path]) => path ?? []))];
}

test.each(documents)('%s names and links to only files and folders that exist', (document) => {
  const text = readFileSync(join(root, document), 'utf8');
  const isInTree = (path: string) =>
    tree.some((one) => one.endsWith(`/${path}`) || one.endsWith(`/${path}/`));
  expect(pathsIn(text).filter((path) => !isInTree(path))).toEqual([]);
  const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
    .flatMap(([, target]) => target ?? [])
    .filter((target) => !/^[a-z]+:/.test(target));
  expect(links.filter((target) => !existsSync(join(root, dirname(document), target)))).toEqual([]);
});
