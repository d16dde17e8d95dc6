import pg from 'pg';

/**
 * The database cannot be reached, or the connection broke before it answered; in a transaction whose commit was under
 * way the outcome is unknown. Requests answer it with 503 and jobs run again.
 */
export class DatabaseUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`the database is not available: ${reason}`, { cause });
  }
}

/** What the driver says of a connection that ended or timed out; these errors carry no code. */
const driverTexts =
  /^Connection terminated|^Client has encountered a connection error|^Client was closed|timeout exceeded when trying to connect|^timeout expired$/;

function isConnectionLost(error: Error): boolean {
  // After a FATAL error the server closes the connection: it shuts down, recovers, or was told to end this session.
  if (error instanceof pg.DatabaseError) {
    return ['FATAL', 'PANIC'].includes(error.severity ?? '') || /^(08|57P0)/.test(error.code ?? '');
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /^(E(?!RR_)|ERR_STREAM_)/.test(code) || driverTexts.test(error.message);
}

/** An error of the driver as DatabaseUnavailable when it means that the connection is lost; any other as it is. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseUnavailable) return error;
  return isConnectionLost(error) ? new DatabaseUnavailable(error.message, error) : error;
}
