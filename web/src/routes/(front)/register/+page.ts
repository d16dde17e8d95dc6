import { error } from '@sveltejs/kit';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ parent }) => {
  const { visitorState } = await parent();
  if (!visitorState.registers)
    error(404, 'Ask an administrator for an account.', {
      heading: 'Registration is closed',
      back: { href: '/sign-in', label: 'To the sign-in page' },
    });
  return { title: 'Register' };
};
