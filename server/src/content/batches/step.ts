import type { Batch } from '@vitrine/contract/batches';
import type { SignedIn } from '../../access/caller.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import type { StoredMembers } from '../fields/values/typed-value.ts';

/** JSON that undoing needs: the state before and after the change. */
export type UndoRecord = Readonly<Record<string, unknown>>;

/** What a batch did, or would do, to one object. */
export type Outcome =
  | { readonly outcome: 'changed'; readonly record: UndoRecord }
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'refused'; readonly reason: Sentence };

/** An object of a batch; `record` is what the batch that is undone has kept of it. */
export interface Item {
  readonly id: string;
  /** Its place in the batch. */
  readonly position: number;
  readonly record: UndoRecord | null;
  /** What an import gives the object: values of fields by their ids; null removes a value. */
  readonly given?: Readonly<Record<string, StoredMembers | null>> | null;
}

/** Some items of a batch, dealt with in one transaction. */
export interface Step {
  readonly tx: Tx;
  readonly caller: SignedIn;
  readonly items: readonly Item[];
  /** Decides only, without locks and writes. */
  readonly isDryRun: boolean;
}

/** The result of a step. */
export interface StepResult {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** The post that the step created. */
  readonly postId?: string;
}

/**
 * Does the action to the items of a step. A Refusal that it throws concerns the action itself, such as an unknown
 * state, and therefore every item; a step without items only checks this.
 */
export type Action = ((step: Step) => Promise<StepResult>) & {
  /** Each item has a step of its own, because the action may refuse after it has written. */
  readonly oneByOne?: true;
  /** Takes locks that come before that of the batch, so that no deadlock is possible. */
  before?(tx: Tx): Promise<void>;
  /** A dry run decides about all items at once, because what is decided about one depends on the others. */
  readonly together?: true;
  /** Throws a Refusal if there are more objects than the action takes. */
  checkCount?(count: number): void;
};

/** What a kind of action does, and what undoes it; null if nothing can. */
export interface Pair {
  readonly run: Action;
  readonly undo: Action | null;
}

/** A batch's kind of objects and its action, as they are stored. */
export interface StoredAction {
  readonly subject: Batch['subject'];
  readonly action: { readonly kind: string };
}

export const unchanged: Outcome = { outcome: 'unchanged' };
export const refused = (reason: Sentence): Outcome => ({ outcome: 'refused', reason });

/** Returns the outcome of a Refusal that was thrown for one object; throws any other error. */
export function refusedBy(error: unknown): Outcome {
  if (error instanceof Refusal) return refused(error.sentence);
  throw error;
}
/** BATCH-9: the reason if an object has changed since the batch to be undone wrote it. */
export const CHANGED_SINCE = sentence('changed since');
export const changedSince: Outcome = refused(CHANGED_SINCE);
