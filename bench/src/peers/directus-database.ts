import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/**
 * Prepares the copied tables for Directus, which ignores tables whose primary key has several columns and follows only
 * foreign keys. Its own triggers would slow nothing that is measured, but belong to Vitrine.
 */
export async function adaptTables(client: pg.Client): Promise<void> {
  for (const [table, first, second] of [
    ['post_members', 'post_id', 'asset_id'],
    ['asset_tags', 'asset_id', 'value'],
  ] as const) {
    await client.query(`alter table ${table} drop constraint ${table}_pkey`);
    await client.query(`alter table ${table} add column id bigint generated always as identity primary key`);
    await client.query(`create unique index on ${table} (${first}, ${second})`);
  }
  await client.query('alter table posts add foreign key (author_user_ref) references users (ref)');
  await client.query('alter table assets add foreign key (owner_user_ref) references users (ref)');
  await client.query('alter table comments add foreign key (author_user_ref) references users (ref)');
  const { rows } = await client.query<{ table: string; trigger: string }>(
    `select tgrelid::regclass::text as table, quote_ident(tgname) as trigger from pg_trigger where not tgisinternal`,
  );
  for (const { table, trigger } of rows) await client.query(`drop trigger ${trigger} on ${table}`);
  await client.query('vacuum analyze');
}

/** The lists of a row: what Directus calls one-to-many. */
const lists = [
  { many: 'post_members', by: 'post_id', one: 'posts', as: 'members' },
  { many: 'comments', by: 'post_id', one: 'posts', as: 'comments' },
  { many: 'asset_tags', by: 'asset_id', one: 'assets', as: 'tags' },
] as const;

/** What a member may read, entirely: Directus's free licence ignores rules for rows. */
const readable = [
  'posts',
  'assets',
  'comments',
  'post_members',
  'asset_tags',
  'files',
  'users',
  'directus_files',
];

/** Declares the lists, and creates an account with this token that may read all of them and upload files. */
export async function declareModel(client: pg.Client, token: string): Promise<void> {
  const ours = readable.filter((name) => !name.startsWith('directus_'));
  await client.query('insert into directus_collections (collection) select unnest($1::text[])', [ours]);
  for (const { many, by, one, as } of lists) {
    await client.query(
      `insert into directus_fields (collection, field, special, interface) values ($1, $2, 'o2m', 'list-o2m')`,
      [one, as],
    );
    await client.query(
      `insert into directus_relations (many_collection, many_field, one_collection, one_field) values ($1, $2, $3, $4)`,
      [many, by, one, as],
    );
  }
  const [policy, role, user] = [randomUUID(), randomUUID(), randomUUID()];
  await client.query(`insert into directus_policies (id, name) values ($1, 'Members')`, [policy]);
  await client.query(`insert into directus_roles (id, name) values ($1, 'Member')`, [role]);
  await client.query(`insert into directus_access (id, role, policy) values ($1, $2, $3)`, [
    randomUUID(),
    role,
    policy,
  ]);
  await client.query(
    `insert into directus_users (id, email, role, token, status) values ($1, 'reader@example.com', $2, $3, 'active')`,
    [user, role, token],
  );
  const permit = `insert into directus_permissions (collection, action, fields, policy) values ($1, $2, '*', $3)`;
  for (const collection of readable) await client.query(permit, [collection, 'read', policy]);
  await client.query(permit, ['directus_files', 'create', policy]);
}
