import routes from 'virtual:first-routes';
import { CallError } from '@vitrine/contract/client';
import { errorHeader } from '@vitrine/contract/errors/header';
import { sendResumably, sendResumablyTo } from './resumable.ts';
import { assetIn, errorIn, type Sending } from './sent.ts';

/**
 * The minimum size of files that are sent in parts and survive a lost connection. For smaller files, parts would only
 * cost requests.
 */
const RESUMABLE_FROM = 8 * 1024 * 1024;

/** Sends a form and reports the bytes sent to `onSent`. Uses XHR, because fetch reports no upload progress. */
function sendForm(
  [method, path]: readonly [string, string],
  form: FormData,
  onSent: (bytes: number) => void,
): { done: Promise<unknown>; stop(): void } {
  const request = new XMLHttpRequest();
  const done = new Promise<unknown>((resolve, reject) => {
    request.open(method, `/api/v1${path}`);
    request.responseType = 'json';
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () => {
      if (request.status === 200 || request.status === 201) resolve(request.response);
      else
        reject(
          errorIn(
            request.status,
            request.response,
            request.statusText,
            request.getResponseHeader(errorHeader),
          ),
        );
    };
    request.onerror = () => reject(new CallError(0, 'the connection was lost during the upload'));
    request.onabort = () => reject(new CallError(0, 'stopped'));
    request.send(form);
  });
  return { done, stop: () => request.abort() };
}

/** Sends a file as a new asset, optionally of a team. */
export function sendAsset(file: File, teamId: string | undefined, onSent: (bytes: number) => void): Sending {
  if (file.size >= RESUMABLE_FROM) return sendResumably(file, teamId, onSent);
  const form = new FormData();
  if (teamId !== undefined) form.append('team_id', teamId);
  form.append('file', file, file.name);
  const { done, stop } = sendForm(routes.createAsset, form, onSent);
  const asset = done.then((answer) => {
    const made = assetIn(answer);
    if (made === undefined) throw new CallError(0, 'the answer names no asset');
    return made;
  });
  return { done: asset, stop };
}

/** Sends a file as a new version of an asset. */
export function sendVersion(
  file: File,
  assetId: string,
  note: string,
  onSent: (bytes: number) => void,
): { done: Promise<unknown>; stop(): void } {
  const [method, route] = routes.addAssetVersion;
  const path = route.replace('{id}', assetId);
  if (file.size >= RESUMABLE_FROM) return sendResumablyTo([method, path], file, { note }, onSent);
  const form = new FormData();
  if (note !== '') form.append('note', note);
  form.append('file', file, file.name);
  return sendForm([method, path], form, onSent);
}

/** Sends a file as subtitles of an asset. */
export function sendSubtitles(
  file: File,
  assetId: string,
  lang: string,
  onSent: (bytes: number) => void,
): { done: Promise<unknown>; stop(): void } {
  const [method, path] = routes.putSubtitles;
  const form = new FormData();
  form.append('file', file, file.name);
  return sendForm(
    [method, path.replace('{id}', assetId).replace('{lang}', encodeURIComponent(lang))],
    form,
    onSent,
  );
}
