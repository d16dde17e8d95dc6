import type { PageLoad } from './$types';

/** Loads the presentation of the library, without the signed-in user. */
export const load: PageLoad = async ({ parent }) => {
  const { service } = await parent();
  return { visitorState: { appearance: await service.client.call('getAppearance') } };
};
