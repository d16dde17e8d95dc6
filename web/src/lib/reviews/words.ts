import type { Review, Reviewer, ReviewQueue } from '@vitrine/contract/reviews';
import { phrase } from '#lib/languages/phrase.ts';
import { plural } from '#lib/languages/plural.ts';
import { series } from '#lib/texts/series.ts';
import { decisionWords } from './decision-words.ts';

export const queueWords: readonly {
  readonly state: ReviewQueue;
  readonly label: string;
  readonly empty: string;
}[] = [
  { state: 'waiting_for_me', label: 'Waiting for me', empty: 'No review waits for you.' },
  { state: 'waiting_for_others', label: 'Waiting for others', empty: 'You wait for nobody’s decision.' },
  { state: 'done', label: 'Done', empty: 'No review is done yet.' },
];

/** Returns the queue in an address; what waits for the reader unless it names another. */
export function readQueue(params: { get(name: string): string | null }): ReviewQueue {
  return queueWords.find(({ state }) => state === params.get('state'))?.state ?? 'waiting_for_me';
}

export const queueAddress = (state: ReviewQueue) =>
  state === 'waiting_for_me' ? '/reviews' : `/reviews?state=${state}`;

/** Describes what a reviewer has decided, and whether it still counts. */
export function standOf({ decision, version, counts }: Reviewer, current: number): string {
  if (decision === null) return 'Not decided yet';
  const words = decisionWords[decision];
  if (counts && version === current) return words;
  return counts
    ? `${words}, on version ${version}`
    : phrase(`${words} on version ${version}; the post has changed since`);
}

/** Summarises the decisions that count: "2 of 3 approved". */
export function summaryOf({ reviewers, state }: Review): string {
  const counting = reviewers.filter(({ counts }) => counts);
  const approved = counting.filter(({ decision }) => decision === 'approved').length;
  const against = counting.length - approved;
  const parts = [`${approved} of ${reviewers.length} approved`];
  if (against > 0) parts.push(plural(against, ['one asks for changes', '# ask for changes']));
  if (state === 'closed') parts.push(phrase('closed'));
  return series(parts);
}

/** Says how many approvals are missing, and whose, from the parameters of the error. */
export function approvalText(params: {
  readonly required?: string | number;
  readonly approved?: string | number;
  readonly missing?: string | number;
}): string {
  const required = Number(params.required ?? 0);
  const approved = Number(params.approved ?? 0);
  const missing = String(params.missing ?? '')
    .split(' ')
    .filter((name) => name !== '');
  const needed = plural(required, ['One person must approve it first', '# people must approve it first']);
  const given =
    approved === 0 ? phrase('so far nobody has') : plural(approved, ['so far one has', 'so far # have']);
  const waiting = missing.length === 0 ? 'Nobody else is asked yet.' : `Waiting for ${series(missing)}.`;
  return `${needed}; ${given}. ${waiting}`;
}
