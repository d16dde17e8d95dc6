/** Returns 1, or -1 on a page that is written from right to left, where what comes next is to the left. */
export const rightward = (): 1 | -1 =>
  typeof document !== 'undefined' && document.documentElement.dir === 'rtl' ? -1 : 1;
