import {
  type Access,
  type AccessOptions,
  accessOf,
  type CustomAccess,
  type Profile,
  type ResourceRights,
} from './access.ts';

/** An account that sees a resource by itself; `expires` is a day, or null for ever. */
interface NamedReader {
  user: number;
  expires: string | null;
}

/**
 * How an asset is opened so that nobody sees more of it than of its resource:
 * - `everyone`: every account of the earlier system sees everything.
 * - `withheld`: everyone knows of it, and the audience sees everything.
 * - `hidden`: only the audience knows of it.
 * - `closed`: it is in no active state, so only its owner and named readers see it.
 */
export interface Exposure {
  kind: 'everyone' | 'withheld' | 'hidden' | 'closed';
  /** The profiles whose accounts see everything, as positions in the list of profiles. */
  audience: readonly number[];
  /** Accounts that see everything besides those of the audience. */
  readers: readonly NamedReader[];
  /** Whether the contributor sees everything, and may own the asset. */
  contributorReads: boolean;
  /** Whether accounts saw a restricted view that they lose. */
  isNarrowed: boolean;
}

/** Accounts by their common rights. */
export interface Audience {
  profiles: readonly Profile[];
  /** The accounts of each profile, in the order of `profiles`. */
  members: readonly (readonly number[])[];
  profileOf: ReadonlyMap<number, number>;
}

/** More named readers than this are left out of an asset. */
const MOST_READERS = 2000;

export function audienceOf(profiles: ReadonlyMap<number, Profile>): Audience {
  const distinct = [...new Set(profiles.values())];
  const members = distinct.map(() => [] as number[]);
  const profileOf = new Map<number, number>();
  for (const [user, profile] of profiles) {
    const at = distinct.indexOf(profile);
    profileOf.set(user, at);
    members[at]?.push(user);
  }
  return { profiles: distinct, members, profileOf };
}

/** A row that has not ended applies; a row that takes access away never ends. */
function isLasting(row: CustomAccess): boolean {
  return row.expires === null || row.access !== 0;
}

/** The access with and without the rows that will end; the day on which the wider one ends. */
interface Pair {
  lasting: Access;
  present: Access;
}

/** Returns how to open the asset of a resource. `today` is a day; rows that ended before are ignored. */
export function exposureOf(
  rights: ResourceRights,
  { profiles, members, profileOf }: Audience,
  options: AccessOptions,
  today: string,
): Exposure {
  const custom = rights.custom.filter(({ expires }) => expires === null || expires >= today);
  const now = { ...rights, custom };
  const later = { ...rights, custom: custom.filter(isLasting) };
  const pairOf = (profile: Profile, user: number | null): Pair => {
    const present = accessOf(profile, user, now, options);
    const without = accessOf(profile, user, later, options);
    return { present, lasting: present > without ? present : without };
  };
  const ofProfiles = profiles.map((profile) => pairOf(profile, null));
  const special = new Set(custom.flatMap(({ user }) => user ?? []));
  if (rights.contributor !== null) special.add(rights.contributor);
  const readers: NamedReader[] = [];
  const denied = new Set<number>();
  let least: Access = 0;
  const widen = (access: Access) => {
    if (access > least) least = access;
  };
  /** The last day of the rows that open the resource for an account for some time. */
  const endFor = (user: number, group: number): string | null =>
    custom
      .filter((row) => row.expires !== null && row.access === 0 && (row.user === user || row.group === group))
      .map(({ expires }) => expires)
      .toSorted()
      .at(-1) ?? null;
  for (const user of special) {
    const at = profileOf.get(user);
    const profile = at === undefined ? undefined : profiles[at];
    if (at === undefined || profile === undefined) continue;
    const pair = pairOf(profile, user);
    widen(pair.lasting);
    if (pair.lasting !== 0 && ofProfiles[at]?.lasting === 0) denied.add(at);
    if (pair.lasting === 0) readers.push({ user, expires: null });
    else if (pair.present === 0) readers.push({ user, expires: endFor(user, profile.group) });
  }
  const audience: number[] = [];
  for (const [at, { lasting, present }] of ofProfiles.entries()) {
    const ordinary = (members[at] ?? []).filter((user) => !special.has(user));
    if (ordinary.length > 0) widen(lasting);
    if (lasting === 0 && !denied.has(at)) audience.push(at);
    else if (lasting === 0) readers.push(...ordinary.map((user) => ({ user, expires: null })));
    else if (present === 0) {
      const group = profiles[at]?.group ?? 0;
      readers.push(...ordinary.map((user) => ({ user, expires: endFor(user, group) })));
    }
  }
  const contributorReads = readers.some(
    ({ user, expires }) => user === rights.contributor && expires === null,
  );
  const inAudience = (user: number) => audience.includes(profileOf.get(user) ?? -1);
  const named = readers.filter(({ user }) => !inAudience(user));
  const all = [
    ...named,
    ...audience.flatMap((at) => (members[at] ?? []).map((user) => ({ user, expires: null }))),
  ];
  if (rights.archive !== 0) {
    const kept = all.length > MOST_READERS ? named.slice(0, MOST_READERS) : all;
    return {
      kind: 'closed',
      audience: [],
      readers: kept,
      contributorReads,
      isNarrowed: kept.length < all.length,
    };
  }
  if (least === 0)
    return { kind: 'everyone', audience: [], readers: [], contributorReads, isNarrowed: false };
  const kind = least === 1 ? 'withheld' : 'hidden';
  const isNarrowed = kind === 'hidden' && ofProfiles.some(({ lasting }) => lasting === 1);
  const kept = named.slice(0, MOST_READERS);
  return {
    kind,
    audience,
    readers: kept,
    contributorReads,
    isNarrowed: isNarrowed || kept.length < named.length,
  };
}
