import { redirect } from '@sveltejs/kit';

/** The account area opens with the profile. */
export const load = () => redirect(307, '/settings/profile');
