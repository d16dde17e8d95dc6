import {
  type Reach,
  type Visibility,
  type VisibilityReaching,
  visibilities,
  visibilityNames,
} from '@vitrine/contract/visibilities';
import { type RawBuilder, sql } from 'kysely';
import type { Caller, SignedIn } from './caller.ts';
import { unexpired } from './live.ts';

/**
 * For whom each visibility opens a post or a collection (POST-2, COLLECTION-1). The facts are in the contract; here are
 * the rules of visibilities that depend on the reader. The SQL function `exposure_of` repeats `reach` for triggers.
 */
type Predicate = RawBuilder<boolean>;

/** An object with a visibility. */
export interface Opened {
  /** Its column `visibility`. */
  readonly visibility: RawBuilder<unknown>;
  /** The column with its owner. */
  readonly owner: RawBuilder<unknown>;
  /** Selects its shares `s` by name. */
  readonly shares: RawBuilder<unknown>;
}

interface ReaderRule {
  /** Whether the object is open for the caller. */
  readonly opens: (caller: SignedIn, object: Opened) => Predicate;
  /** A superset of the posts `p` that are open for the caller, by an index. Null if any post of the visibility may be. */
  readonly candidates: ((caller: SignedIn) => Predicate) | null;
}

const readerRules: Readonly<Record<VisibilityReaching<'some'>, ReaderRule>> = {
  followers: {
    opens: (caller, { owner }) => sql`exists (
      select from user_follows f where f.follower_user_ref = ${caller.ref} and f.followed_user_ref = ${owner})`,
    candidates: null,
  },
  'explicit-share': {
    opens: (caller, { shares }) =>
      sql`exists (${shares} and s.user_ref = ${caller.ref} and ${unexpired('s')})`,
    candidates: (caller) =>
      sql`p.id = any(array(select post_id from post_shares where user_ref = ${caller.ref}))`,
  },
};

/** The cast restores the type that `Object.entries` loses. */
const rules = Object.entries(readerRules) as [VisibilityReaching<'some'>, ReaderRule][];

/** Returns the visibilities that meet the condition as a list of literals, so that plans can depend on them. */
function literals(isListed: (visibility: Visibility) => boolean): RawBuilder<unknown> {
  return sql.join(visibilityNames.filter(isListed).map((visibility) => sql.lit(visibility)));
}

const reaching = (...reaches: Reach[]) =>
  literals((visibility) => reaches.includes(visibilities[visibility].reach));
const forVisitors = reaching('visitors');
const forAccounts = reaching('visitors', 'accounts');
const withoutCandidates = literals((visibility) =>
  rules.some(([name, { candidates }]) => name === visibility && candidates === null),
);
const forPeers = literals((visibility) => visibilities[visibility].toPeers !== null);

/** Objects that are open for anonymous callers. */
export function openForVisitors({ visibility }: Pick<Opened, 'visibility'>): Predicate {
  return sql`${visibility} in (${forVisitors})`;
}

/** Objects that their visibility opens for the caller. */
export function openFor(caller: Caller, object: Opened): Predicate {
  if (caller.kind === 'anonymous') return openForVisitors(object);
  const { visibility } = object;
  const some = rules.map(
    ([name, { opens }]) => sql` or (${visibility} = ${sql.lit(name)} and ${opens(caller, object)})`,
  );
  return sql`(${visibility} in (${forAccounts})${sql.join(some, sql``)})`;
}

/** A superset of the posts `p` that their visibility opens for the caller, with conditions that indexes answer. */
export function candidatesFor(caller: SignedIn): Predicate {
  const some = rules.flatMap(([, { candidates }]) => (candidates === null ? [] : [candidates(caller)]));
  return sql`(p.visibility in (${forAccounts}, ${withoutCandidates})${sql.join(
    some.map((candidates) => sql` or ${candidates}`),
    sql``,
  )})`;
}

/** Objects whose visibility allows sharing them with peers (FED-1). */
export function openForPeers({ visibility }: Pick<Opened, 'visibility'>): Predicate {
  return sql`${visibility} in (${forPeers})`;
}
