/** What an asset is called; one without a title has no other name. */
export function nameOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'Untitled' : title;
}
