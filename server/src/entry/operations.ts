import type { OperationId } from '@vitrine/contract/operations';
import * as annotationsCreate from '../content/annotations/create.ts';
import * as annotationsDrawing from '../content/annotations/drawing.ts';
import * as annotationsExports from '../content/annotations/exports/serve.ts';
import * as annotationsResolve from '../content/annotations/resolve.ts';
import * as approvalsSettings from '../content/approvals/settings.ts';
import * as archivesCreate from '../content/archives/create.ts';
import * as archivesDownload from '../content/archives/download.ts';
import * as archivesProgress from '../content/archives/progress.ts';
import * as assetsBytes from '../content/assets/bytes.ts';
import * as assetsDelete from '../content/assets/delete.ts';
import * as assetsEdit from '../content/assets/edit.ts';
import * as assetsGet from '../content/assets/get.ts';
import * as assetsHistory from '../content/assets/history.ts';
import * as assetsList from '../content/assets/list.ts';
import * as assetsMedia from '../content/assets/media.ts';
import * as assetsPoster from '../content/assets/poster.ts';
import * as assetsPreviewsSettings from '../content/assets/previews/settings.ts';
import * as assetsRelated from '../content/assets/related.ts';
import * as assetsReprocess from '../content/assets/reprocess.ts';
import * as assetsShares from '../content/assets/shares.ts';
import * as assetsState from '../content/assets/state.ts';
import * as assetsTiles from '../content/assets/tiles.ts';
import * as batchesShow from '../content/batches/show.ts';
import * as batchesStart from '../content/batches/start.ts';
import * as browsingBaseMap from '../content/browsing/base-map.ts';
import * as browsingPlaces from '../content/browsing/places.ts';
import * as browsingSimilar from '../content/browsing/similar.ts';
import * as browsingTimeline from '../content/browsing/timeline.ts';
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
import * as csvExport from '../content/csv/export.ts';
import * as csvImport from '../content/csv/import.ts';
import * as downloadsFile from '../content/downloads/file.ts';
import * as downloads from '../content/downloads/presets.ts';
import * as whiteboardDrawings from '../content/drawings/whiteboard.ts';
import * as duplicatesList from '../content/duplicates/list.ts';
import * as duplicatesResolve from '../content/duplicates/resolve.ts';
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
import * as linksDecisions from '../content/links/decisions.ts';
import * as linksEdit from '../content/links/edit.ts';
import * as linksFeedback from '../content/links/feedback.ts';
import * as linksGuestComments from '../content/links/guest-comments.ts';
import * as linksGuestName from '../content/links/guest-name.ts';
import * as linksGuests from '../content/links/guests.ts';
import * as linksList from '../content/links/list.ts';
import * as linksListings from '../content/links/listings.ts';
import * as linksMedia from '../content/links/media.ts';
import * as linksOpen from '../content/links/open.ts';
import * as linksPicks from '../content/links/picks.ts';
import * as linksRenew from '../content/links/renew.ts';
import * as linksRevoke from '../content/links/revoke.ts';
import * as linksUnlock from '../content/links/unlock.ts';
import * as linksUses from '../content/links/uses.ts';
import * as liveLinkStream from '../content/live/link-stream.ts';
import * as liveStream from '../content/live/stream.ts';
import * as collectionItems from '../content/posts/collection-items.ts';
import * as postsCreate from '../content/posts/create.ts';
import * as postsDelete from '../content/posts/delete.ts';
import * as postsEdit from '../content/posts/edit.ts';
import * as postsFeatured from '../content/posts/featured.ts';
import * as postsFeed from '../content/posts/feed.ts';
import * as postsFeedWithAsset from '../content/posts/feed-with-asset.ts';
import * as postsGet from '../content/posts/get.ts';
import * as postsInCollection from '../content/posts/in-collection.ts';
import * as postsLike from '../content/posts/like.ts';
import * as postsPins from '../content/posts/pins.ts';
import * as postsShares from '../content/posts/shares.ts';
import * as postsUsageOfAsset from '../content/posts/usage-of-asset.ts';
import * as postsWorkflow from '../content/posts/workflow.ts';
import * as publicPreview from '../content/public/preview.ts';
import * as requestsDecide from '../content/requests/decide.ts';
import * as requestsQueues from '../content/requests/queues.ts';
import * as requestsRequestAccess from '../content/requests/request-access.ts';
import * as requestsRequestRestore from '../content/requests/request-restore.ts';
import * as reviewsDecide from '../content/reviews/decide.ts';
import * as reviewsList from '../content/reviews/list.ts';
import * as reviewsRequest from '../content/reviews/request.ts';
import * as roots from '../content/roots/administer.ts';
import * as searchFeedViews from '../content/search/feed-views.ts';
import * as searchSaved from '../content/search/saved.ts';
import * as search from '../content/search/search.ts';
import * as searchSuggest from '../content/search/suggest.ts';
import * as searchIndexLanguage from '../content/search-index/language.ts';
import * as stacks from '../content/stacks/stacks.ts';
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
import * as versionsAdd from '../content/versions/add.ts';
import * as versionsDelete from '../content/versions/delete.ts';
import * as versionsKeep from '../content/versions/keep.ts';
import * as versionsRestore from '../content/versions/restore.ts';
import * as versionsShow from '../content/versions/show.ts';
import * as visualSearch from '../content/visual/search.ts';
import * as whiteboards from '../content/whiteboards.ts';
import * as workflowSettings from '../content/workflow/settings.ts';
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
import * as accountDataDecide from '../operate/account-data/decide.ts';
import * as accountDataDeletionRequest from '../operate/account-data/deletion-request.ts';
import * as accountDataExport from '../operate/account-data/export.ts';
import * as accountsBatchStart from '../operate/accounts/batch/start.ts';
import * as accountsCsvExport from '../operate/accounts/csv/export.ts';
import * as accountsCsvImport from '../operate/accounts/csv/import.ts';
import * as adminBuildInfo from '../operate/admin/build-info.ts';
import * as adminExposedAssets from '../operate/admin/exposed-assets.ts';
import * as adminJobActs from '../operate/admin/job-acts.ts';
import * as adminJobList from '../operate/admin/job-list.ts';
import * as adminMatureContent from '../operate/admin/mature-content.ts';
import * as adminPublicMode from '../operate/admin/public-mode.ts';
import * as adminRemoveAccount from '../operate/admin/remove-account.ts';
import * as adminSite from '../operate/admin/site.ts';
import * as adminTexts from '../operate/admin/texts.ts';
import * as appearanceChoose from '../operate/appearance/choose.ts';
import * as appearanceLogo from '../operate/appearance/logo.ts';
import * as appearanceShow from '../operate/appearance/show.ts';
import * as doctorShow from '../operate/doctor/show.ts';
import * as importsShow from '../operate/imports/show.ts';
import * as setUpFirstSteps from '../operate/set-up/first-steps.ts';
import * as setUpSetUp from '../operate/set-up/set-up.ts';
import * as adminStorage from '../operate/storage/overview.ts';
import * as accountLinksRequest from '../people/account-links/request.ts';
import * as accountLinksReset from '../people/account-links/reset-password.ts';

import * as auditList from '../people/audit/list.ts';
import * as auditRetention from '../people/audit/retention.ts';
import * as identityChangePassword from '../people/identity/change-password.ts';
import * as identityImpersonation from '../people/identity/impersonation.ts';
import * as identityPasskeyAdd from '../people/identity/passkey-add.ts';
import * as identityPasskeyList from '../people/identity/passkey-list.ts';
import * as identityPasskeySignIn from '../people/identity/passkey-sign-in.ts';
import * as identityPreferences from '../people/identity/preferences.ts';
import * as identitySessionList from '../people/identity/session-list.ts';
import * as identitySessionUser from '../people/identity/session-user.ts';
import * as identitySignIn from '../people/identity/sign-in.ts';
import * as identitySignInList from '../people/identity/sign-in-list.ts';
import * as identitySignOut from '../people/identity/sign-out.ts';
import * as identityTokenList from '../people/identity/token-list.ts';
import * as identityTwoFactor from '../people/identity/two-factor.ts';
import * as invitationsAccept from '../people/invitations/accept.ts';
import * as invitationsCreate from '../people/invitations/create.ts';
import * as invitationsOpen from '../people/invitations/open.ts';
import * as invitationsRevoke from '../people/invitations/revoke.ts';
import * as invitationsShow from '../people/invitations/show.ts';
import * as mailSettings from '../people/mail/settings.ts';
import * as mailTestMessage from '../people/mail/test-message.ts';
import * as notificationsList from '../people/notifications/list.ts';
import * as notificationsPreferences from '../people/notifications/preferences.ts';
import * as notificationsUnsubscribe from '../people/notifications/unsubscribe.ts';
import * as notificationsWatch from '../people/notifications/watch.ts';
import * as pushSubscriptions from '../people/push/subscriptions.ts';
import * as quotasAdmin from '../people/quotas/admin.ts';
import * as registrationRegister from '../people/registration/register.ts';
import * as registrationSettings from '../people/registration/settings.ts';
import * as registrationVerify from '../people/registration/verify.ts';
import * as rolesGrants from '../people/roles/grants.ts';
import * as roles from '../people/roles/roles.ts';
import * as rolesTemplates from '../people/roles/templates.ts';
import * as rolesWrite from '../people/roles/write.ts';
import * as scimTokens from '../people/scim/tokens.ts';
import * as ssoAdminister from '../people/single-sign-on/administer.ts';
import * as ssoContinue from '../people/single-sign-on/continue.ts';
import * as ssoFinish from '../people/single-sign-on/finish.ts';
import * as ssoIdentities from '../people/single-sign-on/identities.ts';
import * as ssoProviderLogout from '../people/single-sign-on/provider-logout.ts';
import * as ssoServeMetadata from '../people/single-sign-on/serve-metadata.ts';
import * as ssoStart from '../people/single-sign-on/start.ts';
import * as ssoTestProvider from '../people/single-sign-on/test-provider.ts';
import * as teamsFollow from '../people/teams/follow.ts';
import * as teamsList from '../people/teams/list.ts';
import * as teamsMembers from '../people/teams/members.ts';
import * as teamsParents from '../people/teams/parents.ts';
import * as teamsWrite from '../people/teams/write.ts';
import * as transfersMerge from '../people/transfers/merge.ts';
import * as transfers from '../people/transfers/transfer.ts';
import * as usersAccountProfile from '../people/users/account-profile.ts';
import * as usersAdminister from '../people/users/administer.ts';
import * as usersCreate from '../people/users/create.ts';
import * as usersDirectory from '../people/users/directory.ts';
import * as usersEdit from '../people/users/edit.ts';
import * as usersFollow from '../people/users/follow.ts';
import * as usersList from '../people/users/list.ts';
import * as usersProfile from '../people/users/profile.ts';
import * as usersStatus from '../people/users/status.ts';

/** The modules with handlers: what `handle` or `handleForm` returned and they export is mounted. */
const modules = [
  annotationsCreate,
  annotationsDrawing,
  annotationsExports,
  annotationsResolve,
  assetsBytes,
  assetsDelete,
  assetsEdit,
  assetsGet,
  assetsHistory,
  assetsList,
  assetsMedia,
  assetsPoster,
  assetsPreviewsSettings,
  assetsRelated,
  assetsReprocess,
  assetsShares,
  assetsState,
  assetsTiles,
  archivesCreate,
  archivesDownload,
  archivesProgress,
  batchesShow,
  batchesStart,
  browsingBaseMap,
  browsingPlaces,
  browsingSimilar,
  browsingTimeline,
  collectionsCreate,
  collectionsDelete,
  collectionsEdit,
  collectionsList,
  collectionsOrder,
  collectionsPlace,
  collectionsShares,
  commentsLike,
  commentsThread,
  commentsWrite,
  csvExport,
  csvImport,
  duplicatesList,
  duplicatesResolve,
  extractionBackfill,
  extractionFailures,
  fieldValues,
  fieldsDefinitionsOverrides,
  fieldsDefinitionsRead,
  fieldsDefinitionsWrite,
  fieldsVocabularyEdit,
  fieldsVocabularyList,
  fieldsVocabularyMerge,
  linksArchive,
  linksBytes,
  linksCreate,
  linksDecisions,
  linksEdit,
  linksFeedback,
  linksGuestComments,
  linksGuestName,
  linksGuests,
  linksList,
  linksListings,
  linksMedia,
  linksOpen,
  linksPicks,
  linksRenew,
  linksRevoke,
  linksUnlock,
  linksUses,
  postsCreate,
  postsDelete,
  postsEdit,
  postsFeatured,
  postsFeed,
  postsFeedWithAsset,
  postsGet,
  collectionItems,
  downloads,
  downloadsFile,
  postsInCollection,
  postsLike,
  postsPins,
  postsShares,
  postsUsageOfAsset,
  postsWorkflow,
  publicPreview,
  requestsDecide,
  requestsQueues,
  requestsRequestAccess,
  requestsRequestRestore,
  approvalsSettings,
  reviewsDecide,
  reviewsList,
  reviewsRequest,
  workflowSettings,
  roots,
  searchFeedViews,
  searchSaved,
  search,
  searchSuggest,
  searchIndexLanguage,
  stacks,
  subtitlesTracks,
  tagsFollow,
  tagsList,
  tagsRename,
  trashList,
  trashRestore,
  trashRetention,
  uploadsCopies,
  uploadsCreateAsset,
  uploadsList,
  uploadsTus,
  versionsAdd,
  versionsDelete,
  versionsKeep,
  versionsRestore,
  versionsShow,
  visualSearch,
  whiteboards,
  whiteboardDrawings,
  activitypubAccount,
  activitypubSwitch,
  federationFields,
  federationIdentity,
  federationPair,
  federationPeers,
  federationQueue,
  federationRotations,
  federationSensitive,
  federationShares,
  accountsBatchStart,
  accountDataDecide,
  accountDataDeletionRequest,
  accountDataExport,
  accountsCsvExport,
  accountsCsvImport,
  adminBuildInfo,
  adminExposedAssets,
  adminJobActs,
  adminJobList,
  adminMatureContent,
  adminPublicMode,
  adminRemoveAccount,
  adminSite,
  adminTexts,
  appearanceChoose,
  appearanceLogo,
  appearanceShow,
  doctorShow,
  importsShow,
  setUpFirstSteps,
  setUpSetUp,
  adminStorage,
  auditList,
  auditRetention,
  identityChangePassword,
  identityImpersonation,
  identityPasskeyAdd,
  identityPasskeyList,
  identityPasskeySignIn,
  identityPreferences,
  identitySessionList,
  identitySignInList,
  identitySessionUser,
  identitySignIn,
  identitySignOut,
  identityTokenList,
  identityTwoFactor,
  accountLinksRequest,
  accountLinksReset,

  invitationsAccept,
  invitationsCreate,
  invitationsOpen,
  invitationsRevoke,
  invitationsShow,
  mailSettings,
  mailTestMessage,
  liveLinkStream,
  liveStream,
  notificationsList,
  notificationsPreferences,
  notificationsUnsubscribe,
  notificationsWatch,
  pushSubscriptions,
  quotasAdmin,
  registrationRegister,
  registrationSettings,
  registrationVerify,
  rolesGrants,
  roles,
  rolesTemplates,
  rolesWrite,
  scimTokens,
  ssoAdminister,
  ssoContinue,
  ssoFinish,
  ssoIdentities,
  ssoProviderLogout,
  ssoServeMetadata,
  ssoStart,
  ssoTestProvider,
  teamsFollow,
  teamsList,
  teamsMembers,
  teamsParents,
  teamsWrite,
  usersAccountProfile,
  usersAdminister,
  usersCreate,
  usersDirectory,
  usersEdit,
  usersFollow,
  usersList,
  usersProfile,
  transfers,
  transfersMerge,
  usersStatus,
] as const;

/** The ids of the operations that a module handles. */
type HandledBy<M> = M extends unknown
  ? {
      [K in keyof M]: M[K] extends { readonly operation: { readonly id: infer Id extends string } }
        ? Id
        : never;
    }[keyof M]
  : never;

/** Every operation of the contract has exactly one handler; the type refuses a gap and names it. */
type Complete<Handled> = [Exclude<OperationId, Handled>] extends [never]
  ? typeof modules
  : { handlersAreMissing: Exclude<OperationId, Handled> };
const complete: Complete<HandledBy<(typeof modules)[number]>> = modules;

function isBound(exported: unknown): exported is BoundOperation {
  return typeof exported === 'object' && exported !== null && 'operation' in exported && 'run' in exported;
}

export const handlers: readonly BoundOperation[] = complete
  .flatMap((module) => Object.values<unknown>(module))
  .filter(isBound);
