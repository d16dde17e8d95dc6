import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { sentence } from '../../platform/language/sentence.ts';
import type { Content, Repository } from './repository.ts';
import { BackupError } from './target.ts';

const Part = Type.Object({
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

const Table = Type.Object({
  name: Type.String({ pattern: '^[a-z_][a-z0-9_]*$' }),
  columns: Type.Array(Type.String({ pattern: '^[a-z_][a-z0-9_]*$' }), { minItems: 1 }),
  rows: Type.Integer({ minimum: 0 }),
  content: Part,
});

const Manifest = Type.Object({
  id: Type.String({ pattern: '^\\d{8}T\\d{6}Z$' }),
  /** The time of the snapshot. */
  takenAt: Type.String(),
  version: Type.String(),
  postgres: Type.String(),
  migrations: Type.Array(Type.String({ pattern: '^\\d{4}_\\w+\\.sql$' })),
  tables: Type.Array(Table),
  /** `value` is null if it was never used. */
  sequences: Type.Array(
    Type.Object({
      name: Type.String({ pattern: '^[a-z_][a-z0-9_]*$' }),
      value: Type.Union([Type.String({ pattern: '^-?\\d+$' }), Type.Null()]),
    }),
  ),
  jobs: Type.Object({ rows: Type.Integer({ minimum: 0 }), content: Part }),
  files: Type.Object({ count: Type.Integer(), bytes: Type.Integer(), content: Part }),
  /** Files that could not be copied: how many, and the first of them. */
  lost: Type.Object({
    count: Type.Integer({ minimum: 0 }),
    first: Type.Array(Type.Object({ key: Type.String(), reason: Type.String() })),
  }),
  /** Previews that were rendered again after the snapshot, with their new size. */
  resized: Type.Array(Type.Object({ key: Type.String(), bytes: Type.Integer() })),
  /** Whether passwords need a VITRINE_SCRAMBLE_KEY, which the backup does not contain. */
  hasOwnScrambleKey: Type.Boolean(),
  /** In encrypted backups, the key that seals secrets; null: it is not in the backup. Absent: it is among the rows. */
  secretKey: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
/** The manifest of a backup. It is written last: a backup without it is incomplete. */
export type Manifest = Static<typeof Manifest>;
export type BackupTable = Static<typeof Table>;
const isManifest = Compile(Manifest);

const manifestName = (id: string) => `backups/${id}/manifest`;
/** The name of a part of a backup. */
export const partName = (id: string, part: string) => `backups/${id}/${part}`;
/** The name of a file's content, which all backups in a place share. */
export const fileName = (sha256: string) => `files/${sha256.slice(0, 2)}/${sha256}`;

/** A file of the library in a backup. */
export interface BackupFile extends Content {
  key: string;
  /** When it was written in the library, in milliseconds since 1970. */
  modifiedAt: number;
}

/** Writes the manifest with its checksum. */
export async function writeManifest(repository: Repository, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest);
  const sum = createHash('sha256').update(text).digest('hex');
  const lines = async function* () {
    yield Buffer.from(`${text}\n${sum}\n`);
  };
  await repository.write(manifestName(manifest.id), lines());
}

/** Reads a manifest; throws BackupError when it is missing or damaged. */
export async function readManifest(repository: Repository, id: string): Promise<Manifest> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of repository.read(manifestName(id), null)) chunks.push(chunk);
  const stored = Buffer.concat(chunks).toString('utf8');
  const [text = ''] = stored.split('\n', 1);
  const isWhole = stored === `${text}\n${createHash('sha256').update(text).digest('hex')}\n`;
  const manifest: unknown = isWhole ? JSON.parse(text) : null;
  if (!isManifest.Check(manifest) || manifest.id !== id) {
    throw new BackupError(sentence('the manifest of {backup} is damaged', { backup: id }));
  }
  return manifest;
}

/** Returns the ids of complete and of incomplete backups, oldest first. */
export async function listBackups({
  target,
}: Repository): Promise<{ complete: string[]; incomplete: string[] }> {
  const all = new Set<string>();
  const complete = new Set<string>();
  for await (const key of target.list('backups/')) {
    const [, id = '', name] = key.split('/');
    all.add(id);
    if (name === 'manifest') complete.add(id);
  }
  const incomplete = [...all].filter((id) => !complete.has(id));
  return { complete: [...complete].sort(), incomplete: incomplete.sort() };
}

/** Compresses text and stores it. */
export async function writeCompressed(
  repository: Repository,
  name: string,
  content: AsyncIterable<Uint8Array>,
): Promise<Content> {
  const gzip = createGzip({ level: 1 });
  const feeding = pipeline(content, gzip);
  const [, written] = await Promise.all([feeding, repository.write(name, gzip)]);
  return written;
}

/** Reads what `writeCompressed` stored. Throws if the content is not the expected one. */
export async function* readCompressed(
  repository: Repository,
  name: string,
  expected: Content,
): AsyncIterable<Buffer> {
  const gunzip = createGunzip();
  const feeding = pipeline(Readable.from(repository.read(name, expected)), gunzip);
  // The loop below throws the same error.
  feeding.catch(() => {});
  for await (const chunk of gunzip) yield chunk;
  await feeding;
}

/** Splits text into its lines, each of which ends with a line feed. */
export async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of content) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Formats the entry of a file in the list of files. */
export function formatFile({ key, bytes, modifiedAt, sha256 }: BackupFile): string {
  return `${key}\t${bytes}\t${modifiedAt}\t${sha256}\n`;
}

/** Reads the files of a backup, in the order of their keys. */
export async function* readFiles(repository: Repository, { id, files }: Manifest): AsyncIterable<BackupFile> {
  const content = readCompressed(repository, partName(id, 'files'), files.content);
  for await (const line of linesOf(content)) {
    const [key = '', bytes, modifiedAt, sha256 = ''] = line.split('\t');
    yield { key, bytes: Number(bytes), modifiedAt: Number(modifiedAt), sha256 };
  }
}
