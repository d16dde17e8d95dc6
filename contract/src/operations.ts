import * as appearance from './appearance.ts';
import * as assets from './assets.ts';
import * as audit from './audit.ts';
import * as comments from './comments.ts';
import * as doctor from './doctor.ts';
import * as identity from './identity.ts';
import * as impersonation from './impersonation.ts';
import * as jobs from './jobs.ts';
import type { Operation } from './operation.ts';
import * as posts from './posts.ts';
import * as preferences from './preferences.ts';
import * as requests from './requests.ts';
import * as roles from './roles.ts';
import * as sessions from './sessions.ts';
import * as storage from './storage.ts';
import * as system from './system.ts';
import * as teams from './teams.ts';
import * as tokens from './tokens.ts';
import * as trash from './trash.ts';
import * as twoFactor from './two-factor.ts';
import * as users from './users.ts';
import * as whiteboards from './whiteboards.ts';

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
  listSessions: sessions.listSessions,
  endSession: sessions.endSession,
  endOtherSessions: sessions.endOtherSessions,
  listUserSessions: sessions.listUserSessions,
  endUserSession: sessions.endUserSession,
  endUserSessions: sessions.endUserSessions,
  listTokens: tokens.listTokens,
  createToken: tokens.createToken,
  deleteToken: tokens.deleteToken,
  getTwoFactor: twoFactor.getTwoFactor,
  enrollTwoFactor: twoFactor.enrollTwoFactor,
  confirmTwoFactor: twoFactor.confirmTwoFactor,
  disableTwoFactor: twoFactor.disableTwoFactor,
  renewRecoveryCodes: twoFactor.renewRecoveryCodes,
  removeUserTwoFactor: twoFactor.removeUserTwoFactor,
  getPreferences: preferences.getPreferences,
  updatePreferences: preferences.updatePreferences,
  getUser: users.getUser,
  getUserByUsername: users.getUserByUsername,
  updateUser: users.updateUser,
  getAccountProfile: users.getAccountProfile,
  changePassword: users.changePassword,
  followUser: users.followUser,
  unfollowUser: users.unfollowUser,
  listUsers: users.listUsers,
  getAdminUser: users.getAdminUser,
  createUser: users.createUser,
  setUserStatus: users.setUserStatus,
  resetPassword: users.resetPassword,
  getMyCapabilities: roles.getMyCapabilities,
  getUserCapabilities: roles.getUserCapabilities,
  listRoles: roles.listRoles,
  listCapabilities: roles.listCapabilities,
  setUserRole: roles.setUserRole,
  grantCapability: roles.grantCapability,
  removeGrant: roles.removeGrant,
  revokeCapability: roles.revokeCapability,
  removeRevoke: roles.removeRevoke,
  impersonate: impersonation.impersonate,
  endImpersonation: impersonation.endImpersonation,
  listAudit: audit.listAudit,
  exportAudit: audit.exportAudit,
  getAuditRetention: audit.getAuditRetention,
  setAuditRetention: audit.setAuditRetention,
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
  listAssets: assets.listAssets,
  updateAsset: assets.updateAsset,
  deleteAsset: assets.deleteAsset,
  updatePost: posts.updatePost,
  deletePost: posts.deletePost,
  publishPost: posts.publishPost,
  unpublishPost: posts.unpublishPost,
  listWorkflowStates: posts.listWorkflowStates,
  getLike: posts.getLike,
  likePost: posts.likePost,
  unlikePost: posts.unlikePost,
  listShares: posts.listShares,
  getShare: posts.getShare,
  putShare: posts.putShare,
  deleteShare: posts.deleteShare,
  listAssetPosts: posts.listAssetPosts,
  listComments: comments.listComments,
  listReplies: comments.listReplies,
  createComment: comments.createComment,
  updateComment: comments.updateComment,
  deleteComment: comments.deleteComment,
  likeComment: comments.likeComment,
  unlikeComment: comments.unlikeComment,
  createWhiteboard: whiteboards.createWhiteboard,
  listWhiteboards: whiteboards.listWhiteboards,
  deleteWhiteboard: whiteboards.deleteWhiteboard,
  listTrash: trash.listTrash,
  restorePost: trash.restorePost,
  restoreAsset: trash.restoreAsset,
  requestRestore: trash.requestRestore,
  getTrashRetention: trash.getTrashRetention,
  setTrashRetention: trash.setTrashRetention,
  requestAccess: requests.requestAccess,
  getMatureContent: system.getMatureContent,
  setMatureContent: system.setMatureContent,
  listTeams: teams.listTeams,
  getTeam: teams.getTeam,
  createTeam: teams.createTeam,
  updateTeam: teams.updateTeam,
  deleteTeam: teams.deleteTeam,
  listTeamMembers: teams.listTeamMembers,
  addTeamMember: teams.addTeamMember,
  removeTeamMember: teams.removeTeamMember,
  followTeam: teams.followTeam,
  unfollowTeam: teams.unfollowTeam,
  addTeamParent: teams.addTeamParent,
  removeTeamParent: teams.removeTeamParent,
  setTeamHero: teams.setTeamHero,
  listMyTeams: teams.listMyTeams,
  listFollowedTeams: teams.listFollowedTeams,
  listMyRequests: requests.listMyRequests,
  listIncomingRequests: requests.listIncomingRequests,
  listAllRequests: requests.listAllRequests,
  decideRequest: requests.decideRequest,
  getPublicMode: system.getPublicMode,
  setPublicMode: system.setPublicMode,
  getAppearance: appearance.getAppearance,
  getLogo: appearance.getLogo,
  getAdminAppearance: appearance.getAdminAppearance,
  updateAppearance: appearance.updateAppearance,
  uploadLogo: appearance.uploadLogo,
  selectLogo: appearance.selectLogo,
  revertLogo: appearance.revertLogo,
  getSite: appearance.getSite,
  updateSite: appearance.updateSite,
  getStorage: storage.getStorage,
  countStorage: storage.countStorage,
  listJobs: jobs.listJobs,
  countJobs: jobs.countJobs,
  retryJob: jobs.retryJob,
  retryFailedJobs: jobs.retryFailedJobs,
  deleteJob: jobs.deleteJob,
  getDoctor: doctor.getDoctor,
  getBuildInfo: system.getBuildInfo,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
