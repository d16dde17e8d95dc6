import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

const root = join(import.meta.dirname, '../../..');
const directory = await temporaryDirectory();

/** A checkout with the scripts of this one, its packages and a program of two modules. */
async function checkOut(name: string) {
  const place = join(directory, name);
  await mkdir(place);
  await symlink(join(root, 'node_modules'), join(place, 'node_modules'));
  await cp(join(root, 'server/bin'), join(place, 'server/bin'), { recursive: true });
  await cp(join(root, 'server/bundle-if-stale.js'), join(place, 'server/bundle-if-stale.js'));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
  };
  await write('web/package.json', '{}');
  await write('server/package.json', '{ "type": "module" }');
  const programs = [
    'content/csv/parsing-worker.ts',
    'media/decoding/child.ts',
    'people/identity/hashing-worker.ts',
  ];
  for (const path of programs) await write(`server/src/${path}`, 'export {};\n');
  await write(
    'server/src/boot/cli.ts',
    `import { describe } from './describe.ts';\nconsole.log(import.meta.filename);\nconsole.log(describe());\n`,
  );
  const run = async (path: string) =>
    (await promisify(execFile)(process.execPath, [join(place, path)])).stdout;
  return {
    place,
    setWord: (word: string) =>
      write(
        'server/src/boot/describe.ts',
        `type Text = string;\n\nexport function describe(): Text {\n  return new Error('${word}').stack ?? '';\n}\n`,
      ),
    start: () => run('server/bin/vitrine.js'),
    bundle: () => run('server/bundle-if-stale.js'),
  };
}

// RUN-55
test('runs from a bundle of the present sources, otherwise from the sources', async () => {
  const { place, setWord, start, bundle } = await checkOut('changed');
  const started = async () => {
    const [file = '', error] = (await start()).split('\n');
    return { from: relative(join(place, 'server'), file).split('/')[0], error };
  };
  await setWord('first');
  expect(await started()).toEqual({ from: 'src', error: 'Error: first' });
  await bundle();
  expect(await started()).toEqual({ from: 'build', error: 'Error: first' });
  await setWord('second');
  expect(await started()).toEqual({ from: 'src', error: 'Error: second' });
  await bundle();
  expect(await started()).toEqual({ from: 'build', error: 'Error: second' });
  // A service that started from the first bundle still loads modules of it.
  expect(await readdir(join(place, 'server/build'))).toHaveLength(2);
});

// RUN-55
test('names files and lines of the sources in stack traces of a bundle', async () => {
  const { place, setWord, start, bundle } = await checkOut('traced');
  await setWord('traced');
  await bundle();
  const [file = '', ...trace] = (await start()).split('\n');
  expect(file).toContain(join(place, 'server/build'));
  expect(trace[0]).toBe('Error: traced');
  expect(trace[1]).toContain(`${join(place, 'server/src/boot/describe.ts')}:4:10`);
  expect(trace[2]).toContain(`${join(place, 'server/src/boot/cli.ts')}:3:`);
});
