import type { JobProgress, JobState } from '@vitrine/contract/jobs';

/** What each kind of job does, for people; any other is told by its name. */
const works: Readonly<Record<string, string>> = {
  render: 'Make previews',
  sweep: 'Sweep leftovers away',
  purge: 'Empty the trash',
  'release-bytes': 'Remove a file nobody has',
  'release-logo': 'Remove an old logo',
  expire: 'End what ran out',
  'retain-audit': 'Shorten the audit log',
  'count-storage': 'Count the storage',
  'render-again': 'Bring stored files up to date',
  tiles: 'Cut a large picture into tiles',
  transcode: 'Make streams of a video or sound',
  extract: 'Read the metadata of a file',
  'extract-stored': 'Read the metadata of stored files',
  encode: 'Learn what a picture shows',
  'fill-vectors': 'Find pictures that nobody has looked at',
  'rewrite-documents': 'Write the search index again',
};

export function workOf(name: string): string {
  return works[name] ?? name;
}

/** How far a job is: "12 of 40 files", "62 %, encoding". */
export function progressWords({ part, step, done, total }: JobProgress): string {
  if (done !== null && total !== null) return `${done.toLocaleString()} of ${total.toLocaleString()} files`;
  const percent = `${Math.floor(part * 100)} %`;
  return step === null ? percent : `${percent}, ${step}`;
}

interface StateChoice {
  readonly state: JobState | undefined;
  readonly label: string;
  /** Said where there is none. */
  readonly empty: string;
}

export const stateChoices: readonly StateChoice[] = [
  { state: undefined, label: 'All', empty: 'There is nothing to do.' },
  { state: 'failed', label: 'Failed', empty: 'No job has failed.' },
  { state: 'running', label: 'Running', empty: 'Nothing is being worked on.' },
  { state: 'waiting', label: 'Waiting', empty: 'Nothing waits.' },
];

/** The state an address narrows the list to. */
export function readJobState(params: Pick<URLSearchParams, 'get'>): JobState | undefined {
  const asked = params.get('state');
  return stateChoices.find(({ state }) => state !== undefined && state === asked)?.state;
}

export function jobsAddress(state: JobState | undefined): string {
  return state === undefined ? '/admin/jobs' : `/admin/jobs?state=${state}`;
}

interface Counts {
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
}

/** How many jobs are in a state, over all names. */
export function sumOf(counts: readonly Counts[], state: JobState | undefined): number {
  const of = (one: Counts) => (state === undefined ? one.waiting + one.running + one.failed : one[state]);
  return counts.reduce((sum, one) => sum + of(one), 0);
}
