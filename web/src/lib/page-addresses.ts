/** Returns the address of a user's page, by username (IDENTITY-1). */
export function userPage(person: { readonly username: string }): string {
  return `/users/${encodeURIComponent(person.username)}`;
}

/** Returns the address of a team's page. */
export function teamPage(id: string): string {
  return `/teams/${encodeURIComponent(id)}`;
}

/** Returns the address of a tag's page. */
export function tagPage(tag: string): string {
  return `/tags/${encodeURIComponent(tag)}`;
}

/** Returns the address of a collection's page. */
export function collectionPage(id: string): string {
  return `/collections/${encodeURIComponent(id)}`;
}
