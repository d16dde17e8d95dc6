import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import type { Deps } from '../../core/deps.ts';
import type { Database } from '../../platform/database/pool.ts';

/** RESET-4: mails of one kind that an account or address gets in an hour. */
const MAILS_PER_HOUR = 3;

/** Returns the key of an address for counts and jobs, which does not show it. */
export function keyOfText({ secretKey }: Pick<Deps, 'secretKey'>, text: string): string {
  return createHmac('sha256', secretKey).update(`mail ${text}`).digest('base64url');
}

/** Counts a mail; returns false if there were too many within the hour, and it must not be sent. */
export async function mayMail(db: Database, key: string, most = MAILS_PER_HOUR): Promise<boolean> {
  const { rows } = await sql<{ sent: number }>`
    insert into mail_counts as c (key) values (${key})
    on conflict (key) do update set
      sent = case when c.since > now() - interval '1 hour' then least(c.sent + 1, 1000000) else 1 end,
      since = case when c.since > now() - interval '1 hour' then c.since else now() end
    returning sent`.execute(db);
  return (rows[0]?.sent ?? 0) <= most;
}
