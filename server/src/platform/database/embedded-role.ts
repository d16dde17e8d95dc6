import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { sentence, WordedError } from '../language/sentence.ts';
import type { SystemUser } from './database-user.ts';

/** The superuser that initdb creates. It has no password and no line in pg_hba.conf, so nobody connects as it. */
export const BOOTSTRAP_ROLE = 'vitrine_admin';

/** The role that Vitrine connects as. It owns the database and its objects and is no superuser (RUN-43). */
export const ROLE = 'vitrine';

/** Spawn options for PostgreSQL binaries: its user, and none of the caller's locale, directory or client settings. */
export function runAs(user: SystemUser | null) {
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };
  return { cwd: '/', env, ...(user === null ? {} : { uid: user.uid, gid: user.gid }) };
}

function createRole(verifier: string): string {
  return `create role ${ROLE} login createdb password ${pg.escapeLiteral(verifier)}`;
}

/**
 * Creates the role that Vitrine connects as, in a new cluster that has no server yet. As initdb, it needs a user with an
 * account. Throws an Error of one line when that fails.
 */
export async function createOwnRole(
  binDir: string,
  cluster: string,
  creator: SystemUser | null,
  verifier: string,
): Promise<void> {
  const settings = ['-c', 'exit_on_error=on', '-c', 'log_min_messages=error'];
  const child = spawn(join(binDir, 'postgres'), ['--single', '-D', cluster, ...settings, 'postgres'], {
    ...runAs(creator),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null | Error>((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  // A server that ends early does not read its input; its exit code tells.
  child.stdin.on('error', () => {});
  child.stdin.end(`${createRole(verifier)}\n`);
  const [output, result] = await Promise.all([text(child.stderr).catch(() => ''), ended]);
  if (result === 0) return;
  const [line = ''] = output.trim().split('\n');
  const reason = result instanceof Error ? result.message : line;
  throw new WordedError(
    sentence('the role {role} of PostgreSQL could not be created: {reason}', { role: ROLE, reason }),
  );
}

/**
 * Gives the new role every object of the former one, whose oid is 10: REASSIGN OWNED refuses the bootstrap role. System
 * objects and the members of extensions stay; sequences of columns, array types and types of rows follow their tables.
 */
const giveObjects = `do $$
declare
  object record;
begin
  for object in
    select identified.type, identified.identity from (
      select 'pg_namespace'::regclass as class, oid, oid as schema, nspowner as owner from pg_namespace
      union all
      select 'pg_class'::regclass, oid, relnamespace, relowner from pg_class c
        where relkind in ('r', 'p', 'v', 'm', 'f') or (relkind = 'S' and not exists (
          select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
            and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')))
      union all
      select 'pg_proc'::regclass, oid, pronamespace, proowner from pg_proc
      union all
      select 'pg_type'::regclass, t.oid, typnamespace, typowner from pg_type t
        where typtype in ('d', 'e', 'r')
          or exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c')
      union all
      select 'pg_statistic_ext'::regclass, oid, stxnamespace, stxowner from pg_statistic_ext
    ) owned
    join pg_namespace n on n.oid = owned.schema
    cross join pg_identify_object(owned.class, owned.oid, 0) identified
    where owned.owner = 10 and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and not exists (select from pg_depend e
        where e.classid = owned.class and e.objid = owned.oid and e.deptype = 'e')
  loop
    execute format('alter %s %s owner to ${ROLE}',
      case object.type when 'statistics object' then 'statistics' else object.type end, object.identity);
  end loop;
end
$$`;

/** No session can rename its own role. */
const RENAMING = 'vitrine_renaming';

/**
 * Replaces the superuser `vitrine` of an older cluster, which this client is, by an ordinary role of that name, which
 * owns the database and its objects. PostgreSQL cannot demote the bootstrap role, so that one gets another name and
 * loses its password. One transaction, so that a kill leaves all or nothing.
 */
export async function demoteOwnRole(
  client: pg.ClientBase,
  database: string,
  verifier: string,
): Promise<void> {
  await client.query('begin');
  try {
    for (const statement of [
      `create role ${RENAMING} superuser`,
      `set local session authorization ${RENAMING}`,
      `alter role ${ROLE} rename to ${BOOTSTRAP_ROLE}`,
      'reset session authorization',
      `drop role ${RENAMING}`,
      `alter role ${BOOTSTRAP_ROLE} password null`,
      createRole(verifier),
      `alter database ${pg.escapeIdentifier(database)} owner to ${ROLE}`,
      giveObjects,
      'commit',
    ])
      await client.query(statement);
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
