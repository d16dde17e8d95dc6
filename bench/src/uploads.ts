import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { admin, createAccount, openEmptyLibrary, signIn } from './empty-library.ts';
import { sampleMemory } from './peak-memory.ts';
import { processorSeconds, residentMegabytes } from './processor-time.ts';

const FILE_BYTES = 50_000_000;
const ACCOUNTS = 10;

/** The content of every file: bytes of an unknown type, which are stored but not rendered. */
const block = randomBytes(64 * 1024);

interface Sending {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Bytes sent before and after the file; the file itself when there is one. */
  before?: string;
  file?: Buffer;
  after?: string;
}

/** Sends a request whose body is generated during sending, as fast as the server accepts it. */
async function send(base: string, { method, path, headers, before = '', file, after = '' }: Sending) {
  const fileBytes = file === undefined ? 0 : FILE_BYTES;
  const length = String(Buffer.byteLength(before) + fileBytes + Buffer.byteLength(after));
  const sent = request(`${base}/api/v1${path}`, {
    method,
    headers: { ...headers, 'content-length': length },
    agent: false,
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  const write = async (bytes: Buffer | string) => {
    if (!sent.write(bytes)) await Promise.race([once(sent, 'drain'), answered]);
  };
  if (before !== '') await write(before);
  if (file !== undefined) {
    await write(file);
    for (let left = FILE_BYTES - file.length; left > 0; left -= block.length)
      await write(left < block.length ? block.subarray(0, left) : block);
  }
  sent.end(after);
  const [answer] = await answered;
  const body = await text(answer);
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${body}`);
  return { headers: answer.headers, body };
}

/** The first bytes of a file, which make every file distinct. */
function beginning(): Buffer {
  return Buffer.concat([Buffer.from([0, 1, 2, 3]), randomBytes(1024)]);
}

async function uploadByForm(base: string, cookie: string): Promise<void> {
  const boundary = 'vitrine-bench-boundary';
  await send(base, {
    method: 'POST',
    path: '/assets',
    headers: { cookie, 'content-type': `multipart/form-data; boundary=${boundary}` },
    before: `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="bench.bin"\r\n\r\n`,
    file: beginning(),
    after: `\r\n--${boundary}--\r\n`,
  });
}

async function uploadByTus(base: string, cookie: string): Promise<void> {
  const tus = { cookie, 'tus-resumable': '1.0.0' };
  const created = await send(base, {
    method: 'POST',
    path: '/uploads',
    headers: {
      ...tus,
      'upload-length': String(FILE_BYTES),
      'upload-metadata': `filename ${btoa('bench.bin')}`,
    },
  });
  const id = created.headers.location?.split('/').at(-1) ?? '';
  await send(base, {
    method: 'PATCH',
    path: `/uploads/${id}`,
    headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
    file: beginning(),
  });
  await send(base, {
    method: 'POST',
    path: '/assets',
    headers: { cookie, 'content-type': 'application/json' },
    before: JSON.stringify({ upload_id: id }),
  });
}

async function measure(
  name: string,
  uploads: number,
  upload: (base: string, cookie: string) => Promise<void>,
): Promise<void> {
  // All uploads come from one address, as from a studio.
  const { service, close } = await openEmptyLibrary(undefined, {
    VITRINE_UPLOADS_PER_ADDRESS: String(uploads),
    VITRINE_UPLOADS_PER_ACCOUNT: String(Math.ceil(uploads / ACCOUNTS)),
  });
  try {
    const { address } = service;
    const owner = await signIn(address, admin);
    const cookies: string[] = [];
    for (let at = 0; at < ACCOUNTS; at += 1) {
      const who = { username: `person-${at}`, password: 'a password of somebody' };
      await createAccount(address, owner, who);
      cookies.push(await signIn(address, who));
    }
    const pid = service.child.pid ?? 0;
    const idle = await residentMegabytes(pid);
    const stopSampling = sampleMemory(pid);
    const usedBefore = await processorSeconds(pid);
    const began = performance.now();
    const sent = Promise.all(
      Array.from({ length: uploads }, (_, at) => upload(address, cookies[at % ACCOUNTS] ?? '')),
    );
    await sent.finally(stopSampling);
    const peak = Math.max(idle, stopSampling());
    const seconds = (performance.now() - began) / 1000;
    const used = (await processorSeconds(pid)) - usedBefore;
    const megabytes = (uploads * FILE_BYTES) / 1e6;
    console.log(
      `${uploads} uploads of ${FILE_BYTES / 1e6} MB at once by ${name}: the service used ${idle.toFixed(0)} MB before and at most ${peak.toFixed(0)} MB; ${seconds.toFixed(0)} s, ${((used * 1000) / megabytes).toFixed(2)} ms of processor time a megabyte`,
    );
  } finally {
    await close();
  }
}

/**
 * `bench uploads`: measures the memory of the service during many concurrent uploads. Needs disk space for all files.
 */
export async function benchUploads(uploads: number, ways: readonly string[]): Promise<void> {
  if (ways.includes('form')) await measure('form', uploads, uploadByForm);
  if (ways.includes('tus')) await measure('tus', uploads, uploadByTus);
}
