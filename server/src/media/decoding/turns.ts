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

/**
 * Returns the flags of a job that decodes a file of this owner. With `turnLimit` they share decoders fairly among
 * owners.
 */
export function turnFlags(kind: (typeof kindsOfJobs)[number], owner: string): string[] {
  return [`decode:${kind}`, `decode:${kind}:${owner}`];
}

/**
 * Returns how many jobs with this flag may run concurrently, so that one owner never holds the spare decoders of a
 * kind.
 */
export function turnLimit(flag: string): number | undefined {
  const [prefix, name, owner] = flag.split(':');
  const kind = kindsOfJobs.find((known) => known === name);
  if (prefix !== 'decode' || kind === undefined) return undefined;
  const { workers, spare } = decoderKinds[kind];
  return owner === undefined ? workers + spare : workers;
}

/**
 * Maximum number of concurrent decoding jobs. A worker must have room for more jobs, or decoding would block all
 * others.
 */
export const decodingJobs = kindsOfJobs
  .map((kind) => decoderKinds[kind].workers + decoderKinds[kind].spare)
  .reduce((sum, count) => sum + count);
