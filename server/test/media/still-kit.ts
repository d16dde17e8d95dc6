import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type Decoders, openDecoders } from '../../src/media/decoding/decoders.ts';
import { DecodingStopped } from '../../src/media/decoding/process.ts';
import type { Rendering } from '../../src/media/decoding/tasks.ts';
import { defaultLadder } from '../../src/media/ladder.ts';
import { renderFile } from '../../src/media/render-file.ts';
import { previewKind } from '../../src/media/renderable.ts';

/** Renders files in a directory that is removed after the test file. */
export function openStudio() {
  const root = mkdtemp(join(tmpdir(), 'vitrine-stills-'));
  let count = 0;
  let decoders: Decoders | undefined;
  afterAll(async () => {
    await decoders?.close();
    await rm(await root, { recursive: true, force: true });
  });
  const place = async (bytes: Uint8Array) => {
    count += 1;
    const path = join(await root, `${count}`);
    const outDir = `${path}-out`;
    await writeFile(path, bytes);
    await mkdir(outDir);
    return { path, outDir };
  };
  return {
    /** Renders in this process. */
    async render(bytes: Uint8Array, mime: string): Promise<Rendering> {
      const { path, outDir } = await place(bytes);
      return renderFile({ path, mime }, defaultLadder, outDir);
    },
    /** Returns the smallest picture of a file from a decoder process with this environment. */
    async pictureBy(bytes: Uint8Array, mime: string, environment: Record<string, string>): Promise<Buffer> {
      const { path, outDir } = await place(bytes);
      const outside = Object.keys(environment).map((name) => [name, process.env[name]] as const);
      Object.assign(process.env, environment);
      const own = openDecoders();
      try {
        const input = { path, mime, rungs: defaultLadder, outDir };
        const { ladder } = await own.run(previewKind(mime), 'test', 'ladder', input);
        if (ladder.outcome !== 'rendered') throw new Error(ladder.reason);
        return await readFile(ladder.renditions[0]?.path ?? '');
      } finally {
        await own.close();
        for (const [name, value] of outside) {
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
        }
      }
    },
    /** Renders in a decoder process; returns the outcome or the limit it reached. */
    async outcomeOf(bytes: Uint8Array, mime: string, timeoutMs = 20_000): Promise<string> {
      // Without LibreOffice and Ghostscript, so that tests take the same time on every machine.
      decoders ??= openDecoders({
        libreoffice: 'off',
        ghostscript: 'off',
        limits: { document: { timeoutMs, memoryBytes: 700 * 1024 ** 2 } },
      });
      const { path, outDir } = await place(bytes);
      try {
        const input = { path, mime, rungs: defaultLadder, outDir };
        const { ladder } = await decoders.run(previewKind(mime), 'test', 'ladder', input);
        return ladder.outcome === 'rendered' ? 'rendered' : `${ladder.outcome}: ${ladder.reason}`;
      } catch (error) {
        if (error instanceof DecodingStopped) return `stopped: ${error.limit}`;
        throw error;
      } finally {
        await rm(outDir, { recursive: true, force: true });
      }
    },
  };
}

/** Returns the picture of a successful rendering. */
export function pictureOf({ ladder }: Rendering) {
  if (ladder.outcome !== 'rendered') throw new Error(`${ladder.outcome}: ${ladder.reason}`);
  const largest = ladder.renditions.find(({ key }) => key === 'hires');
  if (largest === undefined) throw new Error('no largest rung');
  return { path: largest.path, width: ladder.width, height: ladder.height };
}

/** Copies of a file with bytes changed, cut off or repeated, the same in every run. */
export function* mutations(bytes: Uint8Array, count: number): Generator<Uint8Array> {
  let state = 1;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let index = 0; index < count; index += 1) {
    const copy = Uint8Array.from(bytes);
    if (index % 4 === 3) {
      yield copy.slice(0, random(copy.length));
      continue;
    }
    // Headers and tables of contents are at the beginning or at the end.
    const from = index % 4 === 1 ? 0 : index % 4 === 2 ? Math.max(0, copy.length - 400) : null;
    for (let change = 0; change <= index % 7; change += 1) {
      const at = from === null ? random(copy.length) : from + random(Math.min(400, copy.length));
      copy[at] = random(3) === 0 ? 255 : random(256);
    }
    yield copy;
  }
}
