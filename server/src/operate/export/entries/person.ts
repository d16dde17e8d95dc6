import { sql } from 'kysely';
import { readableComments } from '../../../access/annotations.ts';
import { readableAssets } from '../../../access/assets.ts';
import type { SignedIn } from '../../../access/caller.ts';
import { readableFields } from '../../../access/field-values.ts';
import { readablePosts } from '../../../access/posts.ts';
import { storedSignIns } from '../../../people/identity/sign-in-list.ts';
import type { Database } from '../../../platform/database/pool.ts';
import type { Entry } from '../bag/entry.ts';

/** Rows fetched at a time. */
const FETCHED = 200;

/** A list about a person: the file's name, and a query whose rows are objects. */
interface PersonList {
  name: string;
  read(caller: SignedIn): ReturnType<typeof sql<{ item: unknown }>>;
}

/** Everything that the library knows of a person by their own doing; no tokens, keys and hashes (EXPORT-4). */
const lists: readonly PersonList[] = [
  {
    name: 'profile',
    read: ({ ref }) => sql`select json_build_object('username', u.username, 'fullname', u.fullname,
        'display_name', u.display_name, 'email', u.email, 'bio', u.bio, 'role', r.label, 'status', u.status,
        'preferences', u.preferences, 'created_at', u.created_at, 'last_seen_at', u.last_seen_at,
        'sign_in_with', u.provider) as item
      from users u join roles r on r.id = u.role_id where u.ref = ${ref}`,
  },
  {
    // Also comments on posts of others; annotations of files that are withheld now are left out with their replies.
    name: 'comments',
    read: (caller) => sql`select json_build_object('id', c.id, 'post_id', c.post_id, 'post_title', p.title,
        'parent_id', c.parent_id, 'body', c.body, 'created_at', c.created_at, 'edited_at', c.edited_at,
        'resolved_at', c.resolved_at, 'annotation', case when n.comment_id is not null then json_build_object(
          'asset_id', c.annotated_asset_id, 'version', n.version, 'anchor', n.anchor, 'strokes', n.strokes) end) as item
      from comments c join posts p on p.id = c.post_id left join annotations n on n.comment_id = c.id
      where c.author_user_ref = ${caller.ref} and ${readableComments(caller)} order by c.created_at, c.id`,
  },
  {
    name: 'whiteboards',
    read: (caller) => sql`select json_build_object('id', w.id, 'post_id', w.post_id, 'title', w.title,
        'strokes', w.strokes, 'created_at', w.created_at) as item
      from whiteboards w join posts p on p.id = w.post_id
      where w.author_user_ref = ${caller.ref} and ${readablePosts(caller)} order by w.created_at, w.id`,
  },
  {
    name: 'likes',
    read: (caller) => sql`select json_build_object('post_id', l.post_id, 'created_at', l.created_at) as item
      from post_likes l join posts p on p.id = l.post_id
      where l.user_ref = ${caller.ref} and ${readablePosts(caller)} order by l.created_at, l.post_id`,
  },
  {
    name: 'following',
    read: ({ ref }) => sql`select json_build_object('username', u.username, 'since', f.created_at) as item
      from user_follows f join users u on u.ref = f.followed_user_ref
      where f.follower_user_ref = ${ref} order by f.created_at, u.ref`,
  },
  {
    name: 'followed-tags',
    read: ({ ref }) => sql`select json_build_object('tag', f.tag, 'since', f.created_at) as item
      from tag_follows f where f.user_ref = ${ref} order by f.tag`,
  },
  {
    name: 'teams',
    read: ({ ref }) => sql`select json_build_object('name', t.name, 'since', m.created_at) as item
      from team_members m join teams t on t.id = m.team_id
      where m.user_ref = ${ref} and t.deleted_at is null order by m.created_at, t.id`,
  },
  {
    name: 'saved-searches',
    read: ({
      ref,
    }) => sql`select json_build_object('name', s.name, 'query', s.query, 'created_at', s.created_at) as item
      from saved_searches s where s.user_ref = ${ref} order by s.created_at, s.id`,
  },
  {
    name: 'requests',
    read: ({
      ref,
    }) => sql`select json_build_object('capability', q.requested_capability, 'target_kind', q.target_kind,
        'reason', q.reason, 'state', q.state, 'requested_at', q.requested_at, 'decided_at', q.decided_at) as item
      from resource_requests q where q.requester_user_ref = ${ref} order by q.requested_at, q.id`,
  },
  {
    name: 'deletion-request',
    read: ({
      ref,
    }) => sql`select json_build_object('note', q.note, 'state', q.state, 'requested_at', q.requested_at,
        'decided_at', q.decided_at, 'decision_reason', q.decision_reason) as item
      from deletion_requests q where q.user_ref = ${ref}`,
  },
  {
    name: 'reviews',
    read: (
      caller,
    ) => sql`select json_build_object('post_id', v.post_id, 'decision', r.decision, 'note', r.note,
        'decided_at', r.decided_at) as item
      from review_reviewers r join reviews v on v.id = r.review_id join posts p on p.id = v.post_id
      where r.user_ref = ${caller.ref} and r.decision is not null and ${readablePosts(caller)}
      order by r.decided_at, v.id`,
  },
  {
    name: 'values-set',
    read: (
      caller,
    ) => sql`select json_build_object('asset_id', h.subject_id, 'field', d.code, 'value', h.after, 'at', h.at) as item
      from field_value_history h join fields d on d.id = h.field_id join assets a on a.id = h.subject_id
      where h.actor_user_ref = ${caller.ref} and h.subject_kind = 'asset' and a.owner_user_ref = ${caller.ref}
        and ${readableAssets(caller)} and ${readableFields(caller, 'asset')} order by h.at, h.id`,
  },
  {
    name: 'sign-ins',
    read: ({ ref }) => sql`select json_build_object('at', s.at, 'ok', s.ok, 'method', s.method,
        'address', s.address, 'user_agent', s.user_agent) as item
      from ${storedSignIns} s where s.user_ref = ${ref} order by s.at, s.id`,
  },
  {
    name: 'sessions',
    read: ({ ref }) => sql`select json_build_object('at', s.created_at, 'last_used_at', s.last_used_at,
        'address', s.address, 'user_agent', s.user_agent) as item
      from sessions s where s.user_ref = ${ref} and s.impersonator_user_ref is null order by s.created_at, s.id`,
  },
];

/** Writes the rows of a query as a JSON list. */
async function* itemsOf(db: Database, caller: SignedIn, { name, read }: PersonList): AsyncGenerator<string> {
  const cursor = sql.id(`person_${name}`);
  await sql`declare ${cursor} no scroll cursor for ${read(caller)}`.execute(db);
  let before = '[\n  ';
  for (;;) {
    const { rows } = await sql<{ item: unknown }>`fetch ${sql.lit(FETCHED)} from ${cursor}`.execute(db);
    for (const { item } of rows) {
      yield `${before}${JSON.stringify(item)}`;
      before = ',\n  ';
    }
    if (rows.length < FETCHED) break;
  }
  await sql`close ${cursor}`.execute(db);
  yield before.startsWith('[') ? '[]\n' : '\n]\n';
}

/** Yields the lists about a person, within a transaction. */
export function* personEntries(db: Database, caller: SignedIn): Generator<Entry> {
  for (const list of lists.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const content = { kind: 'stream' as const, open: () => itemsOf(db, caller, list) };
    yield { key: `7 person/${list.name}`, path: `data/person/${list.name}.json`, content };
  }
}
