/** Which navigation may leave unsaved forms, and whether the user is being asked. Shared by all forms of the page. */
let passing: string | undefined;
let asking = false;
let passesAny = false;

/** Lets the next navigation leave unsaved forms without a question, for example when signing out. */
export function leaveFreely(): void {
  passesAny = true;
}

/** Returns whether a navigation to this address was confirmed. */
export function mayLeaveTo(address: string): boolean {
  return passesAny || passing === address;
}

/** Begins to ask; false if another form asks already. */
export function beginAsking(): boolean {
  if (asking) return false;
  asking = true;
  return true;
}

/** Ends asking, with the address that may be opened now, if any. */
export function endAsking(address?: string): void {
  asking = false;
  passing = address;
}

/** Forgets what was confirmed, after a navigation. */
export function arrived(): void {
  passing = undefined;
  passesAny = false;
}
