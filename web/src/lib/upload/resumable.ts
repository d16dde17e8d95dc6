import routes from 'virtual:first-routes';
import { CallError } from '@vitrine/contract/client';
import { errorHeader } from '@vitrine/contract/errors/header';
import type { DetailedError, Upload } from 'tus-js-client';
import { phrase } from '#lib/languages/phrase.ts';
import { assetIn, errorIn, type Sending, type SentAsset } from './sent.ts';

const connectionLost = phrase('the connection was lost during the upload');

/** Delays between attempts in milliseconds, which start over with every byte that arrives. */
const retryDelays = [0, 1000, 3000, 5000, 10_000, 20_000, 30_000, 60_000];

function statusOf(error: Error | DetailedError): number {
  return 'originalResponse' in error ? (error.originalResponse?.getStatus() ?? 0) : 0;
}

/** Resolves when the browser reports a network connection. */
function online(): Promise<void> {
  if (navigator.onLine) return Promise.resolve();
  return new Promise((resolve) => window.addEventListener('online', () => resolve(), { once: true }));
}

/** Uses a finished upload, and returns the response. Repeating it after a lost response changes nothing. */
async function useUpload(
  uploadUrl: string,
  [method, path]: readonly [string, string],
  fields: Readonly<Record<string, string>>,
): Promise<unknown> {
  const upload_id = uploadUrl.split('/').at(-1);
  const body = JSON.stringify({ upload_id, ...fields });
  const send = () =>
    fetch(`/api/v1${path}`, { method, body, headers: { 'content-type': 'application/json' } });
  const response = await send().catch(async () => {
    await online();
    return send().catch(() => {
      throw new CallError(0, connectionLost);
    });
  });
  const answer: unknown = await response.json();
  if (!response.ok)
    throw errorIn(response.status, answer, response.statusText, response.headers.get(errorHeader));
  return answer;
}

/** Terminates an upload and removes its bytes. */
export async function discardUpload(id: string): Promise<void> {
  const [method, path] = routes.deleteUpload;
  const response = await fetch(`/api/v1${path.replace('{id}', id)}`, {
    method,
    headers: { 'tus-resumable': '1.0.0' },
  });
  if (!response.ok && response.status !== 404)
    throw errorIn(
      response.status,
      await response.json(),
      response.statusText,
      response.headers.get(errorHeader),
    );
}

/**
 * Sends a file by tus, and then the finished upload to `target` with these fields. Continues after a network failure, a restart of the server or a reload of the page. The
 * browser remembers unfinished files.
 */
export function sendResumablyTo(
  target: readonly [method: string, path: string],
  file: File,
  fields: Readonly<Record<string, string>>,
  onSent: (bytes: number) => void,
): { done: Promise<unknown>; stop(): void } {
  let upload: Upload | undefined;
  let isStopped = false;
  let refuseStopped: (error: CallError) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    refuseStopped = reject;
  });
  const run = async (): Promise<unknown> => {
    const tus = await import('tus-js-client');
    const address = await new Promise<string>((resolve, reject) => {
      const sending = new tus.Upload(file, {
        endpoint: `/api/v1${routes.createUpload[1]}`,
        metadata: { filename: file.name, filetype: file.type },
        retryDelays,
        removeFingerprintOnSuccess: true,
        onProgress: (bytes) => onSent(bytes),
        // A refusal is final; other errors may be temporary.
        onShouldRetry: (error) => {
          const status = statusOf(error);
          return status === 0 || status === 409 || status === 423 || status === 429 || status >= 500;
        },
        onSuccess: () => resolve(sending.url ?? ''),
        onError: (error) => {
          if (isStopped) return;
          if (statusOf(error) === 0 && !navigator.onLine) {
            void online().then(() => !isStopped && sending.start());
            return;
          }
          let answer: unknown;
          try {
            answer = JSON.parse(('originalResponse' in error && error.originalResponse?.getBody()) || 'null');
          } catch {
            // The response came from an intermediary.
          }
          const code =
            'originalResponse' in error ? error.originalResponse?.getHeader(errorHeader) : undefined;
          reject(errorIn(statusOf(error), answer, 'the connection was lost during the upload', code ?? null));
        },
      });
      upload = sending;
      void sending.findPreviousUploads().then(([latest]) => {
        if (isStopped) return;
        if (latest !== undefined) sending.resumeFromPreviousUpload(latest);
        sending.start();
      }, reject);
    });
    return useUpload(address, target, fields);
  };
  return {
    done: Promise.race([run(), stopped]),
    stop() {
      isStopped = true;
      // The uploaded part is no longer needed.
      void upload?.abort(true).catch(() => {});
      refuseStopped(new CallError(0, 'stopped'));
    },
  };
}

/** Sends a file as a new asset, in the same way. */
export function sendResumably(
  file: File,
  teamId: string | undefined,
  onSent: (bytes: number) => void,
): Sending {
  const fields = teamId === undefined ? {} : { team_id: teamId };
  const { done, stop } = sendResumablyTo(routes.createAsset, file, fields, onSent);
  const asset = done.then((answer): SentAsset => {
    const made = assetIn(answer);
    if (made === undefined) throw new CallError(0, 'the answer names no asset');
    return made;
  });
  return { done: asset, stop };
}
