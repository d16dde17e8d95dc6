// A bare Node server: one statement a request, its text written as it is. Run by feed.ts as a process of its own.
import { createServer } from 'node:http';
import { embeddedConnection } from '@vitrine/server/embedded';
import pg from 'pg';
import { referenceSql } from './reference-sql.ts';

const [directory = '', userRef = '1', limit = '24'] = process.argv.slice(2);
const pool = new pg.Pool({ ...embeddedConnection(directory), max: 6, options: '-c TimeZone=UTC' });

const server = createServer(async (_, response) => {
  const { rows } = await pool.query<{ page: string }>({
    name: 'page',
    text: referenceSql,
    values: [Number(userRef), Number(limit)],
  });
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(rows[0]?.page);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null)
    console.log(`listening on http://127.0.0.1:${address.port}`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void pool.end();
});
