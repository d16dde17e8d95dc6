/** The address of a tag's page. */
export function pageOfTag(tag: string): string {
  return `/tags/${encodeURIComponent(tag)}`;
}
