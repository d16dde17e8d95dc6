const key = 'vitrine.featured';

/** Whether there was a rail when this browser looked last, so that its place is held while it is read. */
export function railExpected(storage: Pick<Storage, 'getItem'>): boolean {
  return storage.getItem(key) === 'yes';
}

export function noteRail(storage: Pick<Storage, 'setItem' | 'removeItem'>, there: boolean): void {
  if (there) storage.setItem(key, 'yes');
  else storage.removeItem(key);
}
