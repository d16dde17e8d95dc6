import { capabilities as codes } from '@vitrine/contract/capabilities';
import type { RoleCreate } from '@vitrine/contract/roles';

/** A capability as the service explains it. */
export interface ExplainedCapability {
  readonly code: string;
  readonly label: string;
  readonly group: string;
  readonly description: string;
}

/** Capabilities under one heading. */
export interface CapabilityGroup<T extends ExplainedCapability = ExplainedCapability> {
  readonly title: string;
  readonly capabilities: readonly T[];
}

/** Returns the capabilities by their headings, which keep the order of the contract's codes. */
export function grouped<T extends ExplainedCapability>(known: readonly T[]): CapabilityGroup<T>[] {
  const sorted = codes.flatMap((code) => known.filter((one) => one.code === code));
  const titles = [...new Set(sorted.map(({ group }) => group))];
  return titles.map((title) => ({ title, capabilities: sorted.filter(({ group }) => group === title) }));
}

/** Returns the codes that this build knows, as the contract types them. */
export function knownCodes(chosen: Iterable<string>): RoleCreate['capabilities'] {
  const wanted = new Set(chosen);
  return codes.filter((code) => wanted.has(code));
}

/** Returns a code made from a name, as far as one can be made: `Print team` becomes `print-team`. */
export function codeFrom(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 64)
    .replace(/-+$/, '');
}
