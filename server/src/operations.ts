import { operations } from '@vitrine/contract/operations';
import { showBuildInfo } from './admin/build-info.ts';
import { list as listExposed, restrict as restrictExposed } from './admin/exposed-assets.ts';
import { forget, retry, retryFailed } from './admin/job-acts.ts';
import { counts as jobCounts, list as listJobs } from './admin/job-list.ts';
import { changeMatureContent, showMatureContent } from './admin/mature-content.ts';
import { changePublicMode, showPublicMode } from './admin/public-mode.ts';
import { changeSite, showSite } from './admin/site.ts';
import { askToCount, showStorage } from './admin/storage.ts';
import { change as changeTexts, showForAdmin as showTextsForAdmin } from './admin/texts.ts';
import { chooseFonts, revert, select, serve, upload } from './appearance/logo.ts';
import { showAdminAppearance, showAppearance } from './appearance/show.ts';
import { file, stream, variant } from './assets/bytes.ts';
import { remove as deleteAsset } from './assets/delete.ts';
import { edit as editAsset } from './assets/edit.ts';
import {
  listAssetHistory as assetValueHistory,
  clearAssetValue,
  listAssetValues,
  setAssetValue as putAssetValue,
} from './assets/field-values.ts';
import { get as getAsset } from './assets/get.ts';
import { showAssetTypes, showPreviews } from './assets/ladder.ts';
import { list as listAssets } from './assets/list.ts';
import { media as getAssetMedia } from './assets/media.ts';
import { poster } from './assets/poster.ts';
import {
  change as changePreviewSettings,
  pause as pausePreviews,
  show as showPreviewSettings,
} from './assets/previews/settings.ts';
import { reprocess } from './assets/reprocess.ts';
import {
  get as getAssetShare,
  list as listAssetShares,
  put as putAssetShare,
  remove as removeAssetShare,
} from './assets/shares.ts';
import { setState as setAssetState } from './assets/state.ts';
import { tile } from './assets/tiles.ts';
import { exportCsv, list as listAudit } from './audit/list.ts';
import { changeRetention, showRetention } from './audit/retention.ts';
import { create as createCollection } from './collections/create.ts';
import { remove as deleteCollection } from './collections/delete.ts';
import { edit as editCollection } from './collections/edit.ts';
import {
  clearCollectionValue,
  listCollectionHistory as collectionValueHistory,
  listCollectionValues,
  setCollectionValue as putCollectionValue,
} from './collections/field-values.ts';
import { get as getCollection, list as listCollections } from './collections/list.ts';
import { order as orderCollection } from './collections/order.ts';
import { add as addToCollection, remove as removeFromCollection } from './collections/place.ts';
import {
  remove as deleteCollectionShare,
  get as getCollectionShare,
  list as listCollectionShares,
  put as putCollectionShare,
} from './collections/shares.ts';
import { like as likeComment, unlike as unlikeComment } from './comments/like.ts';
import { replies, thread } from './comments/thread.ts';
import { create as createComment, remove as deleteComment, edit as editComment } from './comments/write.ts';
import { examine } from './doctor/show.ts';
import {
  cancel as cancelBackfill,
  show as showExtraction,
  start as startBackfill,
} from './extraction/backfill.ts';
import { list as listExtractionFailures, retry as retryExtraction } from './extraction/failures.ts';
import {
  list as defaultOverrides,
  remove as removeDefaultOverride,
  set as setDefaultOverride,
} from './fields/definitions/overrides.ts';
import { get as getField, list as listFields } from './fields/definitions/read.ts';
import {
  archive as archiveField,
  configureExtraction,
  create as createField,
  put as putField,
  update as updateField,
} from './fields/definitions/write.ts';
import { add as addTerms, change as changeTerm } from './fields/vocabulary/edit.ts';
import { offer } from './fields/vocabulary/list.ts';
import { merge as mergeTerms } from './fields/vocabulary/merge.ts';
import type { Bound } from './handle.ts';
import { changeOwnPassword, resetUserPassword } from './identity/change-password.ts';
import { end as endImpersonation, start as impersonate } from './identity/impersonation.ts';
import { changePreferences, showPreferences } from './identity/preferences.ts';
import {
  endOwnOtherSessions,
  endOwnSession,
  endSessionOfUser,
  endSessionsOfUser,
  ownSessions,
  sessionsOfUser,
} from './identity/session-list.ts';
import { showCurrentUser, showMe } from './identity/session-user.ts';
import { setUp, showSetupStatus } from './identity/set-up.ts';
import { signIn } from './identity/sign-in.ts';
import { signOut } from './identity/sign-out.ts';
import { mint, takeBack, tokens } from './identity/token-list.ts';
import {
  confirm,
  disable,
  enroll,
  removeForUser,
  renewRecovery,
  showTwoFactor,
} from './identity/two-factor.ts';
import { archive as linkArchive } from './links/archive.ts';
import { file as linkFile, stream as linkStream, variant as linkVariant } from './links/bytes.ts';
import {
  toAsset as createAssetLink,
  toCollection as createCollectionLink,
  toPost as createPostLink,
} from './links/create.ts';
import { edit as editLink } from './links/edit.ts';
import {
  ofAsset as listAssetLinks,
  ofCollection as listCollectionLinks,
  ofPost as listPostLinks,
} from './links/list.ts';
import { media as linkMedia, subtitles as linkSubtitles, tile as linkTile } from './links/media.ts';
import { open as openLink } from './links/open.ts';
import { revoke as revokeLink } from './links/revoke.ts';
import { unlock as unlockLink } from './links/unlock.ts';
import { changeMailSettings, showMailSettings } from './mail/settings.ts';
import { testMail } from './mail/test-message.ts';
import { events } from './notifications/events.ts';
import { list as listNotifications, read, readAll, showUnreadCount } from './notifications/list.ts';
import {
  changePreferences as changeNotificationPreferences,
  showPreferences as showNotificationPreferences,
} from './notifications/preferences.ts';
import { askToUnsubscribe, unsubscribe } from './notifications/unsubscribe.ts';
import { showWatch, unwatch, watch } from './notifications/watch.ts';
import { byAsset } from './posts/by-asset.ts';
import { create as createPost } from './posts/create.ts';
import { remove as deletePost } from './posts/delete.ts';
import { edit as editPost } from './posts/edit.ts';
import {
  feature as featurePost,
  list as listFeatured,
  order as orderFeatured,
  unfeature as unfeaturePost,
} from './posts/featured.ts';
import { feed } from './posts/feed.ts';
import { get as getPost } from './posts/get.ts';
import { posts as postsOfCollection } from './posts/in-collection.ts';
import { like, showLike, unlike } from './posts/like.ts';
import { ofAsset } from './posts/of-asset.ts';
import {
  remove as deleteShare,
  get as getShare,
  list as listShares,
  put as putShare,
} from './posts/shares.ts';
import { publish, unpublish, workflowStates } from './posts/workflow.ts';
import { preview as previewPublicMode } from './public/preview.ts';
import {
  showOwn as getOwnQuota,
  show as getQuotas,
  showOfUser as getUserQuota,
  change as setQuotas,
  changeOfUser as setUserQuota,
} from './quotas/admin.ts';
import { decide } from './requests/decide.ts';
import { all as allRequests, incoming, mine as myRequests } from './requests/queues.ts';
import { request as requestAccess } from './requests/request-access.ts';
import { appeal } from './requests/request-restore.ts';
import { capabilitiesOfUser, grant, liftRevoke, ownCapabilities, revoke, takeGrant } from './roles/grants.ts';
import { everyCapability, roles, setRole } from './roles/roles.ts';
import {
  create as createSearch,
  remove as deleteSearch,
  edit as editSearch,
  list as listSearches,
} from './search/saved.ts';
import { search } from './search/search.ts';
import { suggest } from './search/suggest.ts';
import { changeLanguage, showLanguage } from './search-index/language.ts';
import { get as getSubtitles, put as putSubtitles, remove as removeSubtitles } from './subtitles/tracks.ts';
import { followed as followedTags, follow as followTag, unfollow as unfollowTag } from './tags/follow.ts';
import { get as getTag, list as listTags } from './tags/list.ts';
import { merge as mergeTags, rename as renameTag } from './tags/rename.ts';
import { follow as followTeam, unfollow as unfollowTeam } from './teams/follow.ts';
import { followed, get as getTeam, list as listTeams, mine as myTeams } from './teams/list.ts';
import { add as addMember, list as listMembers, remove as removeMember } from './teams/members.ts';
import { add as addParent, remove as removeParent } from './teams/parents.ts';
import { close as closeTeam, create as createTeam, edit as editTeam, setHero } from './teams/write.ts';
import { list as listTrash } from './trash/list.ts';
import { restoreDeletedAsset, restoreDeletedCollection, restoreDeletedPost } from './trash/restore.ts';
import { changeTrashRetention, showTrashRetention } from './trash/retention.ts';
import { copies as listCopies } from './uploads/copies.ts';
import { create as createAsset } from './uploads/create-asset.ts';
import { get as getUpload, list as listUploads } from './uploads/list.ts';
import { append as appendToUpload, create as createUpload, remove as deleteUpload } from './uploads/tus.ts';
import { showAccountProfile } from './users/account-profile.ts';
import { create as createUser } from './users/create.ts';
import { edit as editUser } from './users/edit.ts';
import {
  create as createFeedView,
  remove as deleteFeedView,
  edit as editFeedView,
  list as listFeedViews,
  order as orderFeedViews,
} from './users/feed-views.ts';
import { follow, showFollow, unfollow } from './users/follow.ts';
import { getForAdmin, list as listUsers } from './users/list.ts';
import { getByUsername, get as getUser } from './users/profile.ts';
import { remove as deleteUser } from './users/remove.ts';
import { setStatus } from './users/status.ts';
import { byImage } from './visual/search.ts';
import {
  create as createWhiteboard,
  remove as deleteWhiteboard,
  list as listWhiteboards,
} from './whiteboards/whiteboards.ts';

const bound: readonly Bound[] = [
  showSetupStatus,
  setUp,
  signIn,
  signOut,
  showCurrentUser,
  showMe,
  ownSessions,
  endOwnSession,
  endOwnOtherSessions,
  sessionsOfUser,
  endSessionOfUser,
  endSessionsOfUser,
  tokens,
  mint,
  takeBack,
  showTwoFactor,
  enroll,
  confirm,
  disable,
  renewRecovery,
  removeForUser,
  showPreferences,
  changePreferences,
  getUser,
  getByUsername,
  editUser,
  showAccountProfile,
  changeOwnPassword,
  showFollow,
  follow,
  unfollow,
  listUsers,
  getForAdmin,
  createUser,
  setStatus,
  deleteUser,
  resetUserPassword,
  ownCapabilities,
  capabilitiesOfUser,
  roles,
  everyCapability,
  setRole,
  grant,
  takeGrant,
  revoke,
  liftRevoke,
  impersonate,
  endImpersonation,
  listAudit,
  exportCsv,
  showRetention,
  changeRetention,
  createAsset,
  getAsset,
  reprocess,
  listAssetShares,
  getAssetShare,
  putAssetShare,
  removeAssetShare,
  file,
  poster,
  variant,
  stream,
  tile,
  getAssetMedia,
  createUpload,
  listUploads,
  getUpload,
  appendToUpload,
  deleteUpload,
  listCopies,
  getQuotas,
  setQuotas,
  getOwnQuota,
  getUserQuota,
  setUserQuota,
  putSubtitles,
  getSubtitles,
  removeSubtitles,
  showPreviewSettings,
  changePreviewSettings,
  pausePreviews,
  showPreviews,
  showAssetTypes,
  createPost,
  feed,
  getPost,
  byAsset,
  listAssets,
  editAsset,
  setAssetState,
  listExposed,
  restrictExposed,
  deleteAsset,
  editPost,
  deletePost,
  publish,
  unpublish,
  workflowStates,
  showLike,
  like,
  unlike,
  listShares,
  getShare,
  putShare,
  deleteShare,
  ofAsset,
  thread,
  replies,
  createComment,
  editComment,
  deleteComment,
  likeComment,
  unlikeComment,
  createWhiteboard,
  listWhiteboards,
  deleteWhiteboard,
  listTrash,
  restoreDeletedPost,
  restoreDeletedAsset,
  restoreDeletedCollection,
  appeal,
  showTrashRetention,
  changeTrashRetention,
  requestAccess,
  myRequests,
  incoming,
  allRequests,
  decide,
  listTeams,
  getTeam,
  createTeam,
  editTeam,
  closeTeam,
  listMembers,
  addMember,
  removeMember,
  followTeam,
  unfollowTeam,
  addParent,
  removeParent,
  setHero,
  myTeams,
  followed,
  showMatureContent,
  changeMatureContent,
  showPublicMode,
  changePublicMode,
  previewPublicMode,
  showAppearance,
  serve,
  showAdminAppearance,
  chooseFonts,
  upload,
  select,
  revert,
  showSite,
  changeSite,
  search,
  suggest,
  listSearches,
  createSearch,
  editSearch,
  deleteSearch,
  showLanguage,
  changeLanguage,
  listAssetValues,
  putAssetValue,
  clearAssetValue,
  assetValueHistory,
  listCollectionValues,
  putCollectionValue,
  clearCollectionValue,
  collectionValueHistory,
  listFields,
  getField,
  createField,
  updateField,
  putField,
  archiveField,
  configureExtraction,
  offer,
  addTerms,
  changeTerm,
  mergeTerms,
  defaultOverrides,
  setDefaultOverride,
  removeDefaultOverride,
  byImage,
  showStorage,
  askToCount,
  listJobs,
  jobCounts,
  retry,
  retryFailed,
  forget,
  examine,
  showBuildInfo,
  showExtraction,
  startBackfill,
  cancelBackfill,
  listExtractionFailures,
  retryExtraction,
  createCollection,
  listCollections,
  getCollection,
  editCollection,
  deleteCollection,
  postsOfCollection,
  addToCollection,
  removeFromCollection,
  orderCollection,
  listCollectionShares,
  getCollectionShare,
  putCollectionShare,
  deleteCollectionShare,
  listNotifications,
  showUnreadCount,
  read,
  readAll,
  showNotificationPreferences,
  changeNotificationPreferences,
  showWatch,
  watch,
  unwatch,
  events,
  askToUnsubscribe,
  unsubscribe,
  showMailSettings,
  changeMailSettings,
  testMail,
  listTags,
  getTag,
  followTag,
  unfollowTag,
  followedTags,
  renameTag,
  mergeTags,
  listFeatured,
  featurePost,
  unfeaturePost,
  orderFeatured,
  listFeedViews,
  createFeedView,
  editFeedView,
  deleteFeedView,
  orderFeedViews,
  showTextsForAdmin,
  changeTexts,
  listPostLinks,
  createPostLink,
  listAssetLinks,
  createAssetLink,
  listCollectionLinks,
  createCollectionLink,
  editLink,
  revokeLink,
  openLink,
  unlockLink,
  linkVariant,
  linkStream,
  linkMedia,
  linkTile,
  linkSubtitles,
  linkFile,
  linkArchive,
];

/** Returns every operation of the contract with its handler; throws when one has none or more than one. */
export function boundOperations(): readonly Bound[] {
  const ids = bound.map(({ operation }) => operation.id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  const missing = Object.keys(operations).find((id) => !ids.includes(id));
  if (twice !== undefined) throw new Error(`operation ${twice} has more than one handler`);
  if (missing !== undefined) throw new Error(`operation ${missing} has no handler`);
  return bound;
}
