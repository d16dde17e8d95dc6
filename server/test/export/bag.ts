import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

async function sha256Of(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

/** All files below a directory, as paths relative to it. */
export async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1)).toSorted();
}

/** Reads a manifest as RFC 8493, 2.1.3 defines it. */
async function readManifest(path: string): Promise<Map<string, string>> {
  const lines = (await readFile(path, 'utf8')).split(/\r\n|\n|\r/).filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [, hash = '', encoded = ''] = /^([0-9a-f]{64})[ \t]+(.+)$/.exec(line) ?? [];
      const path = encoded.replace(/%(0A|0D|25)/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      );
      return [path, hash];
    }),
  );
}

/**
 * Returns what is wrong with a directory as a bag, written from RFC 8493 and not from the code that writes bags; empty
 * for a valid one.
 */
export async function faultsOfBag(root: string): Promise<string[]> {
  const faults: string[] = [];
  const declaration = await readFile(join(root, 'bagit.txt'), 'utf8').catch(() => '');
  if (declaration !== 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n')
    return ['bagit.txt is missing or wrong'];
  const manifest = await readManifest(join(root, 'manifest-sha256.txt'));
  const payload = (await filesBelow(join(root, 'data'))).map((path) => `data/${path}`);
  for (const path of payload) if (!manifest.has(path)) faults.push(`${path} is not in the manifest`);
  let bytes = 0;
  for (const [path, hash] of manifest) {
    const content = await readFile(join(root, path)).catch(() => null);
    bytes += content?.length ?? 0;
    if (content === null) faults.push(`${path} is missing`);
    else if (createHash('sha256').update(content).digest('hex') !== hash)
      faults.push(`${path} has another hash`);
  }
  const info = await readFile(join(root, 'bag-info.txt'), 'utf8');
  if (!info.includes(`Payload-Oxum: ${bytes}.${manifest.size}\n`)) faults.push('Payload-Oxum is wrong');
  for (const [path, hash] of await readManifest(join(root, 'tagmanifest-sha256.txt')))
    if ((await sha256Of(join(root, path))) !== hash) faults.push(`${path} has another hash`);
  return faults;
}
