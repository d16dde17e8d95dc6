import type { JobName, JobProgress, JobState } from '@vitrine/contract/jobs';
import { locale } from '#lib/languages/language.ts';

/** What each kind of job does. */
const works: Readonly<Record<JobName, string>> = {
  render: 'Render previews',
  sweep: 'Clean up unused files',
  purge: 'Empty the trash',
  'release-bytes': 'Remove an unused file',
  'release-logo': 'Remove an old logo',
  'key-names': 'Complete names of an earlier version',
  expire: 'Remove expired sessions and grants',
  'retain-audit': 'Remove old audit events',
  'count-storage': 'Count storage use',
  'render-again': 'Bring stored files up to date',
  'fetch-profile-picture': 'Fetch a profile picture',
  tiles: 'Cut a large picture into tiles',
  transcode: 'Convert a video or sound for streaming',
  extract: 'Read the metadata of a file',
  'extract-stored': 'Read the metadata of stored files',
  encode: 'Index a picture for visual search',
  'fill-vectors': 'Find pictures missing from visual search',
  fingerprint: 'Compare a picture with others',
  'fill-fingerprints': 'Find pictures that were not compared yet',
  'rewrite-documents': 'Rebuild the search index',
  'rewrite-tags': 'Change a tag on posts and files',
  'rewrite-fields': 'Change the values or search words of a field',
  'run-batch': 'Change many files, posts or accounts at once',
  'publish-post': 'Publish a draft at its time',
  'trim-versions': 'Remove old versions of files',
  'write-sidecars': 'Write XMP sidecars beside files left in place',
  'export-account': 'Write the export of an account',
  'scan-root': 'Scan a folder left in place',
  'rescan-roots': 'Look for changes in folders left in place',
  'reopen-reviews': 'Reopen reviews of a changed post',
  'remind-reviews': 'Remind of reviews',
  announce: 'Find the people to notify of an event',
  'mail-links-of-name': 'Find the accounts for a mail',
  'mail-account-link': 'Mail a link to an account',
  'mail-account-notice': 'Mail a notice to an account',
  'mail-invitation': 'Mail an invitation',
  'mail-notification': 'Mail a notification',
  'send-push': 'Send a notification to a browser',
  'mail-digests': 'Find the digests that are due',
  'mail-digest': 'Mail a digest of notifications',
  'forget-notifications': 'Remove old notifications',
  deliver: 'Send changes to a peer',
  'verify-offers': 'Verify offers to pair',
  unpair: 'Tell a peer that the pairing has ended',
  'catch-up': 'Request missed changes from a peer',
  'fetch-renditions': 'Fetch previews from a peer',
  'fetch-subtitles': 'Fetch subtitles from a peer',
  'use-field-values': 'Take over field values from a peer',
  'keep-federation': 'End expired shares with peers',
  'notify-followers': 'Queue a post for its followers elsewhere',
  'deliver-activities': 'Send posts to followers elsewhere',
  'keep-activitypub': 'Look for posts that followers elsewhere miss',
};

/** What jobs count, other than files. */
const counted: Readonly<Record<string, (done: string, total: string) => string>> = {
  'rewrite-tags': (done, total) => `${done} of ${total} posts and files`,
  'rewrite-fields': (done, total) => `${done} of ${total} values`,
};
const countedFiles = (done: string, total: string) => `${done} of ${total} files`;

const worksByName: ReadonlyMap<string, string> = new Map(Object.entries(works));

/** Returns what a job does; the name itself for a job of another version. */
export function workOf(name: string): string {
  return worksByName.get(name) ?? name;
}

/** Describes the progress of a job: "12 of 40 files", "62 %, encoding". */
export function progressWords(name: string, { part, step, done, total }: JobProgress): string {
  if (done !== null && total !== null)
    return (counted[name] ?? countedFiles)(done.toLocaleString(locale()), total.toLocaleString(locale()));
  const percent = `${Math.floor(part * 100)} %`;
  return step === null ? percent : `${percent}, ${step}`;
}

interface StateChoice {
  readonly state: JobState | undefined;
  readonly label: string;
  /** The text for an empty list. */
  readonly empty: string;
}

export const stateChoices: readonly StateChoice[] = [
  { state: undefined, label: 'All', empty: 'No jobs.' },
  { state: 'failed', label: 'Failed', empty: 'No failed jobs.' },
  { state: 'running', label: 'Running', empty: 'No running jobs.' },
  { state: 'waiting', label: 'Waiting', empty: 'No waiting jobs.' },
];

/** Returns the state filter in an address. */
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

/** Returns the number of jobs in a state, over all names. */
export function sumOf(counts: readonly Counts[], state: JobState | undefined): number {
  const countOf = (jobs: Counts) =>
    state === undefined ? jobs.waiting + jobs.running + jobs.failed : jobs[state];
  return counts.reduce((sum, jobs) => sum + countOf(jobs), 0);
}
