import routes from 'virtual:routes';
import type { Sensitivity } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import { sensitivities } from '../audience/words.ts';

/** What became of a file: the asset, which kind of asset it is, and its own audience. */
export interface SentAsset {
  readonly id: string;
  readonly type: number;
  readonly sensitivity: Sensitivity;
}

/** An upload under way. `done` gives the new asset, or fails with CallError (status 0: no answer). */
export interface Sending {
  readonly done: Promise<SentAsset>;
  stop(): void;
}

function memberOf(answer: unknown, key: 'id' | 'asset_type' | 'sensitivity' | 'error'): unknown {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return Object.entries(answer).find(([name]) => name === key)?.[1];
}

/** The audience in an answer. One this page does not know is taken for the widest, so that nothing looks safer than it is. */
function sensitivityOf(given: unknown): Sensitivity {
  return sensitivities.find((one) => one === given) ?? 'public';
}

/** Sends a file as a new asset, of a team if any; `onSent` hears how many bytes have gone. fetch cannot tell that, so XHR. */
export function sendAsset(file: File, teamId: string | undefined, onSent: (bytes: number) => void): Sending {
  const [method, path] = routes.createAsset;
  const request = new XMLHttpRequest();
  const done = new Promise<SentAsset>((resolve, reject) => {
    request.open(method, `/api/v1${path}`);
    request.responseType = 'json';
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () => {
      const answer: unknown = request.response;
      const [id, type] = [memberOf(answer, 'id'), memberOf(answer, 'asset_type')];
      if (request.status === 201 && typeof id === 'string' && typeof type === 'number')
        return resolve({ id, type, sensitivity: sensitivityOf(memberOf(answer, 'sensitivity')) });
      const said = memberOf(answer, 'error');
      reject(new CallError(request.status, typeof said === 'string' ? said : request.statusText));
    };
    request.onerror = () => reject(new CallError(0, 'the connection broke while sending'));
    request.onabort = () => reject(new CallError(0, 'stopped'));
    const form = new FormData();
    if (teamId !== undefined) form.append('team_id', teamId);
    form.append('file', file, file.name);
    request.send(form);
  });
  return { done, stop: () => request.abort() };
}
