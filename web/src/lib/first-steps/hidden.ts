const keyOf = (userRef: number) => `vitrine.first-steps.${userRef}`;

/** Returns whether the account has hidden the first steps in this browser, or has no more of them. */
export function areHidden(memory: Pick<Storage, 'getItem'>, userRef: number): boolean {
  return memory.getItem(keyOf(userRef)) !== null;
}

/** Neither shows nor reads the first steps of the account again in this browser. */
export function hide(memory: Pick<Storage, 'setItem'>, userRef: number): void {
  memory.setItem(keyOf(userRef), 'hidden');
}
