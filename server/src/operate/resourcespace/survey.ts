import { type Access, accessOf } from './access.ts';
import { type Audience, audienceOf, type Exposure, exposureOf } from './exposure.ts';
import { type Installation, profilesOf } from './installation.ts';
import { type Rights, resources, rightsColumns, rightsOf } from './rights.ts';
import type { Staging } from './staging.ts';

/** How all resources are opened. */
export interface Survey {
  audience: Audience;
  /** The groups whose accounts see everything of every resource. */
  seesAll: ReadonlySet<number>;
  /** How many assets are opened in which way. */
  kinds: Record<Exposure['kind'], number>;
  narrowed: number;
}

/** Selects the distinct rights of resources, each with the number of resources that have them. */
const distinctRights = `select resource_type, archive, access, created_by, nodes, custom::json as custom, count(*) as count
  from (select r.resource_type, r.archive, r.access, r.created_by, r.nodes, r.custom::text as custom
    from (select ${rightsColumns} from ${resources}) r) x
  group by resource_type, archive, access, created_by, nodes, custom`;

/** Goes through the rights of every resource. */
export async function surveyAccess(
  staging: Staging,
  installation: Installation,
  today: string,
): Promise<Survey> {
  const audience = audienceOf(profilesOf(installation));
  const kinds = { everyone: 0, withheld: 0, hidden: 0, closed: 0 };
  const worst = new Map<number, Access>(audience.profiles.map(({ group }) => [group, 0]));
  let narrowed = 0;
  for await (const rows of staging.batches<Rights & { count: number }>(distinctRights, 1000)) {
    for (const row of rows) {
      const rights = rightsOf(row);
      const exposure = exposureOf(rights, audience, installation.access, today);
      kinds[exposure.kind] += row.count;
      if (exposure.isNarrowed) narrowed += row.count;
      for (const [at, profile] of audience.profiles.entries()) {
        const users = audience.members[at] ?? [];
        for (const user of users.length > 0
          ? [null, ...users.filter((ref) => isNamed(rights, ref))]
          : [null]) {
          const access = accessOf(profile, user, rights, installation.access);
          if (access > (worst.get(profile.group) ?? 0)) worst.set(profile.group, access);
        }
      }
    }
  }
  const seesAll = new Set([...worst].flatMap(([group, access]) => (access === 0 ? [group] : [])));
  return { audience, seesAll, kinds, narrowed };
}

function isNamed({ custom, contributor }: ReturnType<typeof rightsOf>, user: number): boolean {
  return contributor === user || custom.some((row) => row.user === user);
}
