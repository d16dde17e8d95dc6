import type { Access, CustomAccess, ResourceRights } from './access.ts';

/** Everything that decides who sees a resource. */
export interface Rights {
  resource_type: number | null;
  archive: number | null;
  access: number | null;
  created_by: number | null;
  nodes: number[] | null;
  custom:
    | { user: number | null; usergroup: number | null; access: number | null; expires: string | null }[]
    | null;
}

/** A resource with its rights, as `rightsColumns` selects it. */
export interface RightsRow extends Rights {
  ref: number;
}

/** The columns of a resource `r` that decide who sees it. They include only nodes that a filter names. */
export const rightsColumns = `r.ref, r.resource_type, r.archive, r.access, r.created_by,
  (select array_agg(n.node order by n.node) from rs_resource_node n where n.resource = r.ref
    and n.node = any(array(select f.node from rs_filter_rule_node f))) as nodes,
  (select json_agg(json_build_object('user', c."user", 'usergroup', c.usergroup, 'access', c.access,
    'expires', left(c.user_expires, 10))) from rs_resource_custom_access c where c.resource = r.ref) as custom`;

/** Rows of resources; those with a number below 1 are upload forms. */
export const resources = 'rs_resource r where r.ref > 0';

const asAccess = (value: number | null): Access => (value === 0 || value === 1 ? value : 2);

function readCustom(row: NonNullable<Rights['custom']>[number]): CustomAccess {
  const isDay = /^[1-9]\d{3}-/.test(row.expires ?? '');
  return {
    user: row.user,
    group: row.usergroup,
    access: asAccess(row.access),
    expires: isDay ? row.expires : null,
  };
}

export function rightsOf(row: Rights): ResourceRights {
  return {
    type: row.resource_type ?? 0,
    archive: row.archive ?? 0,
    access: row.access ?? 2,
    contributor: row.created_by,
    custom: (row.custom ?? []).map(readCustom),
    nodes: new Set(row.nodes ?? []),
  };
}
