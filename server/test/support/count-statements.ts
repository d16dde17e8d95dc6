import type { Library } from './library.ts';

/** What `work` comes to, and how many statements outside of transactions it takes: each has a connection of its own. */
export async function countStatements<T>(
  { database }: Library,
  work: () => Promise<T>,
): Promise<[T, number]> {
  const { pool } = database;
  const connect = pool.connect.bind(pool);
  let count = 0;
  const counted = async () => {
    count += 1;
    return connect();
  };
  Object.assign(pool, { connect: counted });
  try {
    return [await work(), count];
  } finally {
    Object.assign(pool, { connect });
  }
}
