import { readFile, stat } from 'node:fs/promises';
import { mostSidecarBytes, type SidecarKind } from '@vitrine/contract/sidecars';
import type { Deps } from '../../core/deps.ts';
import type { ExtractedValues } from '../../media/metadata/source.ts';
import { refuse } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';

/** Metadata of a file that another file beside it contains. */
export interface ReadSidecar {
  kind: SidecarKind | 'takeout' | 'immich';
  fileName: string;
  /** SHA-256 in hex. */
  hash: string;
  sources: ExtractedValues;
  raw: Record<string, string | string[]>;
  /** Tags that it gives to the asset. */
  tags: readonly string[];
}

/** A received sidecar. */
interface SidecarFile {
  path: string;
  name: string;
  hash: string;
  kind: SidecarKind;
}

/**
 * Returns whether XML declares a document type or an entity, in any encoding of Unicode. Sidecars have none, and an
 * entity may name files of the machine or expand to gigabytes (SIDECAR-6).
 */
function declaresEntities(bytes: Buffer): boolean {
  return /<!(?:DOCTYPE|ENTITY)/i.test(bytes.toString('latin1').replaceAll('\0', ''));
}

/**
 * Reads an XMP sidecar. Throws a 413 if it is too large, and a 400 if it declares a document type or cannot be read as
 * XMP.
 */
export async function readSidecar(
  { metadata }: Pick<Deps, 'metadata'>,
  { path, name, hash, kind }: SidecarFile,
): Promise<ReadSidecar> {
  if ((await stat(path)).size > mostSidecarBytes)
    throw refuse('sidecar-too-large', { max: mostSidecarBytes });
  if (declaresEntities(await readFile(path))) throw refuse('sidecar-has-doctype');
  const read = await metadata.read(path);
  if (read.outcome === 'failed') throw refuse('sidecar-unreadable', { reason: read.reason });
  const isXmp =
    Object.keys(read.raw).some((key) => key.startsWith('XMP:')) || read.raw['File:FileType'] === 'XMP';
  if (!isXmp) throw refuse('sidecar-unreadable', { reason: read.fault ?? sentence('it has none') });
  const values = Object.entries(read.sources).filter(([, value]) => value.from === 'xmp');
  const sources: ExtractedValues = Object.fromEntries(values);
  return { kind, fileName: name, hash, sources, raw: read.raw, tags: [] };
}
