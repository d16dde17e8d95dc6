/** The address of somebody's page; the handle leads there (IDENTITY-1). */
export function pageOf(person: { readonly username: string }): string {
  return `/users/${encodeURIComponent(person.username)}`;
}
