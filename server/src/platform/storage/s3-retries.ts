import type { S3ClientConfig } from '@aws-sdk/client-s3';

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;

interface Attempt {
  getRetryCount(): number;
  getRetryDelay(): number;
}

/** Exponential backoff with jitter, so that processes do not retry at the same time. */
function attempt(count: number): Attempt {
  const delay = count === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (count - 1) * (0.5 + Math.random());
  return { getRetryCount: () => count, getRetryDelay: () => delay };
}

/**
 * Repeats requests that failed for reasons of the service or of the network. The client's own strategy stops repeating
 * anything for a long time after an outage.
 */
export const retryStrategy = {
  acquireInitialRetryToken: async () => attempt(0),
  async refreshRetryTokenForRetry(last: Attempt, { errorType }: { errorType: string }) {
    const count = last.getRetryCount() + 1;
    if (errorType === 'CLIENT_ERROR' || count >= ATTEMPTS) throw new Error('not repeated');
    return attempt(count);
  },
  recordSuccess() {},
} satisfies S3ClientConfig['retryStrategy'];
