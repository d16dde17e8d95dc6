import { CallError } from '@vitrine/contract/client';
import { errorHeader } from '@vitrine/contract/errors/header';

/** The result of an upload: the asset, its type, and the extension of its bytes. */
export interface SentAsset {
  readonly id: string;
  readonly type: number;
  /** The extension of the detected type, otherwise that of the name; null if there is none. */
  readonly extension: string | null;
}

/** A running upload. `done` resolves to the new asset or rejects with CallError (status 0: no response). */
export interface Sending {
  readonly done: Promise<SentAsset>;
  stop(): void;
}

function memberOf(answer: unknown, key: 'id' | 'asset_type' | 'file_extension' | 'error'): unknown {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return Object.entries(answer).find(([name]) => name === key)?.[1];
}

/** Returns the asset in a response; undefined if there is none. */
export function assetIn(answer: unknown): SentAsset | undefined {
  const [id, type] = [memberOf(answer, 'id'), memberOf(answer, 'asset_type')];
  if (typeof id !== 'string' || typeof type !== 'number') return undefined;
  const extension = memberOf(answer, 'file_extension');
  return {
    id,
    type,
    extension: typeof extension === 'string' ? extension : null,
  };
}

/** Returns the error of a response; `code` is its header `Vitrine-Error`. */
export function errorIn(status: number, answer: unknown, otherwise: string, code: string | null): CallError {
  const message = memberOf(answer, 'error');
  const headers = new Headers(code === null ? {} : { [errorHeader]: code });
  return new CallError(status, typeof message === 'string' ? message : otherwise, headers);
}
