import { type Access, accessOf } from './access.ts';
import { type Audience, audienceOf, type Exposure, exposureOf } from './exposure.ts';
import { type Installation, profilesOf } from './installation.ts';
import { type RightsRow, resources, rightsColumns, rightsOf } from './rights.ts';
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
  const all = `select ${rightsColumns} from ${resources} order by r.ref`;
  for await (const rows of staging.batches<RightsRow>(all, 1000)) {
    for (const row of rows) {
      const rights = rightsOf(row);
      const exposure = exposureOf(rights, audience, installation.access, today);
      kinds[exposure.kind] += 1;
      if (exposure.isNarrowed) narrowed += 1;
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
