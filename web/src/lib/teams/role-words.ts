import type { TeamRole } from '@vitrine/contract/teams';

/** The roles of members, as choices, with what they may do in the team. */
export const roleChoices: readonly { value: TeamRole; label: string; explanation: string }[] = [
  { value: 'lead', label: 'Lead', explanation: 'Also changes the team, its members and everything in it.' },
  { value: 'member', label: 'Member', explanation: 'Gives things to the team and decides on its reviews.' },
  { value: 'contributor', label: 'Contributor', explanation: 'Gives own things to the team.' },
  { value: 'viewer', label: 'Viewer', explanation: 'Sees what the team shares.' },
];

/** Returns the label of a role. */
export function roleLabel(role: TeamRole): string {
  return roleChoices.find(({ value }) => value === role)?.label ?? role;
}
