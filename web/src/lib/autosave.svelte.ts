/** A form that can be saved by itself. */
interface Autosaved {
  /** What is edited; another object after each change. */
  readonly edit: unknown;
  readonly isDirty: boolean;
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** What was stored elsewhere since; saving waits for the decision of the user. */
  readonly newer: unknown;
  save(): Promise<boolean>;
}

/** Milliseconds without a change after which a form is saved, and the longest time that a change waits. */
const idle = 700;
const longest = 3000;
/** The time until a failed save is repeated. */
const again = 10_000;

/** Saves a form by itself while `isOn`, until the component is destroyed. */
export function keepSaved(form: Autosaved, isOn: () => boolean): void {
  let since: number | undefined;
  $effect(() => {
    void form.edit;
    if (!form.isDirty) since = undefined;
    if (!isOn() || !form.isDirty || form.busy || form.newer !== undefined) return;
    const now = Date.now();
    since ??= now;
    const wait = form.problem === undefined ? Math.max(0, Math.min(idle, since + longest - now)) : again;
    const timer = setTimeout(() => void form.save(), wait);
    return () => clearTimeout(timer);
  });
}
