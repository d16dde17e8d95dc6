import type { LibraryView } from './grid.ts';

const stored = 'vitrine:library-view';

export const views: readonly { readonly value: LibraryView; readonly label: string }[] = [
  { value: 'small', label: 'Small tiles' },
  { value: 'medium', label: 'Medium tiles' },
  { value: 'large', label: 'Large tiles' },
  { value: 'list', label: 'List' },
];

/** The view of the page of assets, which the browser remembers. */
export interface ViewChoice {
  view: LibraryView;
}

/** Reads the view that was chosen last. */
export function createViewChoice(storage: Storage): ViewChoice {
  const before = storage.getItem(stored);
  let view = $state<LibraryView>(views.find(({ value }) => value === before)?.value ?? 'medium');
  return {
    get view() {
      return view;
    },
    set view(next) {
      view = next;
      storage.setItem(stored, next);
    },
  };
}
