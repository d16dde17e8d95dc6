import autocannon, { type Result } from 'autocannon';

export interface Load {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
}

export interface CountedLoad extends Load {
  /** Number of responses. */
  requests: number;
}

export interface LoadOptions {
  connections?: number;
  /** Paths to request in turn, instead of the address itself. */
  paths?: readonly string[];
}

/** Requests an address repeatedly, by default over 8 connections. Any response other than 200 ends the benchmark. */
export async function load(
  url: string,
  headers: Record<string, string>,
  seconds: number,
  { connections = 8, paths }: LoadOptions = {},
): Promise<CountedLoad> {
  const samples: number[] = [];
  const result = await new Promise<Result>((resolve, reject) => {
    const requests = paths?.map((path) => ({ path, headers }));
    const options = { url, headers, connections, duration: seconds, ...(requests && { requests }) };
    const run = autocannon(options, (error, outcome) => {
      if (error) reject(error);
      else resolve(outcome);
    });
    run.on('response', (_client, _status, _bytes, milliseconds) => samples.push(milliseconds));
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`);
  samples.sort((a, b) => a - b);
  const at = (share: number) => samples[Math.floor(samples.length * share)] ?? 0;
  return {
    requestsPerSecond: result.requests.average,
    p50: at(0.5),
    p95: at(0.95),
    requests: samples.length,
  };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
