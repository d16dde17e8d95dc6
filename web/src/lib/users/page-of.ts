/** The address of somebody's page; the handle leads there (spec 2.3). */
export function pageOf(person: { readonly username: string }): string {
  return `/users/${encodeURIComponent(person.username)}`;
}
