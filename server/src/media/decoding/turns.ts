import { type DecoderKind, decoderKinds } from './kinds.ts';

/** Kinds of decoder that jobs use; requests use the others. */
const kindsOfJobs = [
  'picture',
  'drawing',
  'document',
  'video',
  'transcode',
  'metadata',
  'tiles',
] as const satisfies DecoderKind[];

/** The flags of a job that decodes a file of this owner. Under `turnLimit` they share decoders out among owners. */
export function turnFlags(kind: (typeof kindsOfJobs)[number], owner: string): string[] {
  return [`decode:${kind}`, `decode:${kind}:${owner}`];
}

/** How many jobs with this flag may run at once: one owner never holds the spare decoders of a kind. */
export function turnLimit(flag: string): number | undefined {
  const [prefix, name, owner] = flag.split(':');
  const kind = kindsOfJobs.find((known) => known === name);
  if (prefix !== 'decode' || kind === undefined) return undefined;
  const { workers, spare } = decoderKinds[kind];
  return owner === undefined ? workers + spare : workers;
}

/** How many jobs may decode at once. A worker needs room for more, or these would hold up all others. */
export const decodingJobs = kindsOfJobs
  .map((kind) => decoderKinds[kind].workers + decoderKinds[kind].spare)
  .reduce((sum, count) => sum + count);
