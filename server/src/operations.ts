import { operations } from '@vitrine/contract/operations';
import { showBuildInfo } from './admin/build-info.ts';
import { changePublicMode, showPublicMode } from './admin/public-mode.ts';
import { showAppearance } from './appearance/show.ts';
import { file, variant } from './assets/bytes.ts';
import { create as createAsset } from './assets/create.ts';
import { get as getAsset } from './assets/get.ts';
import { showAssetTypes, showPreviews } from './assets/ladder.ts';
import { reprocess } from './assets/reprocess.ts';
import { showCurrentUser, showMe } from './identity/session-user.ts';
import { setUp, showSetupStatus } from './identity/set-up.ts';
import { signIn } from './identity/sign-in.ts';
import { signOut } from './identity/sign-out.ts';
import type { Bound } from './platform/http/bind.ts';
import { byAsset } from './posts/by-asset.ts';
import { create as createPost } from './posts/create.ts';
import { feed } from './posts/feed.ts';
import { get as getPost } from './posts/get.ts';

const bound: readonly Bound[] = [
  showSetupStatus,
  setUp,
  signIn,
  signOut,
  showCurrentUser,
  showMe,
  createAsset,
  getAsset,
  reprocess,
  file,
  variant,
  showPreviews,
  showAssetTypes,
  createPost,
  feed,
  getPost,
  byAsset,
  showPublicMode,
  changePublicMode,
  showAppearance,
  showBuildInfo,
];

/** Every operation of the contract with its handler; throws when one has none or more than one. */
export function boundOperations(): readonly Bound[] {
  const ids = bound.map(({ operation }) => operation.id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  const missing = Object.keys(operations).find((id) => !ids.includes(id));
  if (twice !== undefined) throw new Error(`operation ${twice} has more than one handler`);
  if (missing !== undefined) throw new Error(`operation ${missing} has no handler`);
  return bound;
}
