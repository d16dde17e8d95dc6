import type pg from 'pg';
import type { Library } from './library.ts';

export interface Statement {
  text: string;
  values: unknown[];
}

function statementIn(query: unknown): Statement | null {
  if (typeof query !== 'object' || query === null) return null;
  const text = 'text' in query && typeof query.text === 'string' ? query.text : null;
  const values = 'values' in query && Array.isArray(query.values) ? query.values : [];
  return text === null ? null : { text, values };
}

/** Returns the result of `work`, and the statements that the server runs meanwhile. */
export async function watchStatements<T>(
  { database: { pool } }: Pick<Library, 'database'>,
  work: () => Promise<T>,
): Promise<[T, Statement[]]> {
  const connect = pool.connect.bind(pool);
  const seen: Statement[] = [];
  const watched = new Set<pg.PoolClient>();
  Object.assign(pool, {
    async connect() {
      const client: pg.PoolClient = await Reflect.apply(connect, pool, []);
      if (watched.has(client)) return client;
      watched.add(client);
      const { query } = client;
      Object.assign(client, {
        query(...given: unknown[]) {
          const statement = statementIn(given[0]);
          if (statement !== null) seen.push(statement);
          return Reflect.apply(query, client, given);
        },
      });
      return client;
    },
  });
  try {
    return [await work(), seen];
  } finally {
    Object.assign(pool, { connect });
    for (const client of watched) Reflect.deleteProperty(client, 'query');
  }
}

/** Returns the result of `work`, and the number of its statements. */
export async function countStatements<T>(
  library: Pick<Library, 'database'>,
  work: () => Promise<T>,
): Promise<[T, number]> {
  const [outcome, statements] = await watchStatements(library, work);
  return [outcome, statements.length];
}

/** Returns the first of the statements whose text matches. */
export function statementLike(statements: readonly Statement[], pattern: RegExp): Statement {
  const found = statements.find(({ text }) => pattern.test(text));
  if (found === undefined) throw new Error(`no statement matches ${pattern}`);
  return found;
}
