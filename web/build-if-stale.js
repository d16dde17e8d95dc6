// Builds the web app when web/build is missing or was made from other files. npm runs it at the end of `npm ci`, with
// --if-possible, and before the server starts, for installations that skip scripts or leave out packages.
// Each run builds in a folder of its own and then swaps it in, so two runs at once cannot mix their files.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashFiles } from '../server/bin/bundle.js';

const web = dirname(fileURLToPath(import.meta.url));
const live = join(web, 'build');
const inputs = [
  'contract/src',
  'messages',
  'package-lock.json',
  'web/bundling',
  'web/languages',
  'web/package.json',
  'web/src',
  'web/static',
  'web/tsconfig.json',
  'web/vite.config.ts',
  'web/vite.sign-in.config.ts',
];

function isBuiltFrom(wanted) {
  try {
    return readFileSync(join(live, '.inputs'), 'utf8') === wanted && existsSync(join(live, 'index.html'));
  } catch {
    return false;
  }
}

/** Puts the new pages in place of the old. Another run may do the same; whichever is last wins, whole. */
function swapIn(pages, work, wanted) {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    try {
      if (existsSync(live)) renameSync(live, join(work, `old-${attempt}`));
      renameSync(pages, live);
      return;
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) throw error;
      if (isBuiltFrom(wanted)) return;
    }
  }
  throw new Error(`could not replace ${live}`);
}

/** Runs a script of the build; returns false and prints its output if it fails. */
function run(script, env) {
  const options = { cwd: web, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, env };
  const { status, stdout, stderr, error } = spawnSync(process.execPath, script, options);
  if (status !== 0) console.error(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`);
  return status === 0;
}

function build(wanted) {
  console.log('building the web app: this takes about half a minute, and is repeated only after a change');
  const work = join(web, '.svelte-kit', `build-${process.pid}`);
  const pages = join(work, 'pages');
  mkdirSync(work, { recursive: true });
  try {
    const viteFolder = dirname(createRequire(import.meta.url).resolve('vite/package.json'));
    const vite = join(viteFolder, 'bin/vite.js');
    const env = {
      ...process.env,
      NODE_ENV: 'production',
      VITRINE_WEB_OUT: pages,
      VITRINE_WEB_WORK: work,
      VITRINE_WEB_VERSION: wanted.slice(0, 16),
    };
    const isDone =
      run([vite, 'build'], env) &&
      existsSync(join(pages, 'index.html')) &&
      run([vite, 'build', '--config', 'vite.sign-in.config.ts'], env) &&
      run([join(web, 'languages/write-pages.ts'), pages, work], env);
    if (!isDone) return false;
    writeFileSync(join(pages, '.inputs'), wanted);
    swapIn(pages, work, wanted);
    return true;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Whether this is the pinned runtime and the bundler is installed, as it is not after `npm ci --workspace server`. */
function canBuild() {
  if (Number(process.versions.node.split('.')[0]) < 24) return false;
  try {
    createRequire(import.meta.url).resolve('vite/package.json');
    return true;
  } catch {
    return false;
  }
}

const ifPossible = process.argv.includes('--if-possible');
const wanted = ifPossible && !canBuild() ? null : hashFiles(inputs);
if (wanted !== null && !isBuiltFrom(wanted) && !build(wanted) && !ifPossible) process.exit(1);
