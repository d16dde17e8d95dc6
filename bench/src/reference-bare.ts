// A bare Fastify with one route that returns a given JSON object. With a library's directory it first reads one row by
// its key, as every authenticated route must. identity.ts runs it as a separate process.
import { embeddedConnection } from '@vitrine/server/embedded';
import Fastify from 'fastify';
import pg from 'pg';

const [text = '{}', directory = ''] = process.argv.slice(2);
const body: unknown = JSON.parse(text);
const pool = directory === '' ? null : new pg.Pool({ ...embeddedConnection(directory), max: 6 });
const server = Fastify();
server.get('/', async () => {
  await pool?.query({ name: 'user', text: 'select * from users where ref = $1', values: [42] });
  return body;
});
console.log(`listening on ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
process.once('SIGTERM', () => void server.close().then(() => pool?.end()));
