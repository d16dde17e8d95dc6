import type { PageLoad } from './$types';

/** How the library presents itself, and nothing of who may be signed in here. */
export const load: PageLoad = async ({ parent }) => {
  const { service } = await parent();
  return { visitorState: { appearance: await service.client.call('getAppearance') } };
};
