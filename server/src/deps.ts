import type { FastifyBaseLogger } from 'fastify';
import type { CapabilityResolver } from './access/capabilities.ts';
import type { ServedAssets } from './assets/served.ts';
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
import type { UploadBytes } from './uploads/bytes.ts';
import type { Encoder } from './visual/encoder.ts';

/** What use cases are given besides the caller and the request. */
export interface Deps {
  db: Database;
  storage: Storage;
  /** Small objects of the storage, kept in memory for a moment. */
  small: SmallObjects;
  /** Whose bytes a caller is served. */
  served: ServedAssets;
  config: Config;
  /** The preview ladder configured at this moment; another one after a wait. */
  readonly ladder: readonly Rung[];
  /** The bytes of unfinished uploads. */
  uploads: UploadBytes;
  /** Renditions for share links that have a text drawn into them. */
  watermarks: Watermarks;
  /** Processes that decode untrusted bytes; closed when the service stops. */
  decoders: Decoders;
  /** Reads what files tell of themselves; closed when the service stops. */
  metadata: MetadataReader;
  /** The install's own secret, under which others are sealed (identity/seal.ts). */
  secretKey: string;
  passwords: Passwords;
  /** Directories that vouch for accounts, by name. */
  providers: IdentityProviders;
  capabilities: CapabilityResolver;
  /** The visual encoder, or null when none is configured. */
  encoder: Encoder | null;
  log: FastifyBaseLogger;
}
