import type { CapabilityRecord, Role } from '@vitrine/contract/roles';

/** What an account holds, as the service tells it. */
export interface Holdings {
  readonly role?: string;
  readonly capabilities: readonly string[];
  readonly grants: readonly CapabilityRecord[];
  readonly revokes: readonly CapabilityRecord[];
}

/** One capability that is held everywhere, and what it comes from. */
export interface HeldCapability {
  readonly code: string;
  readonly fromRole: boolean;
  readonly granted: boolean;
}

/** The role an account has, by the code or the label it is named with. */
export function roleNamed(roles: readonly Role[], name: string | undefined): Role | undefined {
  return roles.find((role) => role.code === name) ?? roles.find((role) => role.label === name);
}

/**
 * Where each held capability comes from. The list is the service's answer and is never worked out here; neither
 * source is marked where the role is not known.
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

/** What a capability is called, or its code where the labels are not known. */
export function labelOf(
  labels: readonly { code: string; label: string }[] | undefined,
  code: string,
): string {
  return labels?.find((one) => one.code === code)?.label ?? code;
}
