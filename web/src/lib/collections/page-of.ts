/** The address of a collection's page. */
export function pageOfCollection(id: string): string {
  return `/collections/${encodeURIComponent(id)}`;
}
