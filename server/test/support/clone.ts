import pg from 'pg';
import { inject } from 'vitest';

/** A migrated database on the test server. */
export interface Clone {
  settings: pg.ClientConfig;
  /** The same in the form of `DATABASE_URL`. */
  url: string;
  drop(): Promise<void>;
}

let cloned = 0;

/** Returns these settings in the form of `DATABASE_URL`. */
export function urlOf({
  host = 'localhost',
  port = 5432,
  user = '',
  password,
  database = '',
}: pg.ClientConfig): string {
  const secret = typeof password === 'string' ? `:${encodeURIComponent(password)}` : '';
  const who = `${encodeURIComponent(user)}${secret}`;
  return `postgres://${who}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

/** Copies the template that was migrated before all tests (template.ts). */
export async function cloneTemplate(): Promise<Clone> {
  const server: pg.ClientConfig = JSON.parse(inject('server'));
  cloned += 1;
  const name = `vitrine_test_${process.pid}_${cloned}_${Math.random().toString(36).slice(2, 8)}`;
  const administer = async (statement: string) => {
    const client = new pg.Client({ ...server, database: 'postgres' });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  // Copying the files costs half as much as logging each page.
  await administer(`create database ${name} template ${inject('template')} strategy file_copy`);
  return {
    settings: { ...server, database: name },
    url: urlOf({ ...server, database: name }),
    drop: () => administer(`drop database if exists ${name} with (force)`),
  };
}
