import routes from 'virtual:routes';
import { CallError } from '@vitrine/contract/client';

/** An upload under way. `done` gives the new asset's id, or fails with CallError (status 0: no answer). */
export interface Sending {
  readonly done: Promise<string>;
  stop(): void;
}

function textAt(answer: unknown, key: 'id' | 'error'): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const value: unknown = Object.entries(answer).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : undefined;
}

/** Sends a file as a new asset; `onSent` hears how many bytes have gone. fetch cannot tell that, so XHR. */
export function sendAsset(file: File, onSent: (bytes: number) => void): Sending {
  const [method, path] = routes.createAsset;
  const request = new XMLHttpRequest();
  const done = new Promise<string>((resolve, reject) => {
    request.open(method, `/api/v1${path}`);
    request.responseType = 'json';
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () => {
      const answer: unknown = request.response;
      const id = textAt(answer, 'id');
      if (request.status === 201 && id !== undefined) resolve(id);
      else reject(new CallError(request.status, textAt(answer, 'error') ?? request.statusText));
    };
    request.onerror = () => reject(new CallError(0, 'the connection broke while sending'));
    request.onabort = () => reject(new CallError(0, 'stopped'));
    const form = new FormData();
    form.append('file', file, file.name);
    request.send(form);
  });
  return { done, stop: () => request.abort() };
}
