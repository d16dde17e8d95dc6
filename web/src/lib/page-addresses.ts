/** The address of a person's page, by username (IDENTITY-1). */
export function userPage(person: { readonly username: string }): string {
  return `/users/${encodeURIComponent(person.username)}`;
}

/** The address of a team's page. */
export function teamPage(id: string): string {
  return `/teams/${encodeURIComponent(id)}`;
}

/** The address of a tag's page. */
export function tagPage(tag: string): string {
  return `/tags/${encodeURIComponent(tag)}`;
}

/** The address of a collection's page. */
export function collectionPage(id: string): string {
  return `/collections/${encodeURIComponent(id)}`;
}
