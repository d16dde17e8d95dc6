import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Ref, Timestamp } from './values.ts';

/** The names of all kinds of jobs. The queue may also hold jobs of another version. */
export const jobNames = [
  'render',
  'tiles',
  'render-again',
  'transcode',
  'sweep',
  'purge',
  'release-bytes',
  'release-logo',
  'key-names',
  'expire',
  'encode',
  'fill-vectors',
  'retain-audit',
  'announce',
  'mail-notification',
  'send-push',
  'mail-digests',
  'mail-digest',
  'mail-invitation',
  'mail-links-of-name',
  'mail-account-link',
  'mail-account-notice',
  'forget-notifications',
  'count-storage',
  'extract',
  'extract-stored',
  'deliver',
  'verify-offers',
  'unpair',
  'catch-up',
  'fetch-renditions',
  'fetch-profile-picture',
  'fetch-subtitles',
  'use-field-values',
  'keep-federation',
  'notify-followers',
  'deliver-activities',
  'keep-activitypub',
  'rewrite-documents',
  'rewrite-tags',
  'rewrite-fields',
  'run-batch',
  'publish-post',
  'reopen-reviews',
  'remind-reviews',
  'fingerprint',
  'fill-fingerprints',
  'trim-versions',
  'scan-root',
  'rescan-roots',
  'export-account',
  'write-sidecars',
] as const;
export type JobName = (typeof jobNames)[number];

/** `waiting`: not yet due, or due for another attempt. `failed`: all attempts are used. */
export const JobState = Type.Enum(['waiting', 'running', 'failed']);
export type JobState = Static<typeof JobState>;

/** The progress of a job that works on many files, or on one file for a long time. */
export const JobProgress = closed({
  /** The fraction that is done, from 0 to 1. */
  part: Type.Number({ minimum: 0, maximum: 1 }),
  /** The current step of a transcode; null for other jobs. */
  step: nullable(Type.Enum(['preparing', 'encoding', 'storing'])),
  /** Files done and files in total, for jobs that work on many; posts and assets for `rewrite-tags`, values for `rewrite-fields`. */
  done: nullable(Count),
  total: nullable(Count),
});
export type JobProgress = Static<typeof JobProgress>;

/** Background work. Finished jobs are deleted. */
export const Job = closed({
  id: Ref,
  name: Type.String(),
  state: JobState,
  attempts: Count,
  max_attempts: Count,
  /** Why the last attempt failed, in one plain sentence. */
  reason: nullable(Type.String()),
  /** The original error text, which can be long. */
  last_error: nullable(Type.String()),
  /** When the job or its next attempt is due. */
  run_at: Timestamp,
  created_at: Timestamp,
  /** When the current attempt started. */
  running_since: nullable(Timestamp),
  /** Null for jobs without progress, and before the job starts. */
  progress: nullable(JobProgress),
  /** The file that the job works on. */
  file: nullable(closed({ mime: Type.String(), size_bytes: Count })),
});
export type Job = Static<typeof Job>;

const AnyJobName = Type.String({ minLength: 1, maxLength: 100 });

export const listJobs = operation({
  id: 'listJobs',
  method: 'GET',
  path: '/admin/system/jobs',
  tag: 'Jobs',
  summary: 'List jobs',
  description: 'Lists unfinished jobs, newest first, without their payloads.',
  door: { holds: 'jobs.read' },
  scope: 'read',
  query: closed({ ...pageQuery, state: Type.Optional(JobState), name: Type.Optional(AnyJobName) }),
  responses: { 200: page(Job) },
  errors: [],
});

export const countJobs = operation({
  id: 'countJobs',
  method: 'GET',
  path: '/admin/system/jobs/counts',
  tag: 'Jobs',
  summary: 'Count jobs',
  description: 'Counts jobs by name and state, up to 100,000.',
  door: { holds: 'jobs.read' },
  scope: 'read',
  responses: {
    200: closed({
      items: Type.Array(closed({ name: Type.String(), waiting: Count, running: Count, failed: Count })),
      /** True if there are more jobs than were counted. */
      capped: Type.Boolean(),
    }),
  },
  errors: [],
});

const jobParams = closed({ id: Ref });

export const retryJob = operation({
  id: 'retryJob',
  method: 'POST',
  path: '/admin/system/jobs/{id}/retry',
  tag: 'Jobs',
  summary: 'Retry a job',
  description: 'Runs a job again now with all its attempts. Returns 409 for a running job.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params: jobParams,
  responses: { 200: Job },
  errors: ['job-running', 'not-found'],
});

export const retryFailedJobs = operation({
  id: 'retryFailedJobs',
  method: 'POST',
  path: '/admin/system/jobs/retry-failed',
  tag: 'Jobs',
  summary: 'Retry failed jobs',
  description: 'Runs up to 10,000 failed jobs again, all or those of one name.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { name: 'render' },
  body: closed({ name: Type.Optional(nullable(AnyJobName)) }),
  bodyOptional: true,
  responses: { 200: closed({ retried: Count }) },
  errors: [],
});

export const deleteJob = operation({
  id: 'deleteJob',
  method: 'DELETE',
  path: '/admin/system/jobs/{id}',
  tag: 'Jobs',
  summary: 'Discard a failed job',
  description: 'Returns 409 for a job that has not failed.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params: jobParams,
  responses: { 204: noContent },
  errors: ['job-not-failed', 'not-found'],
});
