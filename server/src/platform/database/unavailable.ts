import pg from 'pg';
import { sentenceOfError } from '../faults/worded-errors.ts';
import { type Sentence, sentence, WordedError } from '../language/sentence.ts';

/**
 * The database cannot be reached, or the connection was lost before it responded; the outcome of a commit in progress
 * is unknown. Requests respond with 503 and jobs are retried.
 */
export class DatabaseUnavailable extends WordedError {
  constructor(reason: string | Sentence, cause?: unknown) {
    super(sentence('the database is not available: {reason}', { reason }), { cause });
  }
}

/** The driver's messages for a connection that ended or timed out; these errors carry no code. */
const driverTexts =
  /^Connection terminated|^Client has encountered a connection error|^Client was closed|timeout exceeded when trying to connect|^timeout expired$/;

function isConnectionLost(error: Error): boolean {
  // After a FATAL error the server closes the connection: it is shutting down, recovering, or ending this session.
  if (error instanceof pg.DatabaseError) {
    return ['FATAL', 'PANIC'].includes(error.severity ?? '') || /^(08|57P0)/.test(error.code ?? '');
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /^(E(?!RR_)|ERR_STREAM_)/.test(code) || driverTexts.test(error.message);
}

/** Returns whether a statement failed because another row has the same unique value. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}

/** Returns a driver error as DatabaseUnavailable if it means a lost connection, otherwise unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseUnavailable) return error;
  return isConnectionLost(error) ? new DatabaseUnavailable(sentenceOfError(error), error) : error;
}
