import type { Role, RoleTemplate } from '@vitrine/contract/roles';
import { seededLabel } from '#lib/translations/seeded.ts';

/** What the form for a role begins with. */
export interface RoleDraft {
  readonly title: string;
  /** The role that is changed; absent for a new one. */
  readonly id?: string;
  readonly name: string;
  readonly code: string;
  readonly description: string;
  /** The code of the parent, or empty. */
  readonly parent: string;
  readonly capabilities: readonly string[];
  readonly requires_second_factor: boolean;
}

export const emptyDraft: RoleDraft = {
  title: 'New role',
  name: '',
  code: '',
  description: '',
  parent: '',
  capabilities: [],
  requires_second_factor: false,
};

const shownLabel = ({ code, label }: Role): string => seededLabel('role', code, label);

function parentOf(role: Role, roles: readonly Role[]): string {
  return roles.find(({ id }) => id === role.parent_id)?.code ?? '';
}

/** Returns a draft with what a role has. */
export function draftOf(role: Role, roles: readonly Role[]): RoleDraft {
  const { id, code, label, description, own_capabilities, requires_second_factor } = role;
  const parent = parentOf(role, roles);
  const title = `Edit ${shownLabel(role)}`;
  return {
    title,
    id,
    code,
    name: label,
    description,
    parent,
    capabilities: own_capabilities,
    requires_second_factor,
  };
}

/** Returns a draft of a new role that gives what a role gives. */
export function copyOf(role: Role, roles: readonly Role[]): RoleDraft {
  const { id: _, ...draft } = draftOf(role, roles);
  const taken = new Set(roles.map(({ code }) => code));
  let code = `${role.code.slice(0, 56)}-copy`;
  for (let turn = 2; taken.has(code); turn += 1) code = `${role.code.slice(0, 56)}-copy-${turn}`;
  const label = shownLabel(role);
  return { ...draft, title: `Copy ${label}`, code, name: `${label} (copy)` };
}

/** Returns a draft of a new role from a template. */
export function draftFrom(template: RoleTemplate): RoleDraft {
  return { ...emptyDraft, ...template, title: `New role from “${template.name}”` };
}
