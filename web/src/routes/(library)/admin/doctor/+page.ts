/** The checks take a while, so the page appears without them. */
export const load = () => ({ title: 'Doctor' });
