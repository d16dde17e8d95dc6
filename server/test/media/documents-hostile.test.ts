import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { pdf } from './documents.ts';
import { glb, gltf, obj, ply, stl, torus } from './models.ts';
import { docx, odt, zip } from './packages.ts';
import { mutations, openStudio } from './still-kit.ts';

const { resolve } = createRequire(import.meta.url);
const studio = openStudio();

/** The number of copies of each type; 20 of each were tried when these types were added. */
const EACH = 1;

const small = torus(8, 6);
const fontAt = (name: string) => readFile(resolve(`@fontsource/jetbrains-mono/files/${name}`));
const files: [mime: string, make: () => Promise<Uint8Array> | Uint8Array][] = [
  ['application/pdf', () => pdf(['One', 'Two'])],
  ['font/woff', () => fontAt('jetbrains-mono-latin-400-normal.woff')],
  ['font/woff2', () => fontAt('jetbrains-mono-greek-400-normal.woff2')],
  ['model/gltf-binary', () => glb({ mesh: small })],
  ['model/gltf+json', () => gltf()],
  ['model/obj', () => obj(small)],
  ['model/stl', () => stl(small)],
  ['model/ply', () => ply(small)],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', () => docx(['One', 'Two'])],
  ['application/vnd.oasis.opendocument.text', () => odt('One')],
  ['application/epub+zip', () => zip({ mimetype: 'application/epub+zip', 'a.xhtml': '<p>One</p>' })],
  [
    'text/plain',
    () => new TextEncoder().encode('# Title\n\n- **bold** [a](b)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n'),
  ],
  ['application/json', () => new TextEncoder().encode('{"a": [1, 2, {"b": "c"}]}')],
];

describe('a file with random bytes changed', () => {
  test.each(files)(
    'is rendered or refused, never an internal error: %s',
    { timeout: 120_000 },
    async (mime, make) => {
      for (const bytes of mutations(await make(), EACH)) {
        expect(await studio.outcomeOf(bytes, mime)).toMatch(
          /^(?:rendered$|broken: |unsupported: |stopped: )/,
        );
      }
    },
  );
});
