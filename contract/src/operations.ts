import * as assets from './assets.ts';
import * as identity from './identity.ts';
import type { Operation } from './operation.ts';
import * as posts from './posts.ts';
import * as system from './system.ts';

/** spec part 9. */
export const apiVersion = '0.10.2';
export const basePath = '/api/v1';

/** Every operation of the interface, by id. */
export const operations = {
  getSetupStatus: identity.getSetupStatus,
  completeSetup: identity.completeSetup,
  login: identity.login,
  logout: identity.logout,
  getSessionUser: identity.getSessionUser,
  getMe: identity.getMe,
  createAsset: assets.createAsset,
  getAsset: assets.getAsset,
  reprocessAsset: assets.reprocessAsset,
  getAssetFile: assets.getAssetFile,
  getAssetVariant: assets.getAssetVariant,
  getPreviews: assets.getPreviews,
  listAssetTypes: assets.listAssetTypes,
  createPost: posts.createPost,
  listPosts: posts.listPosts,
  getPost: posts.getPost,
  listPostsByAsset: posts.listPostsByAsset,
  getPublicMode: system.getPublicMode,
  setPublicMode: system.setPublicMode,
  getAppearance: system.getAppearance,
  getBuildInfo: system.getBuildInfo,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
