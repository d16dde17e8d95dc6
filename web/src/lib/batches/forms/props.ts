import type { Action } from '#lib/batches/actions.ts';
import type { Subject } from '#lib/batches/subjects.ts';

/** What every form of an action gets. */
export interface FormProps {
  subject: Subject;
  /** Called with the action, or undefined while it is not complete. */
  onaction: (action: Action | undefined) => void;
}
