/** The picture is chosen on the page, so its results come later. */
export const load = () => ({ title: 'Search by picture' });
