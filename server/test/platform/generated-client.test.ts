import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { basePath } from '@vitrine/contract/operations';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Library, openLibrary, password } from '../support/library.ts';

const source = join(import.meta.dirname, 'generated-client', 'calls.ts');

/** The results of the calls that this test checks. */
interface Outcome {
  asset: { id: string };
}

let library: Library;
let types: string;

beforeAll(async () => {
  library = await openLibrary();
  const answer = await library.anonymous().send('/openapi.json');
  types = astToString(await openapiTS(answer.text));
});

/** Returns the compiler's errors in each of these texts when they use the generated types, which exist only in memory. */
function faultsOf(texts: readonly string[]): string[][] {
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const folder = join(import.meta.dirname, 'generated-client');
  const given = new Map(texts.map((text, at) => [join(folder, `calls-${at}.ts`), text]));
  const sources = [...given.keys()];
  given.set(join(folder, 'paths.ts'), types);
  const { fileExists, readFile: readOther, getSourceFile } = host;
  host.fileExists = (name) => given.has(name) || fileExists(name);
  host.readFile = (name) => given.get(name) ?? readOther(name);
  host.getSourceFile = (name, language, ...rest) => {
    const text = given.get(name);
    return text === undefined
      ? getSourceFile(name, language, ...rest)
      : ts.createSourceFile(name, text, language);
  };
  const faults = ts.getPreEmitDiagnostics(ts.createProgram(sources, options, host));
  return sources.map((source) =>
    faults
      .filter(({ file }) => file === undefined || file.fileName === source)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}

// HTTP-32
describe('a client generated from the OpenAPI document', () => {
  test('signs in, uploads, posts, reads the feed and receives errors', async () => {
    await library.join('mara');
    // Its types exist only in memory, so that the compiler must not follow this import.
    const { run }: { run(...given: [string, string, string]): Promise<Outcome> } = await import(source);
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

  // The last test, because the compiler blocks this thread for seconds, in which the service sees no database responses.
  test('compiles, and rejects what the service would reject', async () => {
    const calls = await readFile(source, 'utf8');
    const wrong = calls.replace("sort: 'newest'", "sort: 'largest'").replace('asset_id:', 'asset:');
    expect(faultsOf([calls, wrong])).toEqual([
      [],
      [expect.stringContaining("'asset' does not exist"), expect.stringContaining('"largest"')],
    ]);
  });
});
