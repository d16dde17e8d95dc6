import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { type Sentence, sentence, sentenceCount } from '../../platform/language/sentence.ts';
import { encryptedSize } from '../../platform/storage/encrypted-stream.ts';
import { createKey, seal, sealedName, unseal, unwrapKey } from './seal.ts';
import { BackupError, type BackupTarget } from './target.ts';

const HEADER = 'vitrine-backup.json';
const FORMAT = 1;

const Header = Type.Object({
  format: Type.Integer(),
  /** Identifies the library; null if it was backed up before its first start. */
  library: Type.Union([Type.String(), Type.Null()]),
  encryption: Type.Union([
    Type.Null(),
    Type.Object({
      kdf: Type.Literal('scrypt'),
      N: Type.Integer(),
      r: Type.Integer(),
      p: Type.Integer(),
      salt: Type.String(),
      key: Type.String(),
    }),
  ]),
});
type Header = Static<typeof Header>;
const isHeader = Compile(Header);

/** The size and hash that a backup expects of stored content. */
export interface Content {
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** All backups in one place. Names refer to the content before encryption. */
export interface Repository {
  target: BackupTarget;
  /** Stores content, of about `sizeBytes` if that is known, and returns its size and hash. */
  write(name: string, content: AsyncIterable<Uint8Array>, sizeBytes?: number): Promise<Content>;
  /** Reads content. Throws BackupError at the end if it differs from the expected content. */
  read(name: string, expected: Content | null): AsyncIterable<Uint8Array>;
  /** Returns whether content of this size is stored. */
  has(name: string, bytes: number): Promise<boolean>;
  /** Returns the key in the target under which content is stored. */
  keyOf(name: string): string;
}

/** Reads content to its end. */
export async function drain(content: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of content);
}

/** Returns why reading stored content failed, or null; errors of the service are thrown. */
export async function whyDamaged(work: Promise<unknown>): Promise<Sentence | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof BackupError) return sentenceOfError(error);
    throw error;
  }
}

async function readAll(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Passes content on and calls `done` with its size and hash; the stream fails with an error of `done`. */
async function* counted(content: AsyncIterable<Uint8Array>, done: (found: Content) => void) {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  done({ bytes, sha256: hash.digest('hex') });
}

function check(name: string, found: Content, expected: Content | null): void {
  if (expected === null) return;
  if (found.bytes !== expected.bytes) {
    throw new BackupError(
      sentenceCount(
        expected.bytes,
        ['{name} is damaged: it has {found} of # byte', '{name} is damaged: it has {found} of # bytes'],
        { name, found: found.bytes },
      ),
    );
  }
  if (found.sha256 !== expected.sha256)
    throw new BackupError(sentence('{name} is damaged: its checksum differs', { name }));
}

function openWith(target: BackupTarget, key: Buffer | null): Repository {
  const keyOf = (name: string) => {
    if (key === null) return name;
    // Keeps the directories, which separate backups from files and from each other.
    const [kind = '', ...rest] = name.split('/');
    const sealed = sealedName(key, name);
    return kind === 'files'
      ? `files/${sealed.slice(0, 2)}/${sealed}`
      : `${kind}/${rest[0]}/${rest[1] === 'manifest' ? 'manifest' : sealed}`;
  };
  return {
    target,
    keyOf,
    async write(name, content, sizeBytes) {
      let found: Content = { bytes: 0, sha256: '' };
      const plain = counted(content, (counts) => {
        found = counts;
      });
      await target.write(keyOf(name), key === null ? plain : seal(plain, key, name), sizeBytes);
      return found;
    },
    async *read(name, expected) {
      const stored = await target.read(keyOf(name));
      const plain = key === null ? stored : unseal(stored, key, name);
      yield* counted(plain, (found) => check(name, found, expected));
    },
    async has(name, bytes) {
      return (await target.size(keyOf(name))) === (key === null ? bytes : encryptedSize(bytes));
    },
  };
}

async function readHeader(target: BackupTarget): Promise<Header | null> {
  if ((await target.size(HEADER)) === null) return null;
  const text = (await readAll(await target.read(HEADER))).toString('utf8');
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    header = null;
  }
  if (!isHeader.Check(header))
    throw new BackupError(sentence('{name} in {place} is damaged', { name: HEADER, place: target.place }));
  if (header.format !== FORMAT) {
    throw new BackupError(
      sentence('the backups in {place} have a newer format; use a newer Vitrine', { place: target.place }),
    );
  }
  return header;
}

async function keyFrom(
  target: BackupTarget,
  { encryption }: Header,
  passphrase: string | null,
): Promise<Buffer | null> {
  if (encryption !== null && passphrase === null) {
    throw new BackupError(
      sentence('the backups in {place} are encrypted; set VITRINE_BACKUP_PASSPHRASE or --key-file', {
        place: target.place,
      }),
    );
  }
  return encryption === null || passphrase === null ? null : unwrapKey(encryption, passphrase);
}

/** Opens a place with backups. Throws BackupError when there are none, or when the passphrase is wrong or missing. */
export async function openRepository(target: BackupTarget, passphrase: string | null): Promise<Repository> {
  const header = await readHeader(target);
  if (header === null)
    throw new BackupError(sentence('there are no backups in {place}', { place: target.place }));
  return openWith(target, await keyFrom(target, header, passphrase));
}

/**
 * Opens a place for another backup of this library; the first one decides whether all are encrypted. Throws BackupError
 * when the place holds something else, or backups of another library. Call it under the target's lock.
 */
export async function prepareRepository(
  target: BackupTarget,
  library: string | null,
  passphrase: string | null,
): Promise<Repository> {
  const known = await readHeader(target);
  if (known !== null) {
    if (known.library !== library && known.library !== null) {
      throw new BackupError(sentence('{place} holds backups of another library', { place: target.place }));
    }
    if (known.encryption === null && passphrase !== null) {
      throw new BackupError(
        sentence('the backups in {place} are not encrypted; use another directory for encrypted ones', {
          place: target.place,
        }),
      );
    }
    return openWith(target, await keyFrom(target, known, passphrase));
  }
  const created = passphrase === null ? null : await createKey(passphrase);
  const header: Header = { format: FORMAT, library, encryption: created?.wrapped ?? null };
  const text = `${JSON.stringify(header, null, 2)}\n`;
  await target.write(
    HEADER,
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
  return openWith(target, created?.key ?? null);
}
