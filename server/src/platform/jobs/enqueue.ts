import { sql } from 'kysely';
import type { Database } from '../database/pool.ts';

/** An event that may notify accounts. `actor` caused it. */
export type DomainEvent =
  /** `answers`: the comment replied to, which may itself be a reply. */
  | { what: 'comment'; comment: string; answers: string | null }
  | { what: 'comment_edited'; comment: string }
  | { what: 'post'; post: string; actor: number }
  | { what: 'like'; post: string; actor: number }
  | { what: 'follow'; actor: number; followed: number }
  | { what: 'request'; request: string; actor: number }
  | { what: 'decision'; request: string; actor: number };

/** Every kind of job with its payload; `jobs.ts` has exactly one handler for each. */
export interface Jobs {
  /**
   * Renders the ladder of these bytes for every asset that waits for it, in the turn of this owner; `again`: even if
   * rendered.
   */
  render: { hash: string; owner?: string; again?: true };
  /** Cuts the picture of these bytes into tiles, in the turn of this owner. */
  tiles: { hash: string; owner: string };
  /** Enqueues the next stored files whose previews are of an earlier ladder. */
  'render-again': Record<string, never>;
  /** Makes the renditions of these bytes that take long. */
  transcode: { hash: string; owner: string };
  /** Removes bytes that nothing refers to and uploads that were never finished. */
  sweep: Record<string, never>;
  /** Purges what has been in the trash longer than the retention. */
  purge: Record<string, never>;
  /** Removes these bytes if no asset refers to them. */
  'release-bytes': { hash: string };
  /** Removes the bytes of a logo that left the history. */
  'release-logo': { hash: string };
  /** Removes expired sessions, grants and revokes. */
  expire: Record<string, never>;
  /** Computes the visual vector of these bytes' preview. */
  encode: { hash: string };
  /** Enqueues pictures without a visual vector. */
  'fill-vectors': Record<string, never>;
  /** Removes audit events past their retention. */
  'retain-audit': Record<string, never>;
  /** Finds the recipients of a domain event and notifies them. */
  announce: DomainEvent;
  /** Mails one notification to its recipient. */
  'mail-notification': { id: string };
  /** Finds the accounts whose digest is due. */
  'mail-digests': Record<string, never>;
  /** Mails an account its notifications from before this time. */
  'mail-digest': { user: number; before: string };
  /** Removes notifications past their retention. */
  'forget-notifications': Record<string, never>;
  /** Counts what the library holds. */
  'count-storage': Record<string, never>;
  /** Fills wired fields from the metadata of these bytes: of one asset, or of every asset that has them. */
  extract: { hash: string; asset: string | null };
  /** Runs the next step of a pass over the stored files. */
  'extract-stored': { run: string };
  /** Sends a peer what waits for it, in order. */
  deliver: { peer: string };
  /** Tells an install that the pairing has ended. */
  unpair: { url: string; since?: string; attempts?: number };
  /** Fetches the renditions of bytes that a peer shares. */
  'fetch-renditions': { hash: string };
  /** Uses or withdraws the values that a peer sent for a field. */
  'use-field-values': { peer: string; code: string };
  /** Ends shares that have expired, and keeps the cache of fetched originals within its limit. */
  'keep-federation': Record<string, never>;
  /** Rewrites every search document in the library's language. */
  'rewrite-documents': Record<string, never>;
}
export type JobName = keyof Jobs;

export interface JobOptions {
  /** Pending jobs with the same key are one job. */
  key: string;
  /** The earliest start; default: as soon as possible. */
  runAt?: string;
  /** Jobs with smaller numbers start first; default 0. */
  priority?: number;
  /** Limits how many of these jobs run concurrently (`limit-flags.ts`). */
  flags?: readonly string[];
}

/** Attempts before a job fails for good; a failed render marks its asset as failed. */
const MAX_ATTEMPTS = 5;

/** Attempts for mail, over some ten hours, to survive greylisting and an outage of an evening. */
export const MAIL_ATTEMPTS = 11;

/** Adds a job in the caller's transaction, so that it exists if and only if that commits. */
export async function enqueue<N extends JobName>(
  db: Database,
  name: N,
  payload: Jobs[N],
  options: JobOptions,
): Promise<void> {
  await enqueueAll(db, name, [{ payload, ...options }]);
}

/** Adds any number of jobs of one kind in one statement. */
export async function enqueueAll<N extends JobName>(
  db: Database,
  name: N,
  jobs: readonly ({ payload: Jobs[N] } & JobOptions)[],
): Promise<void> {
  if (jobs.length === 0) return;
  const payloads = jobs.map(({ payload }) => JSON.stringify(payload));
  const times = jobs.map(({ runAt }) => runAt ?? null);
  const priorities = jobs.map(({ priority }) => priority ?? 0);
  const flags = jobs.map((job) => (job.flags === undefined ? null : JSON.stringify(job.flags)));
  await sql`select graphile_worker.add_job(${name}, payload => x.payload, job_key => x.key, run_at => x.run_at,
      max_attempts => ${MAX_ATTEMPTS}, priority => x.priority,
      flags => case when x.flags is not null then array(select jsonb_array_elements_text(x.flags)) end)
    from unnest(${payloads}::json[], ${jobs.map(({ key }) => key)}::text[], ${times}::timestamptz[],
      ${priorities}::int[], ${flags}::jsonb[])
      x (payload, key, run_at, priority, flags)`.execute(db);
}
