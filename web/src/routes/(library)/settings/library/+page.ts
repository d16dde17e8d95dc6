import { redirect } from '@sveltejs/kit';

/** The library's settings are among the pages of its administration. */
export const load = () => redirect(307, '/admin/site');
