// A bare Node server: each request runs one prepared statement, whose only column is the JSON text of the response.
// feed.ts and teams.ts run it as a separate process. Arguments: directory, statement, values as a JSON array.
import { createServer } from 'node:http';
import { embeddedConnection } from '@vitrine/server/embedded';
import pg from 'pg';

const [directory = '', text = '', given = '[]'] = process.argv.slice(2);
const values: unknown[] = JSON.parse(given);
const pool = new pg.Pool({ ...embeddedConnection(directory), max: 6, options: '-c TimeZone=UTC' });

const server = createServer(async (_, response) => {
  const { rows } = await pool.query<{ page: string }>({ name: 'page', text, values });
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
