import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { filesBelow } from '../../platform/files/directory-tree.ts';
import { writeZip, type ZipSource } from '../../platform/zip/write.ts';

/** Yields the files below a directory as those of a folder of an archive, and removes each once it is packed. */
async function* movedFiles(directory: string, folder: string): AsyncGenerator<ZipSource> {
  for await (const path of filesBelow(directory)) {
    const { size, mtime } = await stat(path);
    yield {
      name: `${folder}/${relative(directory, path)}`,
      sizeBytes: size,
      modified: mtime,
      crc: null,
      open: async () => createReadStream(path),
    };
    await rm(path);
  }
}

/** Moves a directory into a ZIP as a folder of this name, so that both together take little more room than one of them. */
export async function packDirectory(directory: string, folder: string, target: string): Promise<void> {
  const zip = Readable.from(writeZip(movedFiles(directory, folder)), { objectMode: false });
  await pipeline(zip, createWriteStream(target, { flush: true }));
}
