/** The address of a team's page. */
export function pageOfTeam(id: string): string {
  return `/teams/${encodeURIComponent(id)}`;
}
