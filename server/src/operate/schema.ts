import { accessSync, constants, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError } from '../core/config.ts';
import { describeSchema } from '../platform/database/describe.ts';
import { openDatabase } from '../platform/database/open.ts';
import { serverFolder } from '../platform/installation.ts';
import { verbatim } from '../platform/language/sentence.ts';

const sqlFile = join(serverFolder, 'schema.sql');
const tablesFile = join(serverFolder, 'src/platform/database/tables.ts');

/** `vitrine schema`: writes the schema and the table types from the migrations, which it applies to a temporary database. */
export async function schemaCommand(config: Config): Promise<void> {
  for (const file of [sqlFile, tablesFile]) {
    try {
      accessSync(file, constants.W_OK);
    } catch {
      throw new ConfigError(
        verbatim(`${file} cannot be written by this user; run this in a checkout of your own`),
      );
    }
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'vitrine-schema-'));
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(dataDir, 0o711);
  try {
    const own = { ...config, dataDir, databaseUrl: null, databaseDirectUrl: null, databaseReplicaUrl: null };
    const database = await openDatabase(own, { join: false, log: () => {} });
    try {
      const { sql, module } = await describeSchema(database.pool);
      writeFileSync(sqlFile, sql);
      writeFileSync(tablesFile, module);
    } finally {
      await database.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
