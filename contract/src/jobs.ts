import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Ref, Timestamp } from './values.ts';

/** `waiting` until it is due or before another try; `failed` when it was tried as often as it may be. */
export const JobState = Type.Enum(['waiting', 'running', 'failed']);
export type JobState = Static<typeof JobState>;

/** How far a job is that works on many files, or on one for long. */
export const JobProgress = closed({
  /** The part that is done. */
  part: Type.Number({ minimum: 0, maximum: 1 }),
  /** What a transcode does now; null for other jobs. */
  step: nullable(Type.Enum(['preparing', 'encoding', 'storing'])),
  /** Files that are done and all files, for jobs that work on many. */
  done: nullable(Count),
  total: nullable(Count),
});
export type JobProgress = Static<typeof JobProgress>;

/** Work that is not done while somebody waits. Work that is done leaves no trace here. */
export const Job = closed({
  id: Ref,
  name: Type.String(),
  state: JobState,
  attempts: Count,
  max_attempts: Count,
  /** Why the last attempt failed, in one plain sentence. */
  reason: nullable(Type.String()),
  /** The same as the error said it, which can be long. */
  last_error: nullable(Type.String()),
  /** When it is due: the next attempt of a job that waits. */
  run_at: Timestamp,
  created_at: Timestamp,
  /** When the attempt began that is under way. */
  running_since: nullable(Timestamp),
  /** Null for jobs that are done in one go, and for those that have not begun. */
  progress: nullable(JobProgress),
  /** The file it works on. */
  file: nullable(closed({ mime: Type.String(), size_bytes: Count })),
});
export type Job = Static<typeof Job>;

const JobName = Type.String({ minLength: 1, maxLength: 100 });

export const listJobs = operation({
  id: 'listJobs',
  method: 'GET',
  path: '/admin/system/jobs',
  tag: 'Jobs',
  summary: 'List jobs',
  description: 'Lists jobs that are not done, newest first. Payloads are not shown.',
  door: { holds: 'jobs.read' },
  scope: 'read',
  query: closed({ ...pageQuery, state: Type.Optional(JobState), name: Type.Optional(JobName) }),
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
      /** Whether there are more jobs than were counted. */
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
  description: 'Runs a job again now with all its attempts. A running job is 409.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params: jobParams,
  responses: { 200: Job },
  errors: [404, 409],
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
  body: closed({ name: Type.Optional(nullable(JobName)) }),
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
  description: 'A job that has not failed is 409.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params: jobParams,
  responses: { 204: noContent },
  errors: [404, 409],
});
