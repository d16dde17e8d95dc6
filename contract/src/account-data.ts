import { type Static, Type } from 'typebox';
import { StartedBatch } from './batches.ts';
import { PostAuthor } from './identity.ts';
import { bytes, noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** The data of the caller's own account: its export, and requests to delete it. */

/** For how many days an export can be downloaded (EXPORT-18). */
export const exportDays = 7;

/** EXPORT-17: the export of an account. */
export const AccountExport = closed({
  job_id: Uuid,
  state: Type.Enum(['queued', 'running', 'done', 'failed']),
  /** Files that are written so far. */
  files: Count,
  /** Stored files that could not be read and are left out. */
  left_out: Count,
  created_at: Timestamp,
  /** Why it failed. */
  reason: Type.Optional(Type.String()),
  /** The address of the ZIP, its length and until when it can be downloaded; once it is done. */
  url: Type.Optional(Type.String()),
  bytes: Type.Optional(Count),
  expires_at: Type.Optional(Timestamp),
});
export type AccountExport = Static<typeof AccountExport>;

const own = { tag: 'Account', door: 'signedIn', scope: 'session', whileImpersonating: 'refused' } as const;

export const startAccountExport = operation({
  ...own,
  id: 'startAccountExport',
  method: 'POST',
  path: '/account/export',
  summary: 'Export own data',
  description:
    'Prepares a ZIP of everything that belongs to the caller: files with sidecars, posts, collections, comments and what the library knows of them. A job writes it, which `GET /jobs/{id}` shows. While one is prepared, returns that one; a finished one is replaced. At most 30 requests an hour.',
  budget: 'ask',
  body: closed({}),
  bodyOptional: true,
  responses: { 202: StartedBatch },
  errors: [],
});

export const getAccountExport = operation({
  ...own,
  id: 'getAccountExport',
  method: 'GET',
  path: '/account/export',
  summary: 'Get the export of own data',
  description:
    'Returns 202 while the export is prepared, and 200 once it is done or has failed. A finished one has `url` and `expires_at`. Returns 404 when there is none, or when it has expired.',
  responses: { 200: AccountExport, 202: AccountExport },
  errors: ['not-found'],
});

export const downloadAccountExport = operation({
  ...own,
  id: 'downloadAccountExport',
  method: 'GET',
  path: '/account/export/{id}',
  summary: 'Download the export of own data',
  description:
    'Sends the ZIP to the account whose data it has, for 7 days. It contains a bag of BagIt 1.0. Supports `Range`.',
  budget: 'bytes',
  sessionCookie: 'never',
  params: closed({ id: Uuid }),
  responses: { 200: bytes('application/zip'), 206: bytes('application/zip'), 304: noContent },
  errors: ['not-found', 'range-not-satisfiable'],
});

const DeletionState = Type.Enum(['pending', 'refused', 'archived', 'deleted']);

/** DELETION-1: what a member asked for, and what was decided. */
export const OwnDeletionRequest = closed({
  id: Uuid,
  note: Type.String(),
  state: DeletionState,
  requested_at: Timestamp,
  decided_at: Type.Optional(Timestamp),
  decision_reason: Type.Optional(Type.String()),
});
export type OwnDeletionRequest = Static<typeof OwnDeletionRequest>;

export const requestDeletion = operation({
  ...own,
  id: 'requestDeletion',
  method: 'POST',
  path: '/account/deletion-request',
  summary: 'Ask for the deletion of own account',
  description:
    'Asks the administrators to delete the account of the caller and notifies them. Repeating a pending request returns 200 and changes nothing. At most 30 requests an hour.',
  budget: 'ask',
  example: { note: 'I have left the studio.' },
  body: closed({ note: Type.Optional(nullable(Type.String({ maxLength: 1000 }))) }),
  bodyOptional: true,
  responses: { 200: OwnDeletionRequest, 201: OwnDeletionRequest },
  errors: [],
});

export const getDeletionRequest = operation({
  ...own,
  id: 'getDeletionRequest',
  method: 'GET',
  path: '/account/deletion-request',
  summary: 'Get the request to delete own account',
  description: 'Returns the latest request of the caller with its decision. Returns 404 when there is none.',
  responses: { 200: OwnDeletionRequest },
  errors: ['not-found'],
});

export const withdrawDeletionRequest = operation({
  ...own,
  id: 'withdrawDeletionRequest',
  method: 'DELETE',
  path: '/account/deletion-request',
  summary: 'Withdraw the request to delete own account',
  description: 'Removes the pending request. Returns 404 when there is none.',
  responses: { 204: noContent },
  errors: ['not-found'],
});

/** DELETION-2: a request with the account that it is about. */
export const DeletionRequest = closed({
  ...OwnDeletionRequest.properties,
  user_ref: Ref,
  user: Type.Optional(PostAuthor),
  decided_by_user_ref: Type.Optional(Ref),
  /** What the account has, which a deletion leaves without an identity. */
  assets: Count,
  posts: Count,
});
export type DeletionRequest = Static<typeof DeletionRequest>;

export const listDeletionRequests = operation({
  id: 'listDeletionRequests',
  method: 'GET',
  path: '/admin/deletion-requests',
  tag: 'Users',
  summary: 'List requests to delete accounts',
  description:
    'Lists what members have asked for, newest first. Requests of deleted accounts are in the audit log only.',
  door: { holds: 'users.write' },
  scope: 'read',
  query: closed({ ...pageQuery, state: Type.Optional(Type.Enum(['pending', 'refused', 'archived'])) }),
  responses: { 200: page(DeletionRequest) },
  errors: [],
});

export const decideDeletionRequest = operation({
  id: 'decideDeletionRequest',
  method: 'POST',
  path: '/admin/deletion-requests/{id}/decide',
  tag: 'Users',
  summary: 'Decide a request to delete an account',
  description:
    '`delete` deletes the account as `DELETE /admin/users/{ref}` does, `archive` archives it, and `refuse` needs a reason. The member is notified. Returns 409 when the request was decided before.',
  door: { holds: 'users.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: closed({ id: Uuid }),
  example: { decision: 'refuse', reason: 'The contract runs until March.' },
  body: closed({
    decision: Type.Enum(['delete', 'archive', 'refuse']),
    reason: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  }),
  responses: { 200: DeletionRequest },
  errors: [
    'account-has-more-rights',
    'cannot-delete-yourself',
    'last-administrator',
    'not-found',
    'refusal-without-reason',
    'request-already-decided',
  ],
});
