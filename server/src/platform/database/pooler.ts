import type pg from 'pg';
import { type Sentence, sentence, WordedError } from '../language/sentence.ts';

const behindPooler = sentence(
  'a connection pooler answers there (PgBouncer?); set VITRINE_DATABASE_POOLING=transaction, and VITRINE_DATABASE_DIRECT_URL to PostgreSQL itself',
);

/** Returns the server process behind a client, and whether it is the one announced on connecting. */
async function askServer(client: pg.PoolClient): Promise<{ pid: number; announced: boolean }> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  // The driver keeps this number for cancelling; a pooler invents one.
  return { pid, announced: 'processID' in client && client.processID === pid };
}

/** Connects to PostgreSQL itself; throws an error of one line, `refusal`, when a pooler answers. */
async function connectDirectly(
  pool: pg.Pool,
  refusal: Sentence,
): Promise<{ client: pg.PoolClient; pid: number }> {
  const client = await pool.connect().catch((error: unknown) => {
    // PgBouncer's default response to session settings sent on connecting.
    const refused = error instanceof Error && /unsupported startup parameter/.test(error.message);
    throw refused ? new WordedError(refusal, { cause: error }) : error;
  });
  try {
    const { pid, announced } = await askServer(client);
    if (!announced) throw new WordedError(refusal);
    return { client, pid };
  } catch (error) {
    client.release();
    throw error;
  }
}

/**
 * Throws an error of one line when the pool connects to a pooler instead of PostgreSQL: prepared statements and
 * settings would silently end up in other sessions.
 */
export async function refusePooler(pool: pg.Pool): Promise<void> {
  const { client } = await connectDirectly(pool, behindPooler);
  client.release();
}

/** Throws an error of one line when `direct` leads to a pooler, or to another database than `pooler`. */
export async function refuseWrongDirect(direct: pg.Pool, pooler: pg.Pool): Promise<void> {
  const refusal = sentence('a connection pooler answers there; it must lead to PostgreSQL itself');
  const { client, pid } = await connectDirectly(direct, refusal);
  try {
    const seen = await pooler.query(
      'select from pg_stat_activity where pid = $1 and datname = current_database()',
      [pid],
    );
    if (seen.rowCount === 0)
      throw new WordedError(sentence('it leads to another database than DATABASE_URL does'));
  } finally {
    client.release();
  }
}
