import type { OperationId, Operations } from '@vitrine/contract/operations';
import * as assetsBytes from '../content/assets/bytes.ts';
import * as assetsDelete from '../content/assets/delete.ts';
import * as assetsEdit from '../content/assets/edit.ts';
import * as assetsGet from '../content/assets/get.ts';
import * as assetsList from '../content/assets/list.ts';
import * as assetsMedia from '../content/assets/media.ts';
import * as assetsPoster from '../content/assets/poster.ts';
import * as assetsPreviewsSettings from '../content/assets/previews/settings.ts';
import * as assetsReprocess from '../content/assets/reprocess.ts';
import * as assetsShares from '../content/assets/shares.ts';
import * as assetsState from '../content/assets/state.ts';
import * as assetsTiles from '../content/assets/tiles.ts';
import * as collectionsCreate from '../content/collections/create.ts';
import * as collectionsDelete from '../content/collections/delete.ts';
import * as collectionsEdit from '../content/collections/edit.ts';
import * as collectionsList from '../content/collections/list.ts';
import * as collectionsOrder from '../content/collections/order.ts';
import * as collectionsPlace from '../content/collections/place.ts';
import * as collectionsShares from '../content/collections/shares.ts';
import * as commentsLike from '../content/comments/like.ts';
import * as commentsThread from '../content/comments/thread.ts';
import * as commentsWrite from '../content/comments/write.ts';
import * as extractionBackfill from '../content/extraction/backfill.ts';
import * as extractionFailures from '../content/extraction/failures.ts';
import * as fieldValues from '../content/field-values.ts';
import * as fieldsDefinitionsOverrides from '../content/fields/definitions/overrides.ts';
import * as fieldsDefinitionsRead from '../content/fields/definitions/read.ts';
import * as fieldsDefinitionsWrite from '../content/fields/definitions/write.ts';
import * as fieldsVocabularyEdit from '../content/fields/vocabulary/edit.ts';
import * as fieldsVocabularyList from '../content/fields/vocabulary/list.ts';
import * as fieldsVocabularyMerge from '../content/fields/vocabulary/merge.ts';
import * as linksArchive from '../content/links/archive.ts';
import * as linksBytes from '../content/links/bytes.ts';
import * as linksCreate from '../content/links/create.ts';
import * as linksEdit from '../content/links/edit.ts';
import * as linksList from '../content/links/list.ts';
import * as linksMedia from '../content/links/media.ts';
import * as linksOpen from '../content/links/open.ts';
import * as linksRevoke from '../content/links/revoke.ts';
import * as linksUnlock from '../content/links/unlock.ts';
import * as postsCreate from '../content/posts/create.ts';
import * as postsDelete from '../content/posts/delete.ts';
import * as postsEdit from '../content/posts/edit.ts';
import * as postsFeatured from '../content/posts/featured.ts';
import * as postsFeed from '../content/posts/feed.ts';
import * as postsFeedWithAsset from '../content/posts/feed-with-asset.ts';
import * as postsGet from '../content/posts/get.ts';
import * as postsInCollection from '../content/posts/in-collection.ts';
import * as postsLike from '../content/posts/like.ts';
import * as postsShares from '../content/posts/shares.ts';
import * as postsUsageOfAsset from '../content/posts/usage-of-asset.ts';
import * as postsWorkflow from '../content/posts/workflow.ts';
import * as publicPreview from '../content/public/preview.ts';
import * as requestsDecide from '../content/requests/decide.ts';
import * as requestsQueues from '../content/requests/queues.ts';
import * as requestsRequestAccess from '../content/requests/request-access.ts';
import * as requestsRequestRestore from '../content/requests/request-restore.ts';
import * as searchFeedViews from '../content/search/feed-views.ts';
import * as searchSaved from '../content/search/saved.ts';
import * as search from '../content/search/search.ts';
import * as searchSuggest from '../content/search/suggest.ts';
import * as searchIndexLanguage from '../content/search-index/language.ts';
import * as subtitlesTracks from '../content/subtitles/tracks.ts';
import * as tagsFollow from '../content/tags/follow.ts';
import * as tagsList from '../content/tags/list.ts';
import * as tagsRename from '../content/tags/rename.ts';
import * as trashList from '../content/trash/list.ts';
import * as trashRestore from '../content/trash/restore.ts';
import * as trashRetention from '../content/trash/retention.ts';
import * as uploadsCopies from '../content/uploads/copies.ts';
import * as uploadsCreateAsset from '../content/uploads/create-asset.ts';
import * as uploadsList from '../content/uploads/list.ts';
import * as uploadsTus from '../content/uploads/tus.ts';
import * as visualSearch from '../content/visual/search.ts';
import * as whiteboards from '../content/whiteboards.ts';
import type { BoundOperation } from '../core/handle.ts';
import * as activitypubAccount from '../exchange/activitypub/opt-in.ts';
import * as activitypubSwitch from '../exchange/activitypub/switch.ts';
import * as federationFields from '../exchange/federation/fields/decide.ts';
import * as federationIdentity from '../exchange/federation/identity.ts';
import * as federationPair from '../exchange/federation/peers/pair.ts';
import * as federationPeers from '../exchange/federation/peers/show.ts';
import * as federationQueue from '../exchange/federation/queue.ts';
import * as federationRotations from '../exchange/federation/rotations.ts';
import * as federationSensitive from '../exchange/federation/shares/sensitive.ts';
import * as federationShares from '../exchange/federation/shares/share.ts';
import * as adminBuildInfo from '../operate/admin/build-info.ts';
import * as adminExposedAssets from '../operate/admin/exposed-assets.ts';
import * as adminJobActs from '../operate/admin/job-acts.ts';
import * as adminJobList from '../operate/admin/job-list.ts';
import * as adminMatureContent from '../operate/admin/mature-content.ts';
import * as adminPublicMode from '../operate/admin/public-mode.ts';
import * as adminRemoveAccount from '../operate/admin/remove-account.ts';
import * as adminSite from '../operate/admin/site.ts';
import * as adminTexts from '../operate/admin/texts.ts';
import * as appearanceLogo from '../operate/appearance/logo.ts';
import * as appearanceShow from '../operate/appearance/show.ts';
import * as doctorShow from '../operate/doctor/show.ts';
import * as setUpSetUp from '../operate/set-up/set-up.ts';
import * as adminStorage from '../operate/storage/overview.ts';
import * as auditList from '../people/audit/list.ts';
import * as auditRetention from '../people/audit/retention.ts';
import * as identityChangePassword from '../people/identity/change-password.ts';
import * as identityImpersonation from '../people/identity/impersonation.ts';
import * as identityPreferences from '../people/identity/preferences.ts';
import * as identitySessionList from '../people/identity/session-list.ts';
import * as identitySessionUser from '../people/identity/session-user.ts';
import * as identitySignIn from '../people/identity/sign-in.ts';
import * as identitySignOut from '../people/identity/sign-out.ts';
import * as identityTokenList from '../people/identity/token-list.ts';
import * as identityTwoFactor from '../people/identity/two-factor.ts';
import * as mailSettings from '../people/mail/settings.ts';
import * as mailTestMessage from '../people/mail/test-message.ts';
import * as notificationsEvents from '../people/notifications/events.ts';
import * as notificationsList from '../people/notifications/list.ts';
import * as notificationsPreferences from '../people/notifications/preferences.ts';
import * as notificationsUnsubscribe from '../people/notifications/unsubscribe.ts';
import * as notificationsWatch from '../people/notifications/watch.ts';
import * as quotasAdmin from '../people/quotas/admin.ts';
import * as rolesGrants from '../people/roles/grants.ts';
import * as roles from '../people/roles/roles.ts';
import * as teamsFollow from '../people/teams/follow.ts';
import * as teamsList from '../people/teams/list.ts';
import * as teamsMembers from '../people/teams/members.ts';
import * as teamsParents from '../people/teams/parents.ts';
import * as teamsWrite from '../people/teams/write.ts';
import * as usersAccountProfile from '../people/users/account-profile.ts';
import * as usersCreate from '../people/users/create.ts';
import * as usersEdit from '../people/users/edit.ts';
import * as usersFollow from '../people/users/follow.ts';
import * as usersList from '../people/users/list.ts';
import * as usersProfile from '../people/users/profile.ts';
import * as usersStatus from '../people/users/status.ts';

/** Every operation of the contract has exactly one handler; the type refuses a gap. */
export const handlers: { readonly [Id in OperationId]: BoundOperation<Operations[Id]> } = {
  getSetupStatus: setUpSetUp.showSetupStatus,
  completeSetup: setUpSetUp.setUp,
  login: identitySignIn.signIn,
  logout: identitySignOut.signOut,
  getSessionUser: identitySessionUser.showCurrentUser,
  getMe: identitySessionUser.showMe,
  listSessions: identitySessionList.ownSessions,
  endSession: identitySessionList.endOwnSession,
  endOtherSessions: identitySessionList.endOwnOtherSessions,
  listUserSessions: identitySessionList.sessionsOfUser,
  endUserSession: identitySessionList.endSessionOfUser,
  endUserSessions: identitySessionList.endSessionsOfUser,
  listTokens: identityTokenList.tokens,
  createToken: identityTokenList.mint,
  deleteToken: identityTokenList.revokeToken,
  getTwoFactor: identityTwoFactor.showTwoFactor,
  enrollTwoFactor: identityTwoFactor.enroll,
  confirmTwoFactor: identityTwoFactor.confirm,
  disableTwoFactor: identityTwoFactor.disable,
  renewRecoveryCodes: identityTwoFactor.renewRecovery,
  removeUserTwoFactor: identityTwoFactor.removeForUser,
  getPreferences: identityPreferences.showPreferences,
  updatePreferences: identityPreferences.changePreferences,
  getUser: usersProfile.get,
  getUserByUsername: usersProfile.getByUsername,
  updateUser: usersEdit.edit,
  getAccountProfile: usersAccountProfile.showAccountProfile,
  changePassword: identityChangePassword.changeOwnPassword,
  getUserFollow: usersFollow.showFollow,
  followUser: usersFollow.follow,
  unfollowUser: usersFollow.unfollow,
  listUsers: usersList.list,
  getAdminUser: usersList.getForAdmin,
  createUser: usersCreate.create,
  setUserStatus: usersStatus.setStatus,
  deleteUser: adminRemoveAccount.remove,
  resetPassword: identityChangePassword.resetUserPassword,
  getMyCapabilities: rolesGrants.ownCapabilities,
  getUserCapabilities: rolesGrants.capabilitiesOfUser,
  listRoles: roles.roles,
  listCapabilities: roles.everyCapability,
  setUserRole: roles.setRole,
  grantCapability: rolesGrants.grant,
  removeGrant: rolesGrants.revokeGrant,
  revokeCapability: rolesGrants.revoke,
  removeRevoke: rolesGrants.liftRevoke,
  impersonate: identityImpersonation.start,
  endImpersonation: identityImpersonation.end,
  listAudit: auditList.list,
  exportAudit: auditList.exportCsv,
  getAuditRetention: auditRetention.showRetention,
  setAuditRetention: auditRetention.changeRetention,
  createAsset: uploadsCreateAsset.create,
  getAsset: assetsGet.get,
  reprocessAsset: assetsReprocess.reprocess,
  getAssetFile: assetsBytes.file,
  setAssetPoster: assetsPoster.poster,
  getAssetVariant: assetsBytes.variant,
  getAssetStream: assetsBytes.stream,
  getAssetTile: assetsTiles.tile,
  getAssetMedia: assetsMedia.media,
  createUpload: uploadsTus.create,
  listUploads: uploadsList.list,
  getUpload: uploadsList.get,
  appendToUpload: uploadsTus.append,
  deleteUpload: uploadsTus.remove,
  listCopies: uploadsCopies.copies,
  getQuotas: quotasAdmin.show,
  setQuotas: quotasAdmin.change,
  getOwnQuota: quotasAdmin.showOwn,
  getUserQuota: quotasAdmin.showOfUser,
  setUserQuota: quotasAdmin.changeOfUser,
  putSubtitles: subtitlesTracks.put,
  getSubtitles: subtitlesTracks.get,
  deleteSubtitles: subtitlesTracks.remove,
  getPreviewSettings: assetsPreviewsSettings.show,
  setPreviewSettings: assetsPreviewsSettings.change,
  pausePreviewRendering: assetsPreviewsSettings.pause,
  getPreviews: assetsPreviewsSettings.showLadder,
  listAssetTypes: assetsList.listTypes,
  createPost: postsCreate.create,
  listPosts: postsFeed.feed,
  getPost: postsGet.get,
  listPostsByAsset: postsFeedWithAsset.byAsset,
  listAssets: assetsList.list,
  updateAsset: assetsEdit.edit,
  setAssetState: assetsState.setState,
  listExposedAssets: adminExposedAssets.list,
  restrictAssets: adminExposedAssets.restrict,
  listAssetShares: assetsShares.list,
  getAssetShare: assetsShares.get,
  putAssetShare: assetsShares.put,
  deleteAssetShare: assetsShares.remove,
  deleteAsset: assetsDelete.remove,
  updatePost: postsEdit.edit,
  deletePost: postsDelete.remove,
  publishPost: postsWorkflow.publish,
  unpublishPost: postsWorkflow.unpublish,
  listWorkflowStates: postsWorkflow.workflowStates,
  getLike: postsLike.showLike,
  likePost: postsLike.like,
  unlikePost: postsLike.unlike,
  listShares: postsShares.list,
  getShare: postsShares.get,
  putShare: postsShares.put,
  deleteShare: postsShares.remove,
  listAssetPosts: postsUsageOfAsset.ofAsset,
  listComments: commentsThread.thread,
  listReplies: commentsThread.replies,
  createComment: commentsWrite.create,
  updateComment: commentsWrite.edit,
  deleteComment: commentsWrite.remove,
  likeComment: commentsLike.like,
  unlikeComment: commentsLike.unlike,
  createWhiteboard: whiteboards.create,
  listWhiteboards: whiteboards.list,
  deleteWhiteboard: whiteboards.remove,
  listTrash: trashList.list,
  restorePost: trashRestore.restoreDeletedPost,
  restoreAsset: trashRestore.restoreDeletedAsset,
  restoreCollection: trashRestore.restoreDeletedCollection,
  requestRestore: requestsRequestRestore.handleRequestRestore,
  getTrashRetention: trashRetention.showTrashRetention,
  setTrashRetention: trashRetention.changeTrashRetention,
  requestAccess: requestsRequestAccess.request,
  getMatureContent: adminMatureContent.showMatureContent,
  setMatureContent: adminMatureContent.changeMatureContent,
  listTeams: teamsList.list,
  getTeam: teamsList.get,
  createTeam: teamsWrite.create,
  updateTeam: teamsWrite.edit,
  deleteTeam: teamsWrite.close,
  listTeamMembers: teamsMembers.list,
  addTeamMember: teamsMembers.add,
  removeTeamMember: teamsMembers.remove,
  followTeam: teamsFollow.follow,
  unfollowTeam: teamsFollow.unfollow,
  addTeamParent: teamsParents.add,
  removeTeamParent: teamsParents.remove,
  setTeamHero: teamsWrite.setHero,
  listMyTeams: teamsList.mine,
  listFollowedTeams: teamsList.followed,
  listMyRequests: requestsQueues.mine,
  listIncomingRequests: requestsQueues.incoming,
  listAllRequests: requestsQueues.all,
  decideRequest: requestsDecide.decide,
  getPublicMode: adminPublicMode.showPublicMode,
  setPublicMode: adminPublicMode.changePublicMode,
  previewPublicMode: publicPreview.preview,
  getAppearance: appearanceShow.showAppearance,
  getLogo: appearanceLogo.serve,
  getAdminAppearance: appearanceShow.showAdminAppearance,
  updateAppearance: appearanceLogo.chooseFonts,
  uploadLogo: appearanceLogo.upload,
  selectLogo: appearanceLogo.select,
  revertLogo: appearanceLogo.revert,
  getSite: adminSite.showSite,
  updateSite: adminSite.changeSite,
  search: search.search,
  suggest: searchSuggest.suggest,
  listSearches: searchSaved.list,
  createSearch: searchSaved.create,
  updateSearch: searchSaved.edit,
  deleteSearch: searchSaved.remove,
  getSearchSettings: searchIndexLanguage.showLanguage,
  updateSearchSettings: searchIndexLanguage.changeLanguage,
  listAssetFieldValues: fieldValues.listOfAsset,
  setAssetFieldValue: fieldValues.setOfAsset,
  clearAssetFieldValue: fieldValues.clearOfAsset,
  listAssetFieldHistory: fieldValues.historyOfAsset,
  listCollectionFieldValues: fieldValues.listOfCollection,
  setCollectionFieldValue: fieldValues.setOfCollection,
  clearCollectionFieldValue: fieldValues.clearOfCollection,
  listCollectionFieldHistory: fieldValues.historyOfCollection,
  listFields: fieldsDefinitionsRead.list,
  getField: fieldsDefinitionsRead.get,
  createField: fieldsDefinitionsWrite.create,
  updateField: fieldsDefinitionsWrite.update,
  putField: fieldsDefinitionsWrite.put,
  archiveField: fieldsDefinitionsWrite.archive,
  setFieldExtraction: fieldsDefinitionsWrite.configureExtraction,
  listFieldValues: fieldsVocabularyList.offer,
  addFieldTerms: fieldsVocabularyEdit.add,
  updateFieldTerm: fieldsVocabularyEdit.change,
  mergeFieldTerms: fieldsVocabularyMerge.merge,
  listDefaultOverrides: fieldsDefinitionsOverrides.list,
  setDefaultOverride: fieldsDefinitionsOverrides.set,
  removeDefaultOverride: fieldsDefinitionsOverrides.remove,
  searchByImage: visualSearch.byImage,
  getStorage: adminStorage.showStorage,
  countStorage: adminStorage.requestStorageCount,
  listJobs: adminJobList.list,
  countJobs: adminJobList.counts,
  retryJob: adminJobActs.retry,
  retryFailedJobs: adminJobActs.retryFailed,
  deleteJob: adminJobActs.forget,
  getDoctor: doctorShow.examine,
  getBuildInfo: adminBuildInfo.showBuildInfo,
  getExtraction: extractionBackfill.show,
  startBackfill: extractionBackfill.start,
  cancelBackfill: extractionBackfill.cancel,
  listExtractionFailures: extractionFailures.list,
  retryExtraction: extractionFailures.retry,
  createCollection: collectionsCreate.create,
  listCollections: collectionsList.list,
  getCollection: collectionsList.get,
  updateCollection: collectionsEdit.edit,
  deleteCollection: collectionsDelete.remove,
  listCollectionPosts: postsInCollection.posts,
  addToCollection: collectionsPlace.add,
  removeFromCollection: collectionsPlace.remove,
  orderCollection: collectionsOrder.order,
  listCollectionShares: collectionsShares.list,
  getCollectionShare: collectionsShares.get,
  putCollectionShare: collectionsShares.put,
  deleteCollectionShare: collectionsShares.remove,
  listNotifications: notificationsList.list,
  getUnreadCount: notificationsList.showUnreadCount,
  readNotification: notificationsList.read,
  readAllNotifications: notificationsList.readAll,
  getNotificationPreferences: notificationsPreferences.showPreferences,
  updateNotificationPreferences: notificationsPreferences.changePreferences,
  getWatch: notificationsWatch.showWatch,
  watchPost: notificationsWatch.watch,
  unwatchPost: notificationsWatch.unwatch,
  streamEvents: notificationsEvents.events,
  askUnsubscribe: notificationsUnsubscribe.showUnsubscribeForm,
  unsubscribeMail: notificationsUnsubscribe.unsubscribe,
  getMailSettings: mailSettings.showMailSettings,
  updateMailSettings: mailSettings.changeMailSettings,
  sendTestMail: mailTestMessage.testMail,
  listTags: tagsList.list,
  getTag: tagsList.get,
  followTag: tagsFollow.follow,
  unfollowTag: tagsFollow.unfollow,
  listFollowedTags: tagsFollow.followed,
  renameTag: tagsRename.rename,
  mergeTags: tagsRename.merge,
  listFeatured: postsFeatured.list,
  featurePost: postsFeatured.feature,
  unfeaturePost: postsFeatured.unfeature,
  orderFeatured: postsFeatured.order,
  listFeedViews: searchFeedViews.list,
  createFeedView: searchFeedViews.create,
  updateFeedView: searchFeedViews.edit,
  deleteFeedView: searchFeedViews.remove,
  orderFeedViews: searchFeedViews.order,
  getAdminTexts: adminTexts.showForAdmin,
  setTexts: adminTexts.change,
  listPostLinks: linksList.ofPost,
  createPostLink: linksCreate.toPost,
  listAssetLinks: linksList.ofAsset,
  createAssetLink: linksCreate.toAsset,
  listCollectionLinks: linksList.ofCollection,
  createCollectionLink: linksCreate.toCollection,
  updateLink: linksEdit.edit,
  revokeLink: linksRevoke.revoke,
  openLink: linksOpen.open,
  unlockLink: linksUnlock.unlock,
  getLinkVariant: linksBytes.variant,
  getLinkStream: linksBytes.stream,
  getLinkMedia: linksMedia.media,
  getLinkTile: linksMedia.tile,
  getLinkSubtitles: linksMedia.subtitles,
  getLinkFile: linksBytes.file,
  getLinkArchive: linksArchive.archive,
  getActivityPub: activitypubSwitch.showSwitch,
  updateActivityPub: activitypubSwitch.changeSwitch,
  getFollowableAccount: activitypubAccount.showOwn,
  updateFollowableAccount: activitypubAccount.changeOwn,
  getFederation: federationIdentity.show,
  updateFederation: federationSensitive.updateFederation,
  rotateInstallKey: federationRotations.rotateInstall,
  rotateOwnKeys: federationRotations.rotateOwn,
  listPeers: federationPeers.list,
  getPeer: federationPeers.get,
  addPeer: federationPair.add,
  acceptPeer: federationPair.accept,
  disablePeer: federationPair.disable,
  updatePeer: federationPair.update,
  removePeer: federationPair.remove,
  listPeerQueue: federationQueue.list,
  retryPeerQueue: federationQueue.retry,
  listFederationRejections: federationQueue.rejections,
  listPeerFields: federationFields.list,
  decidePeerField: federationFields.decide,
  resetPeerField: federationFields.reset,
  listShareablePeers: federationPeers.listShareable,
  listPostPeers: federationShares.ofPost,
  getPostPeer: federationShares.getOfPost,
  putPostPeer: federationShares.putOfPost,
  deletePostPeer: federationShares.removeOfPost,
  listAssetPeers: federationShares.ofAsset,
  getAssetPeer: federationShares.getOfAsset,
  putAssetPeer: federationShares.putOfAsset,
  deleteAssetPeer: federationShares.removeOfAsset,
  listCollectionPeers: federationShares.ofCollection,
  getCollectionPeer: federationShares.getOfCollection,
  putCollectionPeer: federationShares.putOfCollection,
  deleteCollectionPeer: federationShares.removeOfCollection,
};
