import { Readable } from 'node:stream';
import { type Buffers, recycleBuffers } from '../storage/buffers.ts';

/** Writes a chunk; resolves when the operating system has accepted its bytes. */
const write = (response: NodeJS.WritableStream, chunk: Buffer) =>
  new Promise<void>((resolve, reject) => {
    response.write(chunk, (error) => (error == null ? resolve() : reject(error)));
  });

/**
 * Returns the body of a response whose chunks are read into buffers that are reused after they are sent. Streams do not report
 * that, so `pipe` writes the chunks itself: at most two at a time, one that is being sent and the next one.
 */
export function recyclingBody(read: (buffers: Buffers) => AsyncGenerator<Buffer>): Readable {
  const buffers = recycleBuffers();
  const chunks = read(buffers);
  const body = new Readable({
    read() {},
    destroy(error, done) {
      chunks.return(undefined).then(
        () => done(error),
        (fault) => done(error ?? fault),
      );
    },
  });
  const send = async (response: NodeJS.WritableStream) => {
    let sending = Promise.resolve();
    for await (const chunk of chunks) {
      const next = write(response, chunk).then(() => buffers.giveBack(chunk));
      // A failure is thrown by the next turn.
      next.catch(() => {});
      await sending;
      sending = next;
    }
    await sending;
    // An aborted archive must not end as if it were complete.
    if (body.destroyed) return;
    body.push(null);
    body.resume();
    response.end();
  };
  body.pipe = (response) => {
    send(response).catch((error) => body.destroy(error));
    return response;
  };
  return body;
}
