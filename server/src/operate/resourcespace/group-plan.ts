import type { FieldPlan } from './field-plan.ts';
import { groupsInUse } from './field-plan.ts';
import type { Group, Installation } from './installation.ts';
import type { Survey } from './survey.ts';

/** What a group of users becomes: a role, and a team with its accounts. */
export interface GroupPlan {
  group: Group;
  /** `own`: a role made for the group; otherwise the code of a role of the library. */
  role: string;
  code: string;
  capabilities: string[];
  team: string;
}

function slugOf(label: string, ref: number): string {
  const plain = label
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return plain === '' ? `rs-group-${ref}` : `rs-${plain}-${ref}`;
}

/** The capabilities that permissions correspond to. Reading is decided per asset, so none of them opens content. */
function capabilitiesOf({ permissions }: Group, isAnonymous: boolean): string[] {
  if (isAnonymous) return [];
  const creates = permissions.has('c') || permissions.has('d');
  return [
    'posts.comment',
    ...(creates ? ['assets.create', 'posts.create', 'fields.vocabulary.extend'] : []),
    ...(permissions.has('c') ? ['posts.publish'] : []),
    ...(permissions.has('b') ? [] : ['collections.create']),
    ...(permissions.has('u') ? ['teams.read'] : []),
  ];
}

/** The capability that reads the values of a field that not every group reads. */
export const readCapability = (code: string) => `fields.read.${code}`;

/** Proposes what each group with accounts becomes. A group becomes administrators only if it saw everything before. */
export function planGroups(
  installation: Installation,
  survey: Survey,
  fields: readonly FieldPlan[],
): GroupPlan[] {
  const anonymous = installation.users.find(
    ({ username }) => username === (installation.settings.anonymous_login ?? null),
  );
  return groupsInUse(installation).flatMap((ref) => {
    const group = installation.groups.get(ref);
    if (group === undefined) return [];
    const { permissions } = group;
    const readsAll = fields.every(
      ({ readers, field }) => readers === null || readers.includes(ref) || !field.isActive,
    );
    const isAdmin = permissions.has('a') && survey.seesAll.has(ref) && readsAll && permissions.has('j*');
    const reads = fields.flatMap(({ readers, code }) =>
      readers?.includes(ref) === true ? [readCapability(code)] : [],
    );
    return [
      {
        group,
        role: isAdmin ? 'admin' : 'own',
        code: slugOf(group.label, ref),
        capabilities: [...capabilitiesOf(group, anonymous?.group === ref), ...reads],
        team: group.label.slice(0, 200),
      },
    ];
  });
}
