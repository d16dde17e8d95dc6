import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { basePath } from '@vitrine/contract/operations';
import openapiTS, { astToString } from 'openapi-typescript';
import { describe, expect, test } from 'vitest';
import { openLibrary, password } from '../support/library.ts';

const source = join(import.meta.dirname, 'generated-client', 'calls.ts');

const library = await openLibrary();
const answer = await library.anonymous().send('/openapi.json');
const types = astToString(await openapiTS(answer.text));

const root = join(import.meta.dirname, '../../..');
const options = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  module: 'nodenext',
  target: 'esnext',
  lib: ['esnext', 'dom', 'dom.iterable'],
  types: [],
};

/** Returns the compiler's errors in these texts when they use the generated types. */
async function faultsOf(texts: Record<string, string>): Promise<string[]> {
  // Inside node_modules, where the imports of the texts are found.
  const folder = await mkdtemp(join(root, 'node_modules', 'vitrine-client-'));
  try {
    const files = { ...texts, 'paths.ts': types, 'package.json': '{"type":"module"}' };
    const config = JSON.stringify({ compilerOptions: options, files: Object.keys(texts) });
    for (const [name, text] of Object.entries({ ...files, 'tsconfig.json': config }))
      await writeFile(join(folder, name), text);
    const compiler = join(root, 'node_modules/typescript-native/bin/tsc');
    const compiling = promisify(execFile)(process.execPath, [compiler, '-p', folder, '--pretty', 'false']);
    const output = await compiling.then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
    return output.split('\n').filter((line) => line.includes(': error '));
  } finally {
    await rm(folder, { recursive: true });
  }
}

// HTTP-32
describe('a client generated from the OpenAPI document', () => {
  test('signs in, uploads, posts, reads the feed and receives errors', async () => {
    await library.join('mara');
    // Its types exist only in memory, so that the compiler must not follow this import.
    const { run }: { run(...given: string[]): Promise<{ asset: { id: string } }> } = await import(source);
    const outcome = await run(`${library.address}${basePath}`, 'mara', password);
    expect(outcome).toMatchObject({
      username: 'mara',
      asset: { title: 'Harbour at dawn', restricted: false },
      post: { title: 'Harbour', members: [{ asset_id: outcome.asset.id }] },
      titles: ['Harbour'],
      missing: { status: 404, error: expect.stringMatching(/\w/) },
      refused: { status: 400, error: expect.stringContaining('limit') },
    });
  });

  test('compiles, and rejects what the service would reject', async () => {
    const calls = await readFile(source, 'utf8');
    const wrong = calls.replace("sort: 'newest'", "sort: 'largest'").replace('asset_id:', 'asset:');
    expect(await faultsOf({ 'calls.ts': calls, 'wrong.ts': wrong })).toEqual([
      expect.stringMatching(/wrong\.ts.*'asset' does not exist/),
      expect.stringMatching(/wrong\.ts.*"largest"/),
    ]);
  });
});
