import type { FastifyBaseLogger } from 'fastify';
import type { CapabilityResolver } from './access/capabilities.ts';
import type { RemoteOriginals } from './assets/bytes.ts';
import type { ServedAssets } from './assets/served.ts';
import type { AssetTexts } from './assets/show.ts';
import type { Config } from './config.ts';
import type { Passwords } from './identity/password.ts';
import type { IdentityProviders } from './identity/provider.ts';
import type { Watermarks } from './links/watermarks.ts';
import type { Decoders } from './media/decoding/decoders.ts';
import type { Rung } from './media/ladder.ts';
import type { MetadataReader } from './media/metadata/reader.ts';
import type { Database } from './platform/database/pool.ts';
import type { SmallObjects } from './platform/storage/small-objects.ts';
import type { Storage } from './platform/storage/storage.ts';
import type { PostTexts } from './posts/write-page.ts';
import type { UploadBytes } from './uploads/bytes.ts';
import type { Encoder } from './visual/encoder.ts';

/** The dependencies of use cases, besides the caller and the request. */
export interface Deps {
  db: Database;
  storage: Storage;
  /** A short-lived memory cache of small stored objects. */
  small: SmallObjects;
  /** Reads the bytes that callers may get. */
  served: ServedAssets;
  /** Assets and posts as text, for the feed. */
  texts: AssetTexts;
  postTexts: PostTexts;
  config: Config;
  /** Returns the current preview ladder; a cached one may be a moment old. */
  readonly ladder: readonly Rung[];
  /** The bytes of unfinished uploads. */
  uploads: UploadBytes;
  /** Watermarked renditions for share links. */
  watermarks: Watermarks;
  /** Processes that decode untrusted bytes; closed when the service stops. */
  decoders: Decoders;
  /** Reads the metadata of files; closed when the service stops. */
  metadata: MetadataReader;
  /** The install's secret, which encrypts other secrets (identity/seal.ts). */
  secretKey: string;
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
