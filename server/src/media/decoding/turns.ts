import { type DecoderKind, decoderKinds } from './kinds.ts';

/** Kinds of decoder that jobs use; HTTP requests use the others. */
const kindsOfJobs = [
  'picture',
  'drawing',
  'document',
  'video',
  'transcode',
  'metadata',
  'tiles',
] as const satisfies DecoderKind[];

type KindOfJob = (typeof kindsOfJobs)[number];

const flagOf = (kind: KindOfJob) => `decode:${kind}`;

/**
 * Returns the flags of a job that decodes a file of this owner. With `forbiddenTurns` they share decoders fairly among
 * owners.
 */
export function turnFlags(kind: KindOfJob, owner: string): string[] {
  return [flagOf(kind), `${flagOf(kind)}:${owner}`];
}

/**
 * Returns how many jobs with this flag may run concurrently, so that one owner never holds the spare decoders of a
 * kind.
 */
function turnLimit(flag: string): number {
  const [prefix, name, owner] = flag.split(':');
  const kind = kindsOfJobs.find((known) => known === name);
  if (prefix !== 'decode' || kind === undefined) return Infinity;
  const { workers, spare } = decoderKinds[kind];
  return owner === undefined ? workers + spare : workers;
}

/**
 * Returns the flags of decoding jobs that must not start while these run: those at their limit, and tiles while
 * pictures are rendered, because an import would otherwise take half as long again. MEDIA-8.
 */
export function forbiddenTurns(running: ReadonlyMap<string, number>): string[] {
  const full = [...running].flatMap(([flag, count]) => (count >= turnLimit(flag) ? [flag] : []));
  return running.has(flagOf('picture')) ? [...full, flagOf('tiles')] : full;
}

/**
 * Maximum number of concurrent decoding jobs. A worker must have room for more jobs, or decoding would block all
 * others.
 */
export const decodingJobs = kindsOfJobs
  .map((kind) => decoderKinds[kind].workers + decoderKinds[kind].spare)
  .reduce((sum, count) => sum + count);
