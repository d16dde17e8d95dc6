import { sql } from 'kysely';
import type { Tx } from '../../platform/database/pool.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { changedAccounts, recordOfAccounts } from '../imports/given-access.ts';
import { fingerprintOf } from '../imports/report.ts';
import { accountOf, type Context } from './context.ts';
import type { ResourceRow } from './details.ts';
import { type Exposure, exposureOf } from './exposure.ts';
import { keepMembers, keepTeam } from './people.ts';
import { rightsOf } from './rights.ts';

/** Returns the team of an exposure, or null for none. */
async function teamOf(context: Context, { audience: profiles, kind }: Exposure): Promise<string | null> {
  if (profiles.length === 0 || kind === 'everyone' || kind === 'closed') return null;
  const { audience } = context.plan.survey;
  const users = profiles.flatMap((at) => audience.members[at] ?? []).toSorted((a, b) => a - b);
  const groups = [...new Set(profiles.map((at) => audience.profiles[at]?.group ?? 0))].toSorted(
    (a, b) => a - b,
  );
  const [group] = groups;
  const ofGroup = context.installation.users.filter((user) => user.group === group).map(({ ref }) => ref);
  const isWhole = groups.length === 1 && ofGroup.length === users.length;
  const team = isWhole ? context.ledger.find('team', group ?? 0)?.target : undefined;
  if (team !== undefined) return team;
  const key = fingerprintOf(groups, isWhole ? [] : users).slice(0, 16);
  const name = groups.map((ref) => context.installation.groups.get(ref)?.label ?? `Group ${ref}`).join(' + ');
  const made = context.teams.get(key) ?? makeAudience(context, key, name, users);
  context.teams.set(key, made);
  return made;
}

/** Creates the team of an audience, or finds it, and makes the accounts its members. */
async function makeAudience(
  context: Context,
  key: string,
  name: string,
  users: readonly number[],
): Promise<string> {
  const id = await context.deps.db
    .transaction()
    .execute((tx) => keepTeam(tx, context, 'audience', key, { name, slug: `rs-audience-${key}` }));
  await keepMembers(context, { id, kind: 'audience', key }, users);
  return id;
}

const sensitivityOf = {
  everyone: 'org',
  withheld: 'restricted',
  hidden: 'posts',
  closed: 'restricted',
} as const;

/** The library's sensitivity for an exposure. */
export function sensitivity({ kind }: Exposure, team: string | null) {
  return kind === 'withheld' && team !== null ? 'team' : sensitivityOf[kind];
}

/** The library's status for an archive state. */
export function statusOf(archive: number): 'active' | 'draft' | 'archived' {
  if (archive === 0) return 'active';
  return archive < 0 ? 'draft' : 'archived';
}

/** Returns the accounts that have access to an asset of their own, and when it expires. */
function sharesOf(context: Context, { readers }: Exposure) {
  return readers.flatMap(({ user, expires }) => {
    const account = accountOf(context, user);
    return account === null ? [] : [{ account, expires }];
  });
}

/** An asset, and how it is opened. */
interface Exposed {
  id: string;
  exposure: Exposure;
}

async function insertShares(
  tx: Tx,
  { owner }: Context,
  shares: readonly { asset: string; account: number; expires: string | null }[],
): Promise<void> {
  if (shares.length === 0) return;
  await sql`insert into asset_shares (asset_id, user_ref, shared_by_user_ref, expires_at)
    select asset, account, ${owner.ref}::bigint, expires::timestamptz
    from jsonb_to_recordset(${JSON.stringify(shares)}::jsonb) as x (asset uuid, account bigint, expires text)
    on conflict (asset_id, user_ref) do nothing`.execute(tx);
}

/** Shares new assets with the accounts that have access of their own. */
export async function giveShares(tx: Tx, context: Context, assets: readonly Exposed[]): Promise<void> {
  const given = assets
    .map(({ id, exposure }) => ({ id, shares: sharesOf(context, exposure) }))
    .filter(({ shares }) => shares.length > 0);
  await insertShares(
    tx,
    context,
    given.flatMap(({ id, shares }) => shares.map((share) => ({ asset: id, ...share }))),
  );
  const records = given.map(({ id, shares }) => ({
    id,
    target: recordOfAccounts(shares.map(({ account }) => account)),
    fingerprint: '',
  }));
  await context.ledger.recordAll(tx, 'readers', records);
}

/**
 * Shares an asset that an earlier run imported with the accounts that are new in ResourceSpace, and withdraws what that run
 * gave and the accounts lost. What people gave and withdrew here stays.
 */
export async function keepShares(
  tx: Tx,
  context: Context,
  assetId: string,
  exposure: Exposure,
): Promise<void> {
  const { ledger, owner } = context;
  const shares = sharesOf(context, exposure);
  const accounts = shares.map(({ account }) => account);
  const { lost, fresh } = changedAccounts(ledger, 'readers', assetId, accounts);
  if (lost.length === 0 && fresh.length === 0) return;
  await sql`delete from asset_shares where asset_id = ${assetId} and shared_by_user_ref = ${owner.ref}
    and user_ref = any(${lost}::bigint[])`.execute(tx);
  const given = shares.filter(({ account }) => fresh.includes(account));
  await insertShares(
    tx,
    context,
    given.map((share) => ({ asset: assetId, ...share })),
  );
  await ledger.record(tx, 'readers', assetId, recordOfAccounts(accounts));
}

/** How the asset of a resource is opened, and what it belongs to. */
export interface Placement {
  exposure: Exposure;
  team: string | null;
  owner: number;
}

/** Returns how the asset of a resource is opened, and creates its team. */
export async function placementOf(context: Context, row: ResourceRow): Promise<Placement> {
  const { plan, installation, today, reporter } = context;
  const exposure = exposureOf(rightsOf(row), plan.survey.audience, installation.access, today);
  if (exposure.isNarrowed)
    reporter.change('access', row.ref, sentence('some accounts that saw a restricted view no longer see it'));
  const contributor = exposure.contributorReads ? accountOf(context, row.created_by) : null;
  return { exposure, team: await teamOf(context, exposure), owner: contributor ?? context.owner.ref };
}
