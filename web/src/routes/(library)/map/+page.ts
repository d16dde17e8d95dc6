import type { PageLoad } from './$types';

export const load: PageLoad = () => ({ title: 'Map' });
