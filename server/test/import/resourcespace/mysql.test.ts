import { connect, createServer } from 'node:net';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { readMysqlAddress } from '../../../src/operate/import/users/mysql-address.ts';
import { readMysqlTables } from '../../../src/operate/resourcespace/mysql.ts';
import { tables } from '../../../src/operate/resourcespace/source.ts';
import { openLibrary } from '../../support/library.ts';
import { freePort } from '../../support/programs.ts';
import { optionsFor, runImport, unpackHarbour } from './harbour.ts';
import { gather, gatherDump, type Rows, serveDump } from './served-dump.ts';

const harbour = await unpackHarbour();
/** `RESOURCESPACE_MYSQL` names a real server with the rows of the dump. */
const real = process.env.RESOURCESPACE_MYSQL;
const served = real === undefined ? await serveDump(harbour.dump) : null;
const address = real ?? `mysql://reader:secret@127.0.0.1:${served?.port}/rs`;
afterAll(() => served?.close());

const inOrder = (found: ReadonlyMap<string, Rows>) =>
  [...found]
    .filter(([, { rows }]) => rows.length > 0)
    .map(([table, { columns, rows }]) => [table, columns, rows.map((row) => JSON.stringify(row)).toSorted()])
    .toSorted();

// IMPORT-3
test('reads the same rows from a running database as from its dump', async () => {
  const fromDatabase = await gather(readMysqlTables(readMysqlAddress(address), tables));
  const fromDump = await gatherDump(harbour.dump);
  expect(fromDump.get('resource')?.rows.length).toBe(81);
  expect(inOrder(fromDatabase)).toEqual(inOrder(fromDump));
});

/** Passes bytes on, and breaks each connection after the server has sent this many. */
async function relayUntil(bytes: number): Promise<{ port: number; close(): void }> {
  const { hostname, port } = new URL(address);
  const relay = createServer((client) => {
    const server = connect({ host: hostname, port: Number(port) });
    let sent = 0;
    for (const end of [client, server]) end.on('error', () => {});
    client.pipe(server);
    server.on('data', (chunk) => {
      sent += chunk.length;
      if (sent < bytes) client.write(chunk);
      else for (const end of [client, server]) end.destroy();
    });
  });
  const own = await freePort();
  relay.listen(own, '127.0.0.1');
  return { port: own, close: () => relay.close() };
}

// IMPORT-3
test('writes nothing when the connection drops in the middle', async () => {
  const library = await openLibrary();
  await library.join('boss', 'admin');
  for (const bytes of [20, 3000, 100_000]) {
    const relay = await relayUntil(bytes);
    const url = new URL(address);
    url.host = `127.0.0.1:${relay.port}`;
    const [, , ...rest] = optionsFor(harbour);
    const { code, out } = await runImport(library, ['--database', url.href, ...rest]);
    relay.close();
    expect([bytes, code, out]).toEqual([bytes, 1, expect.stringMatching(/^MySQL at 127\.0\.0\.1:\d+: /)]);
  }
  const { rows } = await sql`select from imported_ids limit 1`.execute(library.deps.db);
  expect(rows).toHaveLength(0);
});
