import { sentence } from '../../platform/language/sentence.ts';
import { type SettingSource, wholeNumber } from './setting-source.ts';

/** How the processes of the library share its work, and how they stop. */
export interface ProcessSettings {
  /** Number of processes that serve; with more than one, another process runs the jobs. */
  processes: number;
  /** Where `vitrine worker` serves its health and metrics; null: nowhere. */
  workerPort: number | null;
  /** The kinds of jobs that this process runs (RUN-21); null: all. */
  jobs: readonly string[] | null;
  /** How long a stopping process keeps serving while it reports not ready, in seconds. */
  drainSeconds: number;
  /** How long requests and jobs in progress may take to finish after that, in seconds. */
  stopSeconds: number;
}

export const processSettingNames = [
  'VITRINE_DRAIN_SECONDS',
  'VITRINE_JOBS',
  'VITRINE_PROCESSES',
  'VITRINE_STOP_SECONDS',
  'VITRINE_WORKER_PORT',
] as const;
type Source = SettingSource<(typeof processSettingNames)[number]>;

/** Returns the kinds of jobs in a list; null for `all`. Which kinds exist is checked when the jobs start. */
function kindsOfJobs({ value, refusal }: Source): string[] | null {
  const text = value('VITRINE_JOBS') ?? 'all';
  if (text === 'all') return null;
  if (text === 'none') return [];
  const kinds = text.split(',').map((kind) => kind.trim());
  if (kinds.every((kind) => /^[a-z][a-z-]*$/.test(kind))) return kinds;
  throw refusal(
    sentence('VITRINE_JOBS must be all, none, or kinds of jobs separated by commas, not {given}', {
      given: JSON.stringify(text),
    }),
  );
}

/** Reads the settings of processes. */
export function readProcessSettings(source: Source): ProcessSettings {
  const hasPort = source.value('VITRINE_WORKER_PORT') !== null;
  return {
    processes: wholeNumber(source, 'VITRINE_PROCESSES', 1, 1, 64),
    workerPort: hasPort ? wholeNumber(source, 'VITRINE_WORKER_PORT', 0, 0, 65_535) : null,
    jobs: kindsOfJobs(source),
    drainSeconds: wholeNumber(source, 'VITRINE_DRAIN_SECONDS', 0, 0, 600),
    stopSeconds: wholeNumber(source, 'VITRINE_STOP_SECONDS', 8, 1, 3600),
  };
}
