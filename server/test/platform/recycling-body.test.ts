import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { recyclingBody } from '../../src/platform/http/recycling-body.ts';
import type { Buffers } from '../../src/platform/storage/buffers.ts';

/** A response that reads each chunk some turns after it was written, as a slow connection does. */
function slowResponse() {
  const sent: number[] = [];
  const response = new Writable({
    async write(chunk: Buffer, _, done) {
      for (let at = 0; at < 5; at += 1) await turn();
      sent.push(...new Set(chunk));
      done();
    },
  });
  return { response, sent };
}

/** Chunks that are filled with their number, which fits a byte up to 255. */
async function* numbered(buffers: Buffers, count: number, memories = new Set<ArrayBufferLike>()) {
  for (let number = 1; number <= count; number += 1) {
    const chunk = buffers.take(1000).fill(number);
    memories.add(chunk.buffer);
    yield chunk;
  }
}

const closed = (stream: { once(event: 'close', listener: () => void): unknown }) =>
  new Promise<void>((resolve) => stream.once('close', resolve));

test('buffers are used again only once their bytes were sent', async () => {
  const { response, sent } = slowResponse();
  const memories = new Set<ArrayBufferLike>();
  const body = recyclingBody((buffers) => numbered(buffers, 100, memories));
  body.pipe(response);
  await Promise.all([closed(response), closed(body)]);
  expect(sent).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  expect(memories.size).toBeLessThan(5);
  expect(body.readableEnded).toBe(true);
});

test('a body that is destroyed stops reading and does not end its response', async () => {
  const { response, sent } = slowResponse();
  let isStopped = false;
  const body = recyclingBody(async function* (buffers) {
    try {
      yield* numbered(buffers, Number.POSITIVE_INFINITY);
    } finally {
      isStopped = true;
    }
  });
  body.pipe(response);
  await expect.poll(() => sent.length).toBeGreaterThan(2);
  body.destroy();
  await closed(body);
  expect(isStopped).toBe(true);
  for (let at = 0; at < 50; at += 1) await turn();
  expect(response.writableEnded).toBe(false);
});

test('an error while reading is the error of the body, and does not end its response', async () => {
  const { response } = slowResponse();
  const body = recyclingBody(async function* (buffers) {
    yield* numbered(buffers, 3);
    throw new Error('the disk cannot read it');
  });
  const failed = new Promise((resolve) => body.once('error', resolve));
  body.pipe(response);
  expect(await failed).toMatchObject({ message: 'the disk cannot read it' });
  expect(response.writableEnded).toBe(false);
});

test('a response that breaks off ends the body', async () => {
  const { response, sent } = slowResponse();
  const body = recyclingBody((buffers) => numbered(buffers, Number.POSITIVE_INFINITY));
  const failed = new Promise((resolve) => body.once('error', resolve));
  response.on('error', () => {});
  body.pipe(response);
  await expect.poll(() => sent.length).toBeGreaterThan(2);
  response.destroy(new Error('the client has gone'));
  await failed;
  expect(body.destroyed).toBe(true);
});
