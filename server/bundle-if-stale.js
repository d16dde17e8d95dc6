// Bundles the server when server/build has no bundle of the present sources. Node takes longer to find and load their
// thousand modules than PostgreSQL to start. npm runs it at the end of `npm ci`, and before the server starts. Without a
// bundle, bin/vitrine.js runs the sources.
// Each bundle has a folder of its own, which is renamed when complete, so that services that run keep theirs.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleFolder, bundles } from './bin/bundle.js';

const source = join(import.meta.dirname, 'src');

/** The modules that Node starts: the command, and those of `programFile`. */
const programs = [
  'boot/cli.ts',
  'content/csv/parsing-worker.ts',
  'media/decoding/child.ts',
  'people/identity/hashing-worker.ts',
];

/** Packages of many modules; all others are loaded from node_modules. */
const bundled = /^(@vitrine\/contract|kysely|typebox)(\/|$)/;

/** A bundle may be in use by a service that started before the sources changed. */
const KEPT = 3;

/** Returns the bundler that the web app's brings, or null where neither is installed or Node is too old. */
async function loadBundler() {
  if (Number(process.versions.node.split('.')[0]) < 24) return null;
  try {
    const vite = createRequire(join(import.meta.dirname, '../web/package.json')).resolve('vite/package.json');
    return await import(pathToFileURL(createRequire(vite).resolve('rolldown')).href);
  } catch {
    return null;
  }
}

function removeOld() {
  const byAge = readdirSync(bundles)
    .map((name) => ({ path: join(bundles, name), at: statSync(join(bundles, name)).mtimeMs }))
    .sort((one, other) => other.at - one.at);
  for (const { path } of byAge.slice(KEPT)) rmSync(path, { recursive: true, force: true });
}

async function build({ rolldown }, folder) {
  const work = `${folder}.${process.pid}`;
  mkdirSync(bundles, { recursive: true });
  try {
    const bundle = await rolldown({
      // A flat folder, in which names tell what a process is.
      input: Object.fromEntries(
        programs.map((module) => [module.replaceAll('/', '-').replace(/\.ts$/, ''), join(source, module)]),
      ),
      platform: 'node',
      external: (id) => !/^[./]/.test(id) && !bundled.test(id),
      // Modules run in the order of the sources, whether something of them is used or not.
      treeshake: false,
      logLevel: 'warn',
    });
    // Stack traces name the sources.
    await bundle.write({
      dir: work,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      sourcemap: true,
    });
    await bundle.close();
    if (!existsSync(folder)) renameSync(work, folder);
    removeOld();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const folder = bundleFolder();
if (existsSync(folder)) utimesSync(folder, new Date(), new Date());
else {
  const bundler = await loadBundler();
  // A run at the same time may have renamed its own: both are the same.
  if (bundler !== null)
    await build(bundler, folder).catch((error) => {
      if (!existsSync(folder)) console.warn(`the server starts from its sources: ${error.message}`);
    });
}
