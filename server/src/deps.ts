import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config.ts';
import type { Rung } from './media/ladder.ts';
import type { Database } from './platform/database/pool.ts';
import type { Storage } from './platform/storage/storage.ts';

/** What use cases are given besides the caller and the request. */
export interface Deps {
  db: Database;
  storage: Storage;
  config: Config;
  ladder: readonly Rung[];
  /** The install's secret of the legacy-compatible password scheme (choices, sign-in). */
  scrambleKey: string;
  log: FastifyBaseLogger;
}
