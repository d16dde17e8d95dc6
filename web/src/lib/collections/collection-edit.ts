import type { Collection, CollectionCreate, CollectionUpdate } from '@vitrine/contract/collections';
import type { SessionUser } from '@vitrine/contract/identity';
import type { Visibility } from '@vitrine/contract/visibilities';
import { holds } from '#lib/identity/allowance.ts';
import { dayFieldOf, expiryOf } from '#lib/time/expiry.ts';

/** The editable properties of a collection, as in the form. */
export interface CollectionEdit {
  readonly name: string;
  readonly description: string;
  readonly visibility: Visibility;
  /** The last day on which others can open it, `YYYY-MM-DD`; empty for no end. */
  readonly lastDay: string;
}

export const emptyEdit: CollectionEdit = { name: '', description: '', visibility: 'org-only', lastDay: '' };

/** Returns the form of a collection. */
export function editOf({ name, description, visibility, expires_at }: Collection): CollectionEdit {
  return {
    name,
    description,
    visibility,
    lastDay: expires_at === null ? '' : dayFieldOf(new Date(expires_at)),
  };
}

/** Returns whether the day is valid: empty, in the future, or unchanged. */
export function isDayRight({ lastDay }: CollectionEdit, before: CollectionEdit, now: Date): boolean {
  return lastDay === '' || lastDay === before.lastDay || expiryOf('date', lastDay, now) !== undefined;
}

function endOf(lastDay: string, now: Date): string | undefined {
  return lastDay === '' ? undefined : (expiryOf('date', lastDay, now) ?? undefined);
}

/** Returns the request that creates the collection. */
export function creationOf(edit: CollectionEdit, now: Date): CollectionCreate {
  const end = endOf(edit.lastDay, now);
  const description = edit.description.trim();
  return {
    name: edit.name.trim(),
    visibility: edit.visibility,
    ...(description === '' ? {} : { description }),
    ...(end === undefined ? {} : { expires_at: end }),
  };
}

/** Returns the changes that turn the collection into the form. */
export function patchOf(before: CollectionEdit, edit: CollectionEdit, now: Date): CollectionUpdate {
  const [name, description] = [edit.name.trim(), edit.description.trim()];
  const end = endOf(edit.lastDay, now);
  return {
    ...(name === before.name ? {} : { name }),
    ...(description === before.description.trim() ? {} : { description }),
    ...(edit.visibility === before.visibility ? {} : { visibility: edit.visibility }),
    ...(edit.lastDay !== before.lastDay && end !== undefined ? { expires_at: end } : {}),
    ...(edit.lastDay === '' && before.lastDay !== '' ? { clear_expires_at: true } : {}),
  };
}

/**
 * Returns whether to show actions that change a collection: to its owner and to administrators, unless it comes from
 * another library. The service checks again.
 */
export function mayEdit(collection: Collection, user: SessionUser | null): boolean {
  if (user === null || collection.origin !== undefined) return false;
  return collection.owner_user_ref === user.ref || holds(user, 'system.admin');
}
