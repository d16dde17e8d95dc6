import type { Locker } from '@tus/server';
import type { FastifyBaseLogger } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { CapabilityResolver } from '../access/capabilities.ts';
import type { Conversion } from '../media/convert.ts';
import type { Decoders } from '../media/decoding/decoders.ts';
import type { Rung } from '../media/ladder.ts';
import type { MetadataReader } from '../media/metadata/reader.ts';
import type { Columns, Database } from '../platform/database/pool.ts';
import type { SmallObjects } from '../platform/storage/small-objects.ts';
import type { Storage } from '../platform/storage/storage.ts';
import type { Config } from './config.ts';
import type { IdentityProviders } from './identity-provider.ts';
import type { AssetTexts, PostTexts } from './kept-texts.ts';

/** The file of a rendition. */
export interface StoredRendition {
  object: string;
  type: string;
  bytes: number;
}

/** An asset, and the key of a rendition; null for none. */
export interface RequestedBytes {
  id: string;
  key: string | null;
}

/** An asset whose bytes the caller may get, and the requested rendition. */
export interface ServedRow
  extends Columns<'assets', 'file_hash' | 'file_name'>,
    Columns<'files', 'size_bytes' | 'mime'> {
  rendition: StoredRendition | null;
}

/** Reads the bytes that callers may get (assets/served.ts). */
export interface ServedBytes {
  /** Returns what the caller may get; no access and no row are both null. */
  find(caller: Caller, wanted: RequestedBytes): Promise<ServedRow | null>;
}

/** The result of verifying a password. */
export interface Verification {
  matches: boolean;
  /** The stored form is outdated and should be replaced. */
  outdated: boolean;
}

/** Hashes and verifies passwords (identity/password.ts). */
export interface Passwords {
  /** Hashes a new or changed password in the current form, from its composed spelling (NFC). */
  hash(username: string, password: string): Promise<string>;
  /**
   * Verifies a password against `stored`; null (no such user, or no password) takes equally long and never matches.
   * Tries it as typed, then composed (SIGNIN-16). Text that is not a hash, such as a plain password, never matches.
   */
  verify(username: string, password: string, stored: string | null): Promise<Verification>;
}

/**
 * The bytes of unfinished uploads. They are files in `storage.uploadsDir`; the table `uploads` records how many bytes
 * are durable.
 */
export interface UploadBytes {
  pathOf(id: string): string;
  /** Creates the empty file of an upload. */
  begin(id: string): Promise<void>;
  /**
   * Appends a stream at `offset` and returns the new offset. Keeps the bytes received even if the stream fails.
   * Throws a 409 if `offset` is not the current offset or another request has taken over.
   */
  append(id: string, offset: number, stream: AsyncIterable<Buffer>): Promise<number>;
  /** Completes an upload that has all its bytes: records their SHA-256 and type. Idempotent. */
  finish(id: string, sizeBytes: number): Promise<void>;
  remove(id: string): Promise<void>;
  /**
   * Serialises the requests of this process for one upload. A new request asks the previous one to end, because it
   * may be waiting for a client that has disconnected. Between processes the database decides, and each process
   * continues in a file of its own.
   */
  turns(): Promise<Locker>;
}

/** What an encoder reports about itself (docs/encoder.md). */
export interface EncoderInfo {
  /** Name and version: only vectors of the same model are compared. */
  model: string;
  dimensions: number;
}

/** The visual encoder of the library, if configured. */
export interface Encoder {
  /** What it last reported, or null while it cannot be reached (SEARCH-17). */
  readonly info: EncoderInfo | null;
  /** Returns the picture's vector, of length one. Rejects with EncoderUnavailable or PictureRefused. */
  encode(picture: Buffer): Promise<{ model: string; vector: number[] }>;
  /** Checks now whether it can be reached. */
  look(): Promise<void>;
  close(): void;
}

/** Fetches originals from peers on demand. */
interface RemoteOriginals {
  /**
   * Fetches an original into the storage and returns its size in bytes; null when no peer has it. Throws when the peer
   * cannot be reached.
   */
  fetch(hash: string): Promise<number | null>;
}

/** A rendition to be watermarked, of the bytes with this hash. */
export interface Drawable extends StoredRendition {
  hash: string;
  key: string;
}

/** Watermarked renditions for share links (links/watermarks.ts). */
export interface Watermarks {
  /** Returns the rendition with the text drawn into it, created on the first request. 404 when the bytes are gone. */
  find(source: Drawable, text: string): Promise<StoredRendition>;
}

/** The bytes of a picture to copy in another form. */
export interface Convertible {
  hash: string;
  mime: string;
  extension: string | null;
}

/** Copies of pictures for downloads (downloads/conversions.ts). */
export interface Conversions {
  /** Returns the copy, made on the first request. 409 if it cannot be made, 404 when the bytes are gone. */
  find(source: Convertible, form: Conversion): Promise<StoredRendition>;
}

/** The dependencies of use cases, besides the caller and the request. */
export interface Deps {
  db: Database;
  storage: Storage;
  /** A short-lived memory cache of small stored objects. */
  small: SmallObjects;
  /** Reads the bytes that callers may get. */
  served: ServedBytes;
  /** Assets and posts as text, for the feed. */
  texts: AssetTexts;
  postTexts: PostTexts;
  config: Config;
  /** Returns the current preview ladder; another process may have changed it within the last second. */
  readonly ladder: readonly Rung[];
  /** The bytes of unfinished uploads. */
  uploads: UploadBytes;
  /** Watermarked renditions for share links. */
  watermarks: Watermarks;
  /** Copies of pictures for downloads. */
  conversions: Conversions;
  /** Processes that decode untrusted bytes; closed when the service stops. */
  decoders: Decoders;
  /** Reads the metadata of files; closed when the service stops. */
  metadata: MetadataReader;
  /** The install's secret, which encrypts other secrets (identity/seal.ts). */
  secretKey: string;
  /** The keys that it has replaced (identity/former-keys.ts). */
  formerSecretKeys: readonly string[];
  passwords: Passwords;
  /** Directories that authenticate accounts, by name. */
  providers: IdentityProviders;
  capabilities: CapabilityResolver;
  /** The visual encoder, or null when none is configured. */
  encoder: Encoder | null;
  /** Fetches originals from peers. */
  originals: RemoteOriginals;
  log: FastifyBaseLogger;
}
