import { createContext } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

/** A form of a page that saves all its forms with one button. */
interface BarForm {
  readonly title: string;
  readonly changed: boolean;
  /** Saves; returns whether it succeeded. */
  save(): Promise<boolean>;
}

export interface SaveBar {
  /** The forms with something to save, in the order of the page. */
  readonly changed: readonly BarForm[];
  readonly busy: boolean;
  /** Whether everything was saved and nothing has changed since. */
  readonly saved: boolean;
  /** Adds a form; returns a function that removes it. */
  add(form: BarForm): () => void;
  /** Saves one form after the other until one fails. */
  save(): Promise<void>;
}

export const [getSaveBar, setSaveBar] = createContext<SaveBar>();

/** Creates the state of the bar that saves all forms of a page. */
export function createSaveBar(): SaveBar {
  const forms = new SvelteSet<BarForm>();
  const changed = $derived([...forms].filter((form) => form.changed));
  let saving = $state(false);
  let done = $state(false);

  return {
    get changed() {
      return changed;
    },
    get busy() {
      return saving;
    },
    get saved() {
      return done && changed.length === 0;
    },
    add(form) {
      forms.add(form);
      return () => forms.delete(form);
    },
    async save() {
      if (saving) return;
      saving = true;
      // One after the other, because each continues from the version that the one before stored.
      for (const form of changed) {
        done = await form.save();
        if (!done) break;
      }
      saving = false;
    },
  };
}
