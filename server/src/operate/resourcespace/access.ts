import type { Permissions } from './permissions.ts';

/**
 * What each account sees of a resource in ResourceSpace. Where the rules are not certain, the answer is the narrower one, so that an
 * import never shows something to more people than before.
 */

/** 0: everything. 1: the record and a small preview, without the original. 2: nothing. */
export type Access = 0 | 1 | 2;

/** A rule of a search filter. `on`: nodes of which one is needed; `off`: nodes of which none may be there. */
export interface FilterRule {
  on: readonly number[];
  off: readonly number[];
}

/** A search filter, which hides every resource that it does not match. */
export type SearchFilter =
  | { kind: 'none' }
  /** A filter that cannot be evaluated hides everything. */
  | { kind: 'unknown' }
  /** A filter in the text form of old versions, which current versions no longer evaluate. */
  | { kind: 'text' }
  | { kind: 'rules'; condition: 'all' | 'any' | 'none'; rules: readonly FilterRule[] };

/** Accounts with the same rights: a group, and the filter of its own that an account may have. */
export interface Profile {
  group: number;
  permissions: Permissions;
  filter: SearchFilter;
}

export interface CustomAccess {
  user: number | null;
  group: number | null;
  access: Access;
  /** The day on which the row ends, for accounts. */
  expires: string | null;
}

/** What decides the access to a resource. */
export interface ResourceRights {
  type: number;
  archive: number;
  access: number;
  contributor: number | null;
  custom: readonly CustomAccess[];
  nodes: ReadonlySet<number>;
}

/** Options of the installation that change the rules. */
export interface AccessOptions {
  openForContributor: boolean;
  /** Whether contributors are exempt from `z`; true unless configured. */
  uploaderViewOverride: boolean;
}

const NOTHING: Access = 2;

function matchesRule({ on, off }: FilterRule, nodes: ReadonlySet<number>): boolean {
  const hasOn = on.length === 0 || on.some((node) => nodes.has(node));
  return hasOn && !off.some((node) => nodes.has(node));
}

function matchesFilter(filter: SearchFilter, nodes: ReadonlySet<number>): boolean {
  if (filter.kind !== 'rules') return filter.kind !== 'unknown';
  const { condition, rules } = filter;
  if (condition === 'all') return rules.every((rule) => matchesRule(rule, nodes));
  if (condition === 'any') return rules.some((rule) => matchesRule(rule, nodes));
  return !rules.some(({ on, off }) => [...on, ...off].some((node) => nodes.has(node)));
}

/** A search with a filter never finds states below 0 of others, and the check of a single resource is such a search. */
function seesState(
  { permissions, filter }: Profile,
  resource: ResourceRights,
  isContributor: boolean,
): boolean {
  return (
    filter.kind === 'none' || resource.archive >= 0 || isContributor || permissions.has(`ert${resource.type}`)
  );
}

function narrowed(access: number): Access {
  return access === 0 || access === 1 ? access : NOTHING;
}

/** Returns the access of one account, or of every account of a profile that is neither contributor nor named. */
export function accessOf(
  profile: Profile,
  user: number | null,
  resource: ResourceRights,
  options: AccessOptions,
): Access {
  const { permissions, group } = profile;
  const { type, archive, custom } = resource;
  const isContributor = user !== null && resource.contributor === user;
  const isExempt = isContributor && options.uploaderViewOverride;
  if (permissions.has(`z${archive}`) && !isExempt) return NOTHING;
  if (permissions.has('v')) return 0;
  const own = user === null ? undefined : custom.find((row) => row.user === user);
  const ofGroup = custom.find((row) => row.user === null && row.group === group);
  const named = own ?? ofGroup;
  if (permissions.has(`T${type}`) || !seesState(profile, resource, isContributor)) return NOTHING;
  // A row that names the account or its group precedes the filter and the permission to see open resources.
  if (named !== undefined)
    return named.access === 0 && permissions.has(`X${type}`) && own === undefined ? 1 : named.access;
  if (!matchesFilter(profile.filter, resource.nodes)) return NOTHING;
  if (profile.filter.kind !== 'none' && resource.access === 2) return NOTHING;
  if (isContributor && options.openForContributor) return 0;
  return restricted(profile, resource, narrowed(resource.access));
}

/** Applies what restricts open resources for a group. */
function restricted({ permissions }: Profile, { type, archive }: ResourceRights, access: Access): Access {
  if (access !== 0) return access;
  const isRestricted =
    !permissions.has('g') || permissions.has(`X${type}`) || permissions.has(`rws${archive}`);
  return isRestricted ? 1 : 0;
}
