import type { Sensitivity } from '@vitrine/contract/assets';
import { CallError } from '@vitrine/contract/client';
import { sensitivities } from '#lib/audience/words.ts';

/** What became of a file: the asset, which kind of asset it is, its own audience, and what its bytes are. */
export interface SentAsset {
  readonly id: string;
  readonly type: number;
  readonly sensitivity: Sensitivity;
  /** The extension of the bytes, else that of the name; null when there is none. */
  readonly extension: string | null;
}

/** An upload under way. `done` gives the new asset, or fails with CallError (status 0: no answer). */
export interface Sending {
  readonly done: Promise<SentAsset>;
  stop(): void;
}

function memberOf(
  answer: unknown,
  key: 'id' | 'asset_type' | 'sensitivity' | 'file_extension' | 'error',
): unknown {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return Object.entries(answer).find(([name]) => name === key)?.[1];
}

/** The audience in an answer. One this page does not know is taken for the widest, so that nothing looks safer than it is. */
function sensitivityOf(given: unknown): Sensitivity {
  return sensitivities.find((one) => one === given) ?? 'public';
}

/** The asset in an answer; undefined when there is none. */
export function assetIn(answer: unknown): SentAsset | undefined {
  const [id, type] = [memberOf(answer, 'id'), memberOf(answer, 'asset_type')];
  if (typeof id !== 'string' || typeof type !== 'number') return undefined;
  const extension = memberOf(answer, 'file_extension');
  return {
    id,
    type,
    sensitivity: sensitivityOf(memberOf(answer, 'sensitivity')),
    extension: typeof extension === 'string' ? extension : null,
  };
}

/** The error an answer names, for people. */
export function errorIn(status: number, answer: unknown, otherwise: string): CallError {
  const said = memberOf(answer, 'error');
  return new CallError(status, typeof said === 'string' ? said : otherwise);
}
