import type { JobName } from '@vitrine/contract/jobs';
import type { Language } from '@vitrine/contract/languages';
import type { Database } from '../platform/database/pool.ts';
import { addJobs, type JobOptions } from '../platform/jobs/enqueue.ts';
import type { Task } from '../platform/jobs/worker.ts';
import type { DomainEvent } from './domain-event.ts';

/** The payload of every kind of job, in JSON. `jobs.ts` has exactly one handler for each. */
export interface Jobs {
  /**
   * Renders the ladder of these bytes for every asset that waits for it, in the turn of this owner; `again`: even if
   * rendered.
   * `anew`: under other names than before.
   */
  render: { hash: string; owner?: string; again?: true; anew?: true };
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
  /** Removes versions beyond the number that assets keep. */
  'trim-versions': Record<string, never>;
  /** Scans a root, all of it or the folders in which something changed. */
  'scan-root': { root: string; whole: boolean };
  /** Enqueues the scan of every root. */
  'rescan-roots': Record<string, never>;
  /** Removes the bytes of a logo that left the history. */
  'release-logo': { hash: string };
  /** Gives accounts and tags of earlier versions the key by which they are found. */
  'key-names': Record<string, never>;
  /** Removes expired sessions, grants and revokes. */
  expire: Record<string, never>;
  /** Computes the visual vector of these bytes' preview. */
  encode: { hash: string };
  /** Compares the picture of these bytes with all others, to find similar ones. */
  fingerprint: { hash: string };
  /** Enqueues pictures that were not compared yet, in the order of their hashes: those after this one. */
  'fill-fingerprints': { after?: string };
  /** Enqueues pictures without a visual vector. */
  'fill-vectors': Record<string, never>;
  /** Removes audit events past their retention. */
  'retain-audit': Record<string, never>;
  /** Finds the recipients of a domain event and notifies them. */
  announce: DomainEvent;
  /** Mails one notification to its recipient. */
  'mail-notification': { id: string };
  /** Sends one notification to one browser. */
  'send-push': { notification: string; subscription: string };
  /** Finds the accounts whose digest is due. */
  'mail-digests': Record<string, never>;
  /** Mails an account its notifications from before this time. */
  'mail-digest': { user: number; before: string };
  /** Mails an invitation. */
  'mail-invitation': { id: string };
  /** Finds the accounts of a name that somebody entered, which is sealed, and mails each a link. */
  'mail-links-of-name': {
    purpose: 'password_reset' | 'verify_email';
    sealed: string;
    /** That of the request, for accounts that prefer none. */
    language?: Language;
  };
  /** Mails a link that sets a password or confirms an e-mail. */
  'mail-account-link': { id: string; language?: Language };
  /** Tells the owner of an address what was done with it; another one may be stored when the job runs. */
  'mail-account-notice': {
    user: number;
    to: string;
    notice: 'email-changes' | 'known-address' | 'account-deleted' | 'account-archived';
    id: string;
    /** The name of an account that no longer exists when the job runs. */
    username?: string;
    /** The language of such an account. */
    language?: Language;
  };
  /** Removes notifications past their retention. */
  'forget-notifications': Record<string, never>;
  /** Counts what the library holds. */
  'count-storage': Record<string, never>;
  /** Fills wired fields from the metadata of these bytes: of one asset, or of every asset that has them.
   * `renews`: replaces what was read from an earlier version of the asset. */
  extract: { hash: string; asset: string | null; renews?: true };
  /** Runs the next step of a pass over the stored files. */
  'extract-stored': { run: string };
  /** Sends the pending changes of a peer in order. */
  deliver: { peer: string };
  /** Looks up the installs that offer to pair. */
  'verify-offers': Record<string, never>;
  /** Tells an install that the pairing has ended. */
  unpair: {
    url: string;
    since?: string;
    attempts?: number;
    /** The shares that ended with the pairing, and who granted them. */
    unshares?: { grantedBy: number | null; details: Record<string, unknown> }[];
  };
  /** Requests missed changes from a peer. */
  'catch-up': { peer: string };
  /** Fetches the renditions of bytes that a peer shares. */
  'fetch-renditions': { hash: string };
  /** Fetches the picture that a provider claims for an account. */
  'fetch-profile-picture': { user: number; url: string };
  /** Fetches the subtitles that the origin of a mirrored asset has. */
  'fetch-subtitles': { asset: string };
  /** Uses or withdraws the values that a peer sent for a field. */
  'use-field-values': { peer: string; code: string };
  /** Ends shares that have expired, and keeps the cache of fetched originals within its limit. */
  'keep-federation': Record<string, never>;
  /** Sends the change of a post to the followers of its author. */
  'notify-followers': { post: string };
  /** Sends the pending activities of an ActivityPub inbox in order. */
  'deliver-activities': { inbox: string };
  /** Announces posts whose public state has changed, and wakes deliveries that are due. */
  'keep-activitypub': Record<string, never>;
  /** Rewrites every search document in the library's language. */
  'rewrite-documents': Record<string, never>;
  /** Finishes changes of tags on many posts and assets, in order. */
  'rewrite-tags': Record<string, never>;
  /** Finishes changes of fields that concern many values, in order. */
  'rewrite-fields': Record<string, never>;
  /** Changes the objects of a batch in steps. */
  'run-batch': { batch: string };
  /** Moves the members of a post back to `review` after its content has changed. */
  'reopen-reviews': { post: string; review: string };
  /** Reminds of reviews that are due in a day, or were due. */
  'remind-reviews': Record<string, never>;
  /** Writes the sidecars of edited assets below a root (ROOT-15). */
  'write-sidecars': { root: string };
  /** Writes the export of an account (EXPORT-17). */
  'export-account': { export: string };
  /** Publishes a draft if it is scheduled and due. */
  'publish-post': { post: string };
}
export type JobHandler<N extends JobName> = Task<Jobs[N]>;
export type JobHandlers = { readonly [N in JobName]: JobHandler<N> };

/** Adds a job in the caller's transaction, so that it exists if and only if that commits. */
export async function enqueue<N extends JobName>(
  db: Database,
  name: N,
  payload: Jobs[N],
  options: JobOptions,
): Promise<void> {
  await addJobs(db, name, [{ payload, ...options }]);
}

/** Adds any number of jobs of one kind in one statement of the caller's transaction. */
export async function enqueueAll<N extends JobName>(
  db: Database,
  name: N,
  jobs: readonly ({ payload: Jobs[N] } & JobOptions)[],
): Promise<void> {
  await addJobs(db, name, jobs);
}
