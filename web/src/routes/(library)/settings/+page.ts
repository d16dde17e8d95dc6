import { redirect } from '@sveltejs/kit';

/** The account settings open with the profile. */
export const load = () => redirect(307, '/settings/profile');
