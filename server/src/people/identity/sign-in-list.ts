import { listSignIns, listUserSignIns, type SignIn, type UserSignIn } from '@vitrine/contract/sessions';
import { type RawBuilder, sql } from 'kysely';
import { identityJson, readerOfNames, seesPersonalData, seesWhereabouts } from '../../access/identities.ts';
import { handle } from '../../core/handle.ts';
import { newestFirst } from '../../platform/http/page.ts';

/** Which sign-ins are listed. */
interface SignInFilter {
  user_ref?: number;
  ok?: boolean;
  method?: string;
  from?: string;
  to?: string;
}

const succeeded = sql`select e.id, e.occurred_at as at, true as ok, e.subject_user_ref as user_ref,
    coalesce(e.metadata ->> 'provider', 'password') as method, coalesce(e.metadata ->> 'address', '') as address,
    e.metadata ->> 'user_agent' as user_agent
  from audit_events e where e.event = 'auth.signed_in'`;
const failed = sql`select id, at, false as ok, user_ref, method, address, user_agent from failed_sign_ins`;

/** All sign-ins and kept failures, as a table with the columns above. */
export const storedSignIns: RawBuilder<unknown> = sql`(${succeeded} union all ${failed})`;

function conditions({ user_ref, ok, method, from, to }: SignInFilter): RawBuilder<boolean>[] {
  return [
    ...(user_ref === undefined ? [] : [sql<boolean>`s.user_ref = ${user_ref}`]),
    ...(ok === undefined ? [] : [sql<boolean>`s.ok = ${ok}`]),
    ...(method === undefined ? [] : [sql<boolean>`s.method = ${method}`]),
    ...(from === undefined ? [] : [sql<boolean>`s.at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql<boolean>`s.at < ${to}::timestamptz`]),
  ];
}

interface SignInRow extends SignIn {
  address: string;
}

/** The most sign-ins of an account that are shown. */
const MOST_SIGN_INS = 50;

/** SESSION-16: lists recent sign-ins of the account, and attempts that failed. */
export const ownSignIns = handle(listSignIns, async ({ db }, { caller }) => {
  const personal = seesWhereabouts(caller, caller.ref);
  const rest = sql`order by s.at desc, s.id desc limit ${MOST_SIGN_INS}`;
  const { rows } = await sql<SignInRow>`select s.at, s.ok, s.method, s.address, s.user_agent
    from ((select * from (${succeeded}) s where s.user_ref = ${caller.ref} ${rest})
      union all (select * from (${failed}) s where s.user_ref = ${caller.ref} ${rest})) s ${rest}`.execute(
    db,
  );
  const items = personal ? rows : rows.map((row) => ({ ...row, address: null, user_agent: null }));
  return { status: 200, body: { items } };
});

/** SESSION-20: lists the sign-ins of all accounts. */
export const signInsOfAll = handle(listUserSignIns, async ({ db }, { caller, query }) => {
  const page = newestFirst(query, 's.at', 's.id');
  const where = sql.join([page.after, ...conditions(query)], sql` and `);
  const { rows } = await sql<UserSignIn>`select s.id, s.at, s.ok, s.method, s.address, s.user_agent,
      ${identityJson(readerOfNames(caller), 'u')} as "user"
    -- Both sources end like the page, so that their indexes are read no further.
    from ((select * from (${succeeded}) s where ${where} ${page.order})
      union all (select * from (${failed}) s where ${where} ${page.order})) s left join users u on u.ref = s.user_ref
    ${page.order}`.execute(db);
  const cut = page.cut(rows, ({ at, id }) => ({ at, id }));
  const personal = seesPersonalData(caller);
  return {
    status: 200,
    body: {
      items: cut.rows.map((row) => (personal ? row : { ...row, address: null, user_agent: null })),
      next_cursor: cut.next,
    },
  };
});
