import * as accountData from './account-data.ts';
import * as accountTransfers from './account-transfers.ts';
import * as activitypub from './activitypub.ts';
import * as annotationExports from './annotation-exports.ts';
import * as annotations from './annotations.ts';
import * as appearance from './appearance.ts';
import * as approvals from './approvals.ts';
import * as archives from './archives.ts';
import * as assetBytes from './asset-bytes.ts';
import * as assetCsv from './asset-csv.ts';
import * as assetHistory from './asset-history.ts';
import * as assets from './assets.ts';
import * as audit from './audit.ts';
import * as batches from './batches.ts';
import * as browsing from './browsing.ts';
import * as collections from './collections.ts';
import * as comments from './comments.ts';
import * as doctor from './doctor.ts';
import * as downloads from './downloads.ts';
import * as duplicates from './duplicates.ts';
import * as errors from './errors.ts';
import * as exposedAssets from './exposed-assets.ts';
import * as extraction from './extraction.ts';
import * as featured from './featured.ts';
import * as federatedFields from './federated-fields.ts';
import * as federation from './federation.ts';
import * as feedViews from './feed-views.ts';
import * as fieldValues from './field-values.ts';
import * as fields from './fields.ts';
import * as firstSteps from './first-steps.ts';
import * as guests from './guests.ts';
import * as identity from './identity.ts';
import * as impersonation from './impersonation.ts';
import * as imports from './imports.ts';
import * as invitations from './invitations.ts';
import * as jobs from './jobs.ts';
import * as legacy from './legacy.ts';
import * as linkVisits from './link-visits.ts';
import * as links from './links.ts';
import * as mail from './mail.ts';
import * as media from './media.ts';
import * as notifications from './notifications.ts';
import type { Operation } from './operation.ts';
import * as passkeyAssertion from './passkey-assertion.ts';
import * as passkeys from './passkeys.ts';
import * as passwordReset from './password-reset.ts';
import * as posts from './posts.ts';
import * as preferences from './preferences.ts';
import * as previews from './previews.ts';
import * as providerSignIn from './provider-sign-in.ts';
import * as providers from './providers.ts';
import * as push from './push.ts';
import * as quotas from './quotas.ts';
import * as registration from './registration.ts';
import * as relatedAssets from './related-assets.ts';
import * as requests from './requests.ts';
import * as reviews from './reviews.ts';
import * as roles from './roles.ts';
import * as roots from './roots.ts';
import * as scim from './scim.ts';
import * as search from './search.ts';
import * as sessions from './sessions.ts';
import * as shares from './shares.ts';
import * as stacks from './stacks.ts';
import * as storage from './storage.ts';
import * as strokes from './strokes.ts';
import * as subtitles from './subtitles.ts';
import * as system from './system.ts';
import * as tags from './tags.ts';
import * as teams from './teams.ts';
import * as texts from './texts.ts';
import * as tokens from './tokens.ts';
import * as trash from './trash.ts';
import * as twoFactor from './two-factor.ts';
import * as uploads from './uploads.ts';
import * as userBatches from './user-batches.ts';
import * as userCsv from './user-csv.ts';
import * as users from './users.ts';
import * as values from './values.ts';
import * as versions from './versions.ts';
import * as visualSearch from './visual-search.ts';
import * as vocabulary from './vocabulary.ts';
import * as whiteboards from './whiteboards.ts';
import * as workflow from './workflow.ts';

/** HTTP-34. */
export const apiVersion = '0.10.2';
export const basePath = '/api/v1';

/** The modules of the contract. Each operation that one of them exports is part of the interface. */
export const modules = [
  accountData,
  accountTransfers,
  activitypub,
  annotationExports,
  annotations,
  appearance,
  approvals,
  assetBytes,
  assetCsv,
  assetHistory,
  assets,
  audit,
  archives,
  batches,
  browsing,
  downloads,
  collections,
  comments,
  doctor,
  errors,
  exposedAssets,
  duplicates,
  extraction,
  featured,
  federatedFields,
  federation,
  feedViews,
  fieldValues,
  fields,
  firstSteps,
  guests,
  identity,
  impersonation,
  imports,
  invitations,
  jobs,
  legacy,
  linkVisits,
  links,
  mail,
  media,
  notifications,
  passkeyAssertion,
  passkeys,
  passwordReset,
  posts,
  preferences,
  previews,
  providerSignIn,
  providers,
  push,
  quotas,
  registration,
  relatedAssets,
  requests,
  reviews,
  roles,
  scim,
  roots,
  search,
  sessions,
  shares,
  stacks,
  storage,
  strokes,
  subtitles,
  system,
  tags,
  teams,
  texts,
  tokens,
  trash,
  twoFactor,
  uploads,
  userBatches,
  userCsv,
  users,
  values,
  versions,
  visualSearch,
  vocabulary,
  whiteboards,
  workflow,
] as const;

/** The operations among the exports of a module: their names are their ids. */
type OperationsIn<M> = M extends unknown
  ? { [K in keyof M as M[K] extends { readonly id: string; readonly method: string } ? K : never]: M[K] }
  : never;
type Intersection<U> = (U extends unknown ? (member: U) => void : never) extends (all: infer I) => void
  ? I
  : never;
type Flattened<T> = { readonly [K in keyof T]: T[K] };

export type Operations = Flattened<Intersection<OperationsIn<(typeof modules)[number]>>>;
export type OperationId = keyof Operations;

function isOperation(exported: unknown): exported is Operation {
  return typeof exported === 'object' && exported !== null && 'method' in exported && 'path' in exported;
}

const all = modules
  .flatMap((module) => Object.values<unknown>(module))
  .filter(isOperation)
  .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.method < b.method ? -1 : 1));

/**
 * Every operation of the interface, by id, in the order of paths. The cast states what a test checks: operations are
 * exported under their ids.
 */
export const operations = Object.fromEntries(
  all.map((operation) => [operation.id, operation]),
) as unknown as Operations;
