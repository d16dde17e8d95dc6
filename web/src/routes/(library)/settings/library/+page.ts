import { redirect } from '@sveltejs/kit';

/** The library's settings are administration pages. */
export const load = () => redirect(307, '/admin/site');
