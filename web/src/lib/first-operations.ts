import type { Operations } from '@vitrine/contract/operations';

/**
 * The operations that pages call before anything is pressed, or whose addresses they need. Their routes are part of the
 * first scripts; all others load together with the first call of one.
 */
export const firstOperations = [
  'addAssetVersion',
  'continueSignIn',
  'createAsset',
  'createUpload',
  'deleteUpload',
  'getAppearance',
  'getAssetFile',
  'getAssetVariant',
  'getMyCapabilities',
  'getPost',
  'getPreviews',
  'getSessionUser',
  'getSetupStatus',
  'getUnreadCount',
  'getUserByUsername',
  'getWatch',
  'listComments',
  'listDownloads',
  'listFeatured',
  'listFollowedTags',
  'listFollowedTeams',
  'listPostReviews',
  'listPosts',
  'listShareablePeers',
  'listSignInProviders',
  'listTags',
  'listWhiteboards',
  'login',
  'openLink',
  'putSubtitles',
  'signInWithPasskey',
  'startPasskeySignIn',
] as const;

export type FirstOperations = Pick<Operations, (typeof firstOperations)[number]>;
