import type { CapabilityRecord, Role } from '@vitrine/contract/roles';
import { seededLabel } from '#lib/translations/seeded.ts';

/** The capabilities of an account, as returned by the service. */
export interface Holdings {
  readonly role?: string;
  readonly capabilities: readonly string[];
  readonly grants: readonly CapabilityRecord[];
  readonly revokes: readonly CapabilityRecord[];
}

/** A globally held capability and its sources. */
export interface HeldCapability {
  readonly code: string;
  readonly fromRole: boolean;
  readonly granted: boolean;
}

/** Returns the role with this code or label. */
export function roleNamed(roles: readonly Role[], name: string | undefined): Role | undefined {
  return roles.find((role) => role.code === name) ?? roles.find((role) => role.label === name);
}

/** Returns how pages show a role that is given by its code or label. */
export function shownRole(roles: readonly Role[], name: string): string {
  const role = roleNamed(roles, name);
  return role === undefined ? name : seededLabel('role', role.code, role.label);
}

/**
 * Returns the source of each held capability. The list itself comes from the service and is never computed here. No
 * source is marked if the role is unknown.
 */
export function capabilitiesWithSource(holdings: Holdings, role: Role | undefined): HeldCapability[] {
  const granted = new Set(
    holdings.grants.filter((grant) => grant.team_id === null).map((grant) => grant.capability),
  );
  const given = new Set(role?.capabilities ?? []);
  return holdings.capabilities.map((code) => ({
    code,
    fromRole: given.has(code),
    granted: granted.has(code),
  }));
}

/** Returns the label of a capability, or its code if the labels are not known. */
export function labelOf(
  labels: readonly { code: string; label: string }[] | undefined,
  code: string,
): string {
  return labels?.find((known) => known.code === code)?.label ?? code;
}
