import type pg from 'pg';
import { openService } from '../../src/boot/service.ts';
import { openPool } from '../../src/platform/database/pool.ts';
import type { Library } from './library.ts';

/** Returns the connection settings of the library's database. */
export function settingsOf({ database }: Pick<Library, 'database'>): pg.ClientConfig {
  const { host, port, user, password, database: name } = database.pool.options;
  return { host, port, user, password, database: name };
}

/** Opens a second service on the library's database with its own connections, like another process. */
export async function openSecond(library: Library): Promise<{ address: string; close(): Promise<void> }> {
  const { storage, config } = library.deps;
  const pool = openPool(settingsOf(library), 3);
  const { server } = await openService({ db: pool.db, listener: pool.listener, storage, config });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    address,
    async close() {
      await server.close();
      await pool.close();
    },
  };
}
