import { createServer, type IncomingMessage } from 'node:http';
import { parseArgs } from 'node:util';
import { describe, model } from './descriptor.ts';

/** The reference encoder of docs/encoder.md: `node bench/src/encoder/main.ts --port 8421`. */

const MOST_BYTES = 20 * 1024 * 1024;

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > MOST_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface Reply {
  status: number;
  body: object;
}

async function answer(request: IncomingMessage): Promise<Reply> {
  if (request.method === 'GET' && request.url === '/info') return { status: 200, body: model };
  if (request.method !== 'POST' || request.url !== '/encode')
    return { status: 404, body: { error: 'not found' } };
  const bytes = await bodyOf(request);
  if (bytes === null)
    return { status: 413, body: { error: `a picture has at most ${MOST_BYTES} bytes here` } };
  try {
    return { status: 200, body: { vector: await describe(bytes) } };
  } catch {
    return { status: 422, body: { error: 'the bytes cannot be read as a picture' } };
  }
}

const { values } = parseArgs({
  options: { port: { type: 'string', default: '8421' }, host: { type: 'string', default: '127.0.0.1' } },
});
const server = createServer(async (request, response) => {
  const { status, body } = await answer(request).catch(() => ({ status: 500, body: { error: 'failed' } }));
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
server.listen(Number(values.port), values.host, () => {
  const at = server.address();
  const port = typeof at === 'object' && at !== null ? at.port : values.port;
  console.log(`encoder listening on http://${values.host}:${port}`);
});
