// Written by `npm run schema` from a migrated database; a test fails when it is stale.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/** Read as the parsed value, written as its JSON text. */
type Json = ColumnType<unknown, string, string>;
type DefaultedJson = ColumnType<unknown, string | undefined, string>;
type NullableJson = ColumnType<unknown, string | null | undefined, string | null>;

interface AccessEpochTable {
  only_row: Generated<boolean>;
  epoch: number;
}

interface AccessTokensTable {
  id: Generated<string>;
  user_ref: number;
  name: string;
  token_hash: Buffer;
  scopes: string[];
  created_at: Generated<string>;
  expires_at: string | null;
  last_used_at: string | null;
}

interface AccountExportsTable {
  id: Generated<string>;
  user_ref: number | null;
  state: Generated<'queued' | 'running' | 'done' | 'failed'>;
  total: Generated<number>;
  files: Generated<number>;
  left_out: Generated<number>;
  size_bytes: number | null;
  reason: string | null;
  created_at: Generated<string>;
  reported_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
}

interface AccountLinksTable {
  id: Generated<string>;
  user_ref: number;
  purpose: 'password_reset' | 'verify_email';
  email: string;
  token_hash: Buffer | null;
  created_at: Generated<string>;
  expires_at: string;
}

interface ActivitypubActorsTable {
  id: Generated<string>;
  user_ref: number | null;
  public_key: string | null;
  private_key_sealed: Buffer | null;
  created_at: Generated<string>;
  withdrawn_at: string | null;
}

interface ActivitypubDeliveriesTable {
  id: GeneratedAlways<number>;
  actor_id: string;
  inbox: string;
  activity: string;
  attempts: Generated<number>;
  next_attempt_at: Generated<string>;
  created_at: Generated<string>;
}

interface ActivitypubFollowersTable {
  actor_id: string;
  uri: string;
  inbox: string;
  created_at: Generated<string>;
  activity_uri: string | null;
}

interface ActivitypubInboxesTable {
  inbox: string;
  delivering_until: string | null;
  last_error: string | null;
}

interface ActivitypubMemoryTable {
  key: string;
  value: Json;
  expires_at: string | null;
}

interface ActivitypubPostsTable {
  actor_id: string;
  post_id: string;
  digest: string | null;
  withdrawn: Generated<boolean>;
  updated_at: Generated<string>;
}

interface ActivitypubReactionsTable {
  post_id: string;
  actor_id: string;
  uri: string;
  kind: 'like' | 'boost';
  activity_uri: string;
  created_at: Generated<string>;
}

interface AnnotationsTable {
  comment_id: string;
  version: number;
  anchor: Json;
  strokes: NullableJson;
}

interface ArchiveFilesTable {
  archive_id: string;
  position: number;
  asset_id: string;
  name: string | null;
  file_hash: string | null;
  size_bytes: number | null;
}

interface ArchivesTable {
  id: Generated<string>;
  user_ref: number;
  name: string;
  size_bytes: number | null;
  created_at: Generated<string>;
  expires_at: string;
  preset: string | null;
  made_count: Generated<number>;
  left_out_count: Generated<number>;
  reported_at: string | null;
  outcome: 'done' | 'stopped' | null;
}

interface AssetChangesTable {
  id: Generated<string>;
  asset_id: string;
  actor_user_ref: number | null;
  properties: string[];
  at: Generated<string>;
}

interface AssetDocumentsTable {
  asset_id: string;
  at: string;
  document: unknown;
  names: string;
  gated: Generated<boolean>;
}

interface AssetDownloadsTable {
  id: Generated<string>;
  asset_id: string;
  user_ref: number | null;
  download_count: Generated<number>;
  last_downloaded_at: Generated<string>;
}

interface AssetFieldValuesTable {
  asset_id: string;
  field_id: string;
  value_text: string | null;
  value_num: number | null;
  value_date: string | null;
  value_options: string[] | null;
  value_ref: string | null;
  set_by: 'manual' | 'exif' | 'iptc' | 'xmp' | 'api' | 'import' | 'computed' | 'default' | 'mirror';
  set_at: Generated<string>;
  set_by_user_ref: number | null;
  value_offset: number | null;
}

interface AssetGatedDocumentsTable {
  asset_id: string;
  gate: string;
  document: unknown;
}

interface AssetSharesTable {
  asset_id: string;
  user_ref: number;
  shared_by_user_ref: number | null;
  created_at: Generated<string>;
  expires_at: string | null;
}

interface AssetSidecarsTable {
  asset_id: string;
  kind: 'takeout' | 'stem' | 'named' | 'immich';
  file_name: string;
  file_hash: string;
  sources: Json;
  former: DefaultedJson;
  raw: Json;
  created_at: Generated<string>;
}

interface AssetTagsTable {
  asset_id: string;
  value: string;
  source: 'manual' | 'ai' | 'import';
  confidence: number | null;
  created_by_provider: string | null;
  created_by_model: string | null;
  position: Generated<number>;
}

interface AssetTypesTable {
  ref: number;
  code: string;
  label: string;
}

interface AssetVersionsTable {
  asset_id: string;
  number: number;
  file_hash: string;
  file_name: string;
  note: Generated<string>;
  had_subtitles: Generated<boolean>;
  created_at: Generated<string>;
  created_by_user_ref: number | null;
}

interface AssetsTable {
  id: Generated<string>;
  owner_user_ref: number | null;
  title: Generated<string>;
  description: Generated<string>;
  asset_type: number;
  status: Generated<'draft' | 'active' | 'archived'>;
  sensitivity: Generated<'posts' | 'public' | 'org' | 'team' | 'restricted'>;
  mature: Generated<boolean>;
  ai_provenance: 'none' | 'assisted' | 'generated' | null;
  file_hash: string;
  file_name: string;
  metadata: DefaultedJson;
  state_id: string | null;
  team_id: string | null;
  processing_status: Generated<'pending' | 'ready' | 'failed'>;
  processing_error: string | null;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  deleted_at: string | null;
  deleted_reason: string | null;
  deleted_by_user_ref: number | null;
  exposure: Generated<'none' | 'narrow' | 'org-only' | 'public'>;
  origin_peer_id: string | null;
  visible_until: string | null;
  interim_hash: string | null;
  size_bytes: Generated<number>;
  taken_at: string | null;
  root_id: string | null;
  root_path: string | null;
  missing_since: string | null;
  film_hash: string | null;
  taken_on: string | null;
  latitude: number | null;
  longitude: number | null;
  place_cell: GeneratedAlways<number | null>;
  shown_to: GeneratedAlways<number>;
}

interface AuditEventsTable {
  id: Generated<string>;
  event: string;
  actor_user_ref: number | null;
  impersonator_user_ref: number | null;
  subject_user_ref: number | null;
  target_kind: string | null;
  target_id: string | null;
  metadata: DefaultedJson;
  occurred_at: Generated<string>;
}

interface BatchItemsTable {
  batch_id: string;
  position: number;
  object_id: string | null;
  outcome: 'changed' | 'unchanged' | 'refused' | null;
  reason: string | null;
  record: NullableJson;
  given: NullableJson;
  object_ref: number | null;
}

interface BatchesTable {
  id: Generated<string>;
  subject: 'asset' | 'post' | 'user';
  action: NullableJson;
  undoes: string | null;
  user_ref: number;
  token_id: string | null;
  impersonator_user_ref: number | null;
  state: Generated<'queued' | 'running' | 'done' | 'cancelled' | 'failed'>;
  total: Generated<number>;
  changed: Generated<number>;
  unchanged: Generated<number>;
  refused: Generated<number>;
  post_id: string | null;
  created_at: Generated<string>;
  finished_at: string | null;
}

interface CollectionAssetsTable {
  collection_id: string;
  asset_id: string;
  position: number;
  added_by: number;
  added_at: Generated<string>;
}

interface CollectionDocumentsTable {
  collection_id: string;
  at: string;
  document: unknown;
  names: string;
  gated: Generated<boolean>;
}

interface CollectionFieldValuesTable {
  collection_id: string;
  field_id: string;
  value_text: string | null;
  value_num: number | null;
  value_date: string | null;
  value_options: string[] | null;
  value_ref: string | null;
  set_by: 'manual' | 'exif' | 'iptc' | 'xmp' | 'api' | 'import' | 'computed' | 'default' | 'mirror';
  set_at: Generated<string>;
  set_by_user_ref: number | null;
  value_offset: number | null;
}

interface CollectionGatedDocumentsTable {
  collection_id: string;
  gate: string;
  document: unknown;
}

interface CollectionPostsTable {
  collection_id: string;
  post_id: string;
  position: number;
  added_by: number;
  added_at: Generated<string>;
}

interface CollectionSharesTable {
  collection_id: string;
  user_ref: number;
  created_at: Generated<string>;
  expires_at: string | null;
}

interface CollectionsTable {
  id: Generated<string>;
  owner_user_ref: number;
  name: string;
  description: Generated<string>;
  visibility: Generated<'public' | 'private' | 'org-only' | 'followers' | 'explicit-share'>;
  cover_post_id: string | null;
  cover_focal_x: number | null;
  cover_focal_y: number | null;
  cover_focal_asset_id: string | null;
  expires_at: string | null;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  deleted_at: string | null;
  deleted_reason: string | null;
  deleted_by_user_ref: number | null;
  origin_peer_id: string | null;
  visible_until: string | null;
  query: NullableJson;
}

interface CommentLikesTable {
  comment_id: string;
  user_ref: number;
  created_at: Generated<string>;
}

interface CommentsTable {
  id: Generated<string>;
  post_id: string;
  parent_id: string | null;
  author_user_ref: number | null;
  remote_display_name: string | null;
  body: string;
  like_count: Generated<number>;
  created_at: Generated<string>;
  edited_at: string | null;
  deleted_at: string | null;
  deleted_by_user_ref: number | null;
  reply_count: Generated<number>;
  remote_actor_ref: number | null;
  relayed_for: string | null;
  relayed_library: string | null;
  annotated_asset_id: string | null;
  resolved_at: string | null;
  resolved_by_user_ref: number | null;
  assignee_user_ref: number | null;
}

interface ConvertedFilesTable {
  object: string;
  hash: string;
  size_bytes: number;
  used_at: Generated<string>;
}

interface DeletionRequestsTable {
  id: Generated<string>;
  user_ref: number;
  note: Generated<string>;
  state: Generated<'pending' | 'refused' | 'archived'>;
  requested_at: Generated<string>;
  decided_at: string | null;
  decided_by_user_ref: number | null;
  decision_reason: string | null;
}

interface DifferentAssetsTable {
  first_id: string;
  second_id: string;
  user_ref: number | null;
  marked_at: Generated<string>;
}

interface ExtractionRunsTable {
  id: Generated<string>;
  state: Generated<'running' | 'finished' | 'cancelled' | 'failed'>;
  field_id: string | null;
  only_failed: Generated<boolean>;
  passed: Generated<string>;
  total: number;
  done: Generated<number>;
  failed: Generated<number>;
  started_by_user_ref: number | null;
  started_at: Generated<string>;
  finished_at: string | null;
}

interface FailedSignInsTable {
  id: Generated<string>;
  user_ref: number;
  at: Generated<string>;
  method: string;
  address: string;
  user_agent: string | null;
}

interface FeaturedPostsTable {
  post_id: string;
  position: number;
  featured_by_user_ref: number | null;
  created_at: Generated<string>;
}

interface FederatedCollectionItemsTable {
  collection_id: string;
  uri: string;
  position: number;
}

interface FederatedObjectsTable {
  uri: string;
  peer_id: string;
  kind: 'post' | 'asset' | 'collection' | 'comment' | 'team';
  local_id: string;
  version: string;
}

interface FederatedRecipientsTable {
  asset_id: string;
  uri: string;
  user_ref: number;
}

interface FederatedSubtitlesTable {
  asset_id: string;
  lang: string;
  label: string;
  file_hash: string;
  size_bytes: number;
  source_format: 'srt' | 'vtt' | 'ass' | 'ssa' | 'sbv';
  confidence: number;
}

interface FederatedValuesTable {
  uri: string;
  code: string;
  value: Json;
}

interface FederationAnnouncedTable {
  peer_id: string;
  kind: 'post' | 'asset' | 'collection' | 'comment';
  object_id: string;
  withdrawn_by: string | null;
}

interface FederationBoxKeysTable {
  user_ref: number;
  version: number;
  public_key: Buffer;
  sealed: Buffer;
  created_at: Generated<string>;
  retained_until: string | null;
}

interface FederationFieldsTable {
  peer_id: string;
  code: string;
  offered: Json;
  version: string;
  agrees: Generated<boolean>;
  compared_epoch: Generated<number>;
  decision: 'map' | 'adopt' | 'ignore' | null;
  field_id: string | null;
  decided_by_user_ref: number | null;
  decided_at: string | null;
  received_at: Generated<string>;
}

interface FederationGrantsTable {
  id: Generated<string>;
  peer_id: string;
  uri: string;
  kind: 'post' | 'asset' | 'collection';
  target_user_ref: number | null;
  scope: 'view' | 'comment';
  granted_by: string;
  expires_at: string | null;
  received_at: Generated<string>;
  target_team_id: string | null;
}

interface FederationInboxTable {
  activity_uri: string;
  peer_id: string;
  type: string;
  received_at: Generated<string>;
}

interface FederationKeysTable {
  user_ref: number;
  signing_public: Buffer;
  signing_sealed: Buffer;
  created_at: Generated<string>;
}

interface FederationOffersTable {
  id: Generated<string>;
  instance_url: string;
  display_name: string;
  public_key: Buffer;
  capabilities: string[];
  nonce: string;
  offered_from: string;
  received_at: Generated<string>;
  started_at: string | null;
  settled_at: string | null;
}

interface FederationOutboxTable {
  seq: GeneratedAlways<number>;
  peer_id: string;
  activity_id: Generated<string>;
  activity: 'create' | 'update' | 'delete' | 'like' | 'unlike' | 'share' | 'unshare';
  kind: 'post' | 'asset' | 'collection' | 'comment' | 'field';
  object_id: string;
  actor_ref: number | null;
  details: DefaultedJson;
  envelope: string | null;
  status: Generated<'queued' | 'sent' | 'failed' | 'cancelled' | 'skipped'>;
  attempts: Generated<number>;
  last_error: string | null;
  next_attempt_at: Generated<string>;
  created_at: Generated<string>;
  sent_at: string | null;
  preludes: Generated<string[]>;
}

interface FederationPeersTable {
  id: Generated<string>;
  instance_url: string;
  display_name: Generated<string>;
  public_key: Buffer;
  capabilities: Generated<string[]>;
  state: 'pending_inbound' | 'pending_outbound' | 'connected' | 'disabled';
  nonce: string;
  accepted_here_at: string | null;
  accepted_there_at: string | null;
  accept_public: Generated<boolean>;
  last_seen_at: string | null;
  last_error: string | null;
  delivering_until: string | null;
  created_by_user_ref: number | null;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  announced_key: Buffer | null;
  cursor_seq: Generated<number>;
  cursor_id: string | null;
  resent_at: string | null;
  offered_from: string | null;
}

interface FederationRejectionsTable {
  id: Generated<string>;
  peer_id: string | null;
  instance_url: Generated<string>;
  activity_uri: string | null;
  type: string | null;
  reason: string;
  detail: Generated<string>;
  received_at: Generated<string>;
}

interface FederationRetiredKeysTable {
  owner: string;
  peer_id: string;
  public_key: Buffer;
  accepted_until: string;
}

interface FederationRotationsTable {
  id: GeneratedAlways<number>;
  user_ref: number | null;
  previous_key: Buffer;
  next_key: Buffer;
  published: string;
  signature: Buffer;
  previous_sealed: Buffer | null;
  retained_until: string;
}

interface FederationSentFieldsTable {
  peer_id: string;
  field_id: string;
  digest: string;
}

interface FederationSharesTable {
  id: Generated<string>;
  kind: 'post' | 'asset' | 'collection';
  object_id: string;
  peer_id: string;
  target_actor: string | null;
  scope: Generated<'view' | 'comment'>;
  granted_by_user_ref: number;
  granted_at: Generated<string>;
  expires_at: string | null;
  revoked_at: string | null;
  sensitive_assets: Generated<unknown>;
  target_team: string | null;
  target_team_name: Generated<string>;
  withdrawn_at: string | null;
  sensitive_confirmed_by: number | null;
  sensitive_lapsed: Generated<unknown>;
}

interface FeedViewsTable {
  id: Generated<string>;
  user_ref: number;
  name: string;
  query: Json;
  position: number;
  created_at: Generated<string>;
  name_key: string | null;
}

interface FieldDefaultOverridesTable {
  field_id: string;
  team_id: string;
  default_value: Json;
  created_at: Generated<string>;
  updated_at: Generated<string>;
}

interface FieldRunsTable {
  number: GeneratedAlways<number>;
  id: Generated<string>;
  field_id: string;
  kind: 'merge' | 'words';
  source: string | null;
  target: string | null;
  subject_kind: Generated<'asset' | 'collection'>;
  after: Generated<string>;
  actor_ref: number;
  done: Generated<number>;
  total: number;
  started_at: Generated<string>;
  finished_at: string | null;
}

interface FieldTermAliasesTable {
  field_id: string;
  alias: string;
  value: string;
  key: string | null;
}

interface FieldTermsTable {
  field_id: string;
  value: string;
  label: string;
  status: Generated<'active' | 'deprecated' | 'archived'>;
  replaced_by: string | null;
  parent: string | null;
  path: string[];
  depth: GeneratedAlways<number | null>;
  position: number;
  created_at: Generated<string>;
  label_key: string | null;
  translations: DefaultedJson;
  translation_keys: Generated<string>;
}

interface FieldValueHistoryTable {
  id: Generated<string>;
  subject_kind: 'asset' | 'collection';
  subject_id: string;
  field_id: string;
  before: NullableJson;
  after: NullableJson;
  set_by: string;
  actor_user_ref: number | null;
  at: Generated<string>;
}

interface FieldsTable {
  id: Generated<string>;
  code: string;
  label: string;
  description: Generated<string>;
  type:
    | 'text'
    | 'longtext'
    | 'rich_text'
    | 'number'
    | 'boolean'
    | 'date'
    | 'datetime'
    | 'select'
    | 'multi_select'
    | 'tree'
    | 'reference';
  subject_kind: Generated<'asset' | 'collection'>;
  options: DefaultedJson;
  open_vocabulary: Generated<boolean>;
  required: Generated<boolean>;
  searchable: Generated<boolean>;
  applies_to: Generated<number[]>;
  read_capability: string | null;
  write_capability: string | null;
  display_order: Generated<number>;
  display_group: Generated<string>;
  extraction_source: Generated<string>;
  extraction_mode: Generated<'' | 'skip_if_set' | 'replace' | 'append' | 'prepend'>;
  show_on_card: Generated<boolean>;
  show_in_advanced_search: Generated<boolean>;
  show_on_upload: Generated<boolean>;
  edit_tab: string | null;
  read_only: Generated<boolean>;
  regexp_filter: string | null;
  mirrors_column: 'title' | 'description' | null;
  display_condition: string[] | null;
  status: Generated<'active' | 'deprecated' | 'archived'>;
  deprecated_replacement_id: string | null;
  default_value: NullableJson;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  translations: DefaultedJson;
}

interface FieldsEpochTable {
  only_row: Generated<boolean>;
  epoch: number;
}

interface FileChecksumsTable {
  hash: string;
  crc32: number;
}

interface FileMetadataTable {
  hash: string;
  sources: DefaultedJson;
  raw: DefaultedJson;
  reader: string;
  error: string | null;
  extracted_at: Generated<string>;
  id: Generated<string>;
}

interface FilesTable {
  hash: string;
  size_bytes: number;
  mime: string;
  extension: string | null;
  pixel_width: number | null;
  pixel_height: number | null;
  thumbhash: string | null;
  exif: NullableJson;
  renditions: DefaultedJson;
  created_at: Generated<string>;
  media: DefaultedJson;
  poster_seconds: number | null;
  text: Generated<string>;
  ladder_version: Generated<number>;
  makers_version: Generated<number>;
  origin_peer_id: string | null;
  fetched_at: string | null;
  origin_renditions: DefaultedJson;
  origin_key: Buffer | null;
  origin_hash: string | null;
  has_copies: Generated<boolean>;
  in_place: Generated<boolean>;
}

interface GuestCommentsTable {
  id: Generated<string>;
  link_id: string;
  guest_id: string;
  post_id: string | null;
  asset_id: string | null;
  body: string;
  version: number | null;
  anchor: NullableJson;
  strokes: NullableJson;
  created_at: Generated<string>;
  deleted_at: string | null;
  deleted_by_user_ref: number | null;
}

interface IdentityProvidersTable {
  name: string;
  kind: 'oidc' | 'saml';
  settings: Json;
  client_secret_sealed: Buffer | null;
  created_at: Generated<string>;
  updated_at: Generated<string>;
}

interface ImportRunsTable {
  id: Generated<string>;
  system: string;
  state: Generated<'running' | 'done' | 'stopped' | 'failed'>;
  step: Generated<string>;
  done: Generated<number>;
  total: number | null;
  error: string | null;
  report: DefaultedJson;
  started_at: Generated<string>;
  seen_at: Generated<string>;
  finished_at: string | null;
}

interface ImportedIdsTable {
  system: string;
  kind: string;
  old_id: string;
  target: string;
  fingerprint: Generated<string>;
  imported_at: Generated<string>;
}

interface InvitationTeamsTable {
  invitation_id: string;
  team_id: string;
}

interface InvitationsTable {
  id: Generated<string>;
  token_hash: Buffer;
  mailed_token_hash: Buffer | null;
  email: string | null;
  email_key: string | null;
  role_id: string;
  message: string | null;
  max_uses: number;
  uses: Generated<number>;
  mailed: Generated<boolean>;
  created_by_user_ref: number | null;
  given_by_user_ref: number | null;
  created_at: Generated<string>;
  expires_at: string;
  revoked_at: string | null;
  opened_at: Generated<string>;
}

interface JobProgressTable {
  job_id: number;
  part: number;
  updated_at: Generated<string>;
}

interface JobWorkersTable {
  worker_id: string;
  process: number;
  kinds: string[] | null;
}

interface LastWritesTable {
  user_ref: number;
  position: unknown;
}

interface LinkDecisionsTable {
  id: Generated<string>;
  link_id: string;
  guest_id: string;
  asset_id: string | null;
  decision: 'approved' | 'changes_requested';
  note: Generated<string>;
  decided_at: Generated<string>;
}

interface LinkGuestsTable {
  id: Generated<string>;
  link_id: string;
  token_hash: Buffer;
  name: string;
  muted_at: string | null;
  created_at: Generated<string>;
}

interface LinkPicksTable {
  id: Generated<string>;
  link_id: string;
  guest_id: string;
  asset_id: string;
  picked_at: Generated<string>;
}

interface LinkStreamsTable {
  stream_id: string;
  link_id: string;
  seen_at: Generated<string>;
}

interface LogosTable {
  hash: string;
  content_type: string;
  width: number;
  height: number;
  size_bytes: number;
  last_used_at: Generated<string>;
}

interface MailCountsTable {
  key: string;
  sent: Generated<number>;
  since: Generated<string>;
}

interface MigrationsTable {
  name: string;
  applied_at: Generated<string>;
}

interface NotificationPreferencesTable {
  user_ref: number;
  mail_enabled: Generated<boolean>;
  kinds: DefaultedJson;
  digest_every: Generated<'day' | 'week'>;
  digest_hour: Generated<number>;
  digest_weekday: Generated<number>;
  digest_zone: Generated<string>;
}

interface NotificationsTable {
  id: Generated<string>;
  user_ref: number;
  kind:
    | 'request_received'
    | 'request_decided'
    | 'comment'
    | 'reply'
    | 'watched_comment'
    | 'like'
    | 'follow'
    | 'mention'
    | 'team_member_added'
    | 'publish_failed'
    | 'review_requested'
    | 'review_decided'
    | 'review_reopened'
    | 'review_due'
    | 'state_changed'
    | 'assigned'
    | 'guest_feedback'
    | 'deletion_requested'
    | 'deletion_decided';
  act: string | null;
  actor_user_ref: number | null;
  post_id: string | null;
  comment_id: string | null;
  request_id: string | null;
  in_app: boolean;
  mail: 'off' | 'now' | 'digest';
  mailed_at: string | null;
  created_at: Generated<string>;
  happened_at: Generated<string>;
  read_at: string | null;
  team_id: string | null;
  member_user_ref: number | null;
  review_id: string | null;
  asset_id: string | null;
  state_id: string | null;
  link_id: string | null;
  review_decision: 'approved' | 'changes_requested' | null;
}

interface NotifiedLikesTable {
  post_id: string;
  actor_user_ref: number;
  notification_id: string;
}

interface PasskeyChallengesTable {
  challenge_hash: Buffer;
  session_id: string | null;
  user_handle: Buffer | null;
  expires_at: string;
}

interface PasskeysTable {
  id: Generated<string>;
  user_ref: number;
  name: string;
  credential_id: Buffer;
  public_key: Buffer;
  user_handle: Buffer;
  counter: number;
  transports: Generated<string[]>;
  multi_device: boolean;
  backed_up: boolean;
  created_at: Generated<string>;
  last_used_at: string | null;
}

interface PictureCodesTable {
  file_hash: string;
  model: string;
  code: unknown;
}

interface PicturePrintsTable {
  file_hash: string;
  print: unknown | null;
  pieces: Generated<number[]>;
  made_at: Generated<string>;
}

interface PictureVectorsTable {
  file_hash: string;
  model: string;
  vector: unknown | null;
  error: string | null;
  encoded_at: Generated<string>;
}

interface PostDocumentsTable {
  post_id: string;
  at: string;
  document: unknown;
  names: string;
  gated: Generated<boolean>;
}

interface PostGatedDocumentsTable {
  post_id: string;
  asset_id: string;
  document: unknown;
}

interface PostLikesTable {
  post_id: string;
  user_ref: number;
  created_at: Generated<string>;
}

interface PostMembersTable {
  post_id: string;
  asset_id: string;
  sort_order: number;
}

interface PostPinsTable {
  post_id: string;
  user_ref: number;
  pinned_at: Generated<string>;
}

interface PostPresenceTable {
  stream_id: string;
  post_id: string;
  user_ref: number | null;
  seen_at: Generated<string>;
}

interface PostSchedulesTable {
  post_id: string;
  publish_at: string;
  user_ref: number | null;
  token_id: string | null;
  impersonator_user_ref: number | null;
  override_reason: string | null;
}

interface PostSharesTable {
  post_id: string;
  user_ref: number;
  created_at: Generated<string>;
  expires_at: string | null;
}

interface PostWatchesTable {
  post_id: string;
  user_ref: number;
  watching: boolean;
  created_at: Generated<string>;
}

interface PostsTable {
  id: Generated<string>;
  author_user_ref: number;
  title: Generated<string>;
  description: Generated<string>;
  visibility: Generated<'public' | 'private' | 'org-only' | 'followers' | 'explicit-share'>;
  cover_asset_id: string | null;
  cover_thumbnail_asset_id: string | null;
  cover_focal_x: number | null;
  cover_focal_y: number | null;
  state_id: string;
  draft: GeneratedAlways<boolean>;
  comments_enabled: Generated<boolean>;
  tags: Generated<string[]>;
  team_id: string | null;
  like_count: Generated<number>;
  comment_count: Generated<number>;
  posted_at: Generated<string>;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  deleted_at: string | null;
  deleted_reason: string | null;
  deleted_by_user_ref: number | null;
  published_at: string | null;
  trend: GeneratedAlways<number>;
  cover_focal_asset_id: string | null;
  origin_peer_id: string | null;
  remote_visibility: string | null;
  remote_comments: boolean | null;
  visible_until: string | null;
}

interface PushSubscriptionsTable {
  id: Generated<string>;
  user_ref: number;
  session_id: string;
  endpoint: string;
  p256dh: string;
  auth: string;
  created_at: Generated<string>;
}

interface RateBudgetsTable {
  key: string;
  used: number;
  ends_at: string;
}

interface RecoveryCodesTable {
  user_ref: number;
  code_hash: Buffer;
}

interface RelatedAssetsTable {
  asset_id: string;
  related_id: string;
  created_at: Generated<string>;
}

interface RemoteActorsTable {
  ref: number;
  peer_id: string;
  uri: string;
  username: string;
  display_name: string;
  signing_key: Buffer;
  fetched_at: Generated<string>;
  box_key: Buffer | null;
  box_version: number | null;
}

interface RemotePostLikesTable {
  post_id: string;
  actor_ref: number;
  created_at: Generated<string>;
}

interface ResourceRequestsTable {
  id: Generated<string>;
  requester_user_ref: number;
  target_kind: 'asset' | 'post' | 'collection';
  target_id: string;
  requested_capability: string;
  reason: string | null;
  state: Generated<'pending' | 'granted' | 'denied' | 'expired'>;
  requested_at: Generated<string>;
  decided_at: string | null;
  decided_by_user_ref: number | null;
  decision_reason: string | null;
  grant_ended_at: string | null;
}

interface ReviewFileDecisionsTable {
  review_id: string;
  user_ref: number;
  asset_id: string;
  decision: 'approved' | 'changes_requested';
  note: string | null;
}

interface ReviewReviewersTable {
  review_id: string;
  user_ref: number;
  position: number;
  decision: 'approved' | 'changes_requested' | null;
  note: string | null;
  version: number | null;
  decided_at: string | null;
}

interface ReviewedPostsTable {
  post_id: string;
  version: Generated<number>;
  content: string;
}

interface ReviewsTable {
  id: Generated<string>;
  post_id: string;
  requested_by_user_ref: number | null;
  note: string | null;
  due_at: string | null;
  created_at: Generated<string>;
  closed_at: string | null;
  reminded_before: Generated<boolean>;
  reminded_after: Generated<boolean>;
}

interface RoleCapabilitiesTable {
  role_id: string;
  capability: string;
}

interface RolesTable {
  id: Generated<string>;
  code: string;
  label: string;
  parent_id: string | null;
  description: Generated<string>;
  requires_second_factor: Generated<boolean>;
  seeded: Generated<boolean>;
}

interface RootChangesTable {
  root_id: string;
  folder: Buffer;
  due_at: Generated<string>;
}

interface RootEditsTable {
  asset_id: string;
  root_id: string;
  edited_at: Generated<string>;
}

interface RootFilesTable {
  id: GeneratedAlways<number>;
  root_id: string;
  path: Buffer;
  is_sidecar: Generated<boolean>;
  size_bytes: number;
  modified_us: number;
  device: string;
  hash: string;
  asset_id: string | null;
  missing_since: string | null;
  is_film: Generated<boolean>;
}

interface RootsTable {
  id: Generated<string>;
  path: string;
  owner_user_ref: number | null;
  team_id: string | null;
  sensitivity: 'posts' | 'public' | 'org' | 'team' | 'restricted';
  writable: Generated<boolean>;
  sidecars: Generated<'off' | 'read' | 'write'>;
  skip: Generated<string[]>;
  fields: DefaultedJson;
  identity: string | null;
  scan_id: string | null;
  scan_state: Generated<'never' | 'waiting' | 'running' | 'done' | 'unavailable' | 'failed'>;
  scan_counts: DefaultedJson;
  scan_reason: string | null;
  scan_at: string | null;
  lease: string | null;
  lease_until: string | null;
  created_at: Generated<string>;
  unstacked_from: number | null;
}

interface SavedSearchesTable {
  id: Generated<string>;
  user_ref: number;
  name: string;
  query: Json;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  name_key: string | null;
}

interface ScimGroupsTable {
  id: Generated<string>;
  provider: string;
  display_name: string;
  display_name_key: string;
  external_id: string | null;
  created_at: Generated<string>;
  updated_at: Generated<string>;
}

interface ScimMembersTable {
  group_id: string;
  user_ref: number;
}

interface ScimTokensTable {
  id: Generated<string>;
  provider: string;
  name: string;
  token_hash: Buffer;
  created_at: Generated<string>;
  expires_at: string | null;
  last_used_at: string | null;
}

interface ScimUsersTable {
  user_ref: number;
  provider: string;
  external_id: string | null;
  attributes: DefaultedJson;
  status_before: 'disabled' | 'archived' | null;
}

interface SessionsTable {
  id: Generated<string>;
  token_hash: Buffer;
  user_ref: number;
  impersonator_user_ref: number | null;
  user_agent: Generated<string>;
  address: Generated<string>;
  created_at: Generated<string>;
  last_used_at: Generated<string>;
  expires_at: string;
  provider: string | null;
  provider_sid: string | null;
}

interface SettingsTable {
  key: string;
  value: Json;
  updated_at: Generated<string>;
}

interface ShareLinkFilesTable {
  link_id: string;
  asset_id: string;
  view_count: Generated<number>;
  download_count: Generated<number>;
  last_viewed_at: string | null;
  last_downloaded_at: string | null;
  last_at: Generated<string>;
  id: Generated<string>;
  guest_id: string | null;
}

interface ShareLinksTable {
  id: Generated<string>;
  token_hash: Buffer;
  post_id: string | null;
  asset_id: string | null;
  collection_id: string | null;
  created_by_user_ref: number;
  label: Generated<string>;
  password_hash: string | null;
  allow_download: Generated<boolean>;
  watermark: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  opened_count: Generated<number>;
  last_opened_at: string | null;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  token_sealed: Buffer | null;
  view_count: Generated<number>;
  download_count: Generated<number>;
  version: number | null;
  presets: string[] | null;
  allow_feedback: Generated<boolean>;
  allow_picks: Generated<boolean>;
  max_picks: number | null;
}

interface ShownMembersTable {
  post_id: string;
  asset_id: string;
  posted_at: string;
  audience: 'org-only' | 'public';
}

interface SignInFailuresTable {
  name: string;
  failures: number;
  last_at: Generated<string>;
  locked_until: string | null;
}

interface SignInFlowsTable {
  id: Generated<string>;
  browser_hash: Buffer;
  provider: string;
  purpose: 'sign_in' | 'link' | 'confirm' | 'second_factor';
  user_ref: number | null;
  session_id: string | null;
  return_to: string | null;
  identity: NullableJson;
  created_at: Generated<string>;
  expires_at: string;
  used_at: string | null;
  invitation_id: string | null;
}

interface SimilarFilesTable {
  id: Generated<string>;
  first_hash: string;
  second_hash: string;
  bits: number;
  found_at: Generated<string>;
}

interface StackedAssetsTable {
  asset_id: string;
  stack_id: string;
  place: number;
}

interface SubtitlesTable {
  asset_id: string;
  lang: string;
  label: Generated<string>;
  file_hash: string;
  size_bytes: number;
  source_format: 'srt' | 'vtt' | 'ass' | 'ssa' | 'sbv' | 'pgs' | 'vobsub';
  confidence: number;
  created_at: Generated<string>;
  embedded: Generated<boolean>;
}

interface TagDocumentsTable {
  tag: string;
  document: unknown;
  names: string;
}

interface TagFollowsTable {
  user_ref: number;
  tag: string;
  created_at: Generated<string>;
  key: string | null;
}

interface TagRunsTable {
  number: GeneratedAlways<number>;
  id: Generated<string>;
  source: string;
  target: string;
  done: Generated<number>;
  total: number;
  started_at: Generated<string>;
  finished_at: string | null;
}

interface TagsTable {
  name: string;
  folded: GeneratedAlways<string>;
  seen_in_public: Generated<boolean>;
  key: string | null;
}

interface TeamClosureTable {
  ancestor_id: string;
  descendant_id: string;
}

interface TeamFollowsTable {
  user_ref: number;
  team_id: string;
  created_at: Generated<string>;
}

interface TeamMembersTable {
  team_id: string;
  user_ref: number;
  created_at: Generated<string>;
  provider: string | null;
  role: Generated<'lead' | 'member' | 'contributor' | 'viewer'>;
}

interface TeamParentsTable {
  team_id: string;
  parent_id: string;
}

interface TeamsTable {
  id: Generated<string>;
  slug: string;
  name: string;
  description: Generated<string>;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  deleted_at: string | null;
  origin_server_id: string | null;
  hero_asset_id: string | null;
  deleted_by_user_ref: number | null;
}

interface TranscodesTable {
  file_hash: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  progress: Generated<number>;
  error: string | null;
  updated_at: Generated<string>;
}

interface TwoFactorTable {
  user_ref: number;
  sealed_secret: Buffer;
  enrolled_at: Generated<string>;
  confirmed_at: string | null;
  last_step: Generated<number>;
  last_used_at: string | null;
}

interface UploadsTable {
  id: string;
  owner_user_ref: number;
  size_bytes: number | null;
  received_bytes: Generated<number>;
  metadata: DefaultedJson;
  writer: string | null;
  file_hash: string | null;
  mime: string | null;
  extension: string | null;
  finished_at: string | null;
  used_at: string | null;
  asset_id: string | null;
  created_at: Generated<string>;
  expires_at: string;
}

interface UsedLogoutTokensTable {
  provider: string;
  id_hash: Buffer;
  expires_at: string;
}

interface UserCapabilityGrantsTable {
  id: Generated<string>;
  user_ref: number;
  capability: string;
  team_id: string | null;
  note: string | null;
  granted_by_user_ref: number | null;
  created_at: Generated<string>;
  expires_at: string | null;
  request_ref: string | null;
}

interface UserCapabilityRevokesTable {
  id: Generated<string>;
  user_ref: number;
  capability: string;
  team_id: string | null;
  note: string | null;
  revoked_by_user_ref: number | null;
  created_at: Generated<string>;
  expires_at: string | null;
}

interface UserDocumentsTable {
  user_ref: number;
  document: unknown;
  names: string;
  full_document: unknown;
  full_names: string;
}

interface UserFollowsTable {
  follower_user_ref: number;
  followed_user_ref: number;
  created_at: Generated<string>;
}

interface UserIdentitiesTable {
  id: Generated<string>;
  user_ref: number;
  kind: 'oidc' | 'saml';
  issuer: string;
  subject: string;
  provider: string;
  username: string | null;
  email: string | null;
  created_at: Generated<string>;
  last_used_at: string | null;
  groups: Generated<string[]>;
}

interface UsersTable {
  ref: GeneratedAlways<number>;
  username: string;
  password_hash: string | null;
  role_id: string;
  status: Generated<'active' | 'pending' | 'disabled' | 'archived'>;
  fullname: string | null;
  email: string | null;
  display_name: string | null;
  bio: Generated<string>;
  avatar_asset_id: string | null;
  hide_from_anonymous: Generated<boolean>;
  preferences: DefaultedJson;
  created_at: Generated<string>;
  updated_at: Generated<string>;
  provider: Generated<string>;
  provider_subject: string | null;
  last_seen_at: string | null;
  quota_bytes: number | null;
  username_key: string | null;
  hashed_as: string | null;
  email_key: string | null;
  role_provider: string | null;
  email_confirmed_at: string | null;
  registration: 'unverified' | 'verified' | null;
  expires_at: string | null;
  status_provider: string | null;
  picture_url: string | null;
  picture_asset_id: string | null;
  banner_asset_id: string | null;
  links: DefaultedJson;
}

interface WhiteboardsTable {
  id: Generated<string>;
  post_id: string;
  author_user_ref: number;
  title: Generated<string>;
  strokes: unknown;
  created_at: Generated<string>;
  updated_at: Generated<string>;
}

interface WorkflowStatesTable {
  id: string;
  domain: string;
  code: string;
  label: string;
  sort_order: number;
  moves_to: Generated<string[]>;
  capability: string | null;
  seeded: Generated<boolean>;
}

export interface Tables {
  access_epoch: AccessEpochTable;
  access_tokens: AccessTokensTable;
  account_exports: AccountExportsTable;
  account_links: AccountLinksTable;
  activitypub_actors: ActivitypubActorsTable;
  activitypub_deliveries: ActivitypubDeliveriesTable;
  activitypub_followers: ActivitypubFollowersTable;
  activitypub_inboxes: ActivitypubInboxesTable;
  activitypub_memory: ActivitypubMemoryTable;
  activitypub_posts: ActivitypubPostsTable;
  activitypub_reactions: ActivitypubReactionsTable;
  annotations: AnnotationsTable;
  archive_files: ArchiveFilesTable;
  archives: ArchivesTable;
  asset_changes: AssetChangesTable;
  asset_documents: AssetDocumentsTable;
  asset_downloads: AssetDownloadsTable;
  asset_field_values: AssetFieldValuesTable;
  asset_gated_documents: AssetGatedDocumentsTable;
  asset_shares: AssetSharesTable;
  asset_sidecars: AssetSidecarsTable;
  asset_tags: AssetTagsTable;
  asset_types: AssetTypesTable;
  asset_versions: AssetVersionsTable;
  assets: AssetsTable;
  audit_events: AuditEventsTable;
  batch_items: BatchItemsTable;
  batches: BatchesTable;
  collection_assets: CollectionAssetsTable;
  collection_documents: CollectionDocumentsTable;
  collection_field_values: CollectionFieldValuesTable;
  collection_gated_documents: CollectionGatedDocumentsTable;
  collection_posts: CollectionPostsTable;
  collection_shares: CollectionSharesTable;
  collections: CollectionsTable;
  comment_likes: CommentLikesTable;
  comments: CommentsTable;
  converted_files: ConvertedFilesTable;
  deletion_requests: DeletionRequestsTable;
  different_assets: DifferentAssetsTable;
  extraction_runs: ExtractionRunsTable;
  failed_sign_ins: FailedSignInsTable;
  featured_posts: FeaturedPostsTable;
  federated_collection_items: FederatedCollectionItemsTable;
  federated_objects: FederatedObjectsTable;
  federated_recipients: FederatedRecipientsTable;
  federated_subtitles: FederatedSubtitlesTable;
  federated_values: FederatedValuesTable;
  federation_announced: FederationAnnouncedTable;
  federation_box_keys: FederationBoxKeysTable;
  federation_fields: FederationFieldsTable;
  federation_grants: FederationGrantsTable;
  federation_inbox: FederationInboxTable;
  federation_keys: FederationKeysTable;
  federation_offers: FederationOffersTable;
  federation_outbox: FederationOutboxTable;
  federation_peers: FederationPeersTable;
  federation_rejections: FederationRejectionsTable;
  federation_retired_keys: FederationRetiredKeysTable;
  federation_rotations: FederationRotationsTable;
  federation_sent_fields: FederationSentFieldsTable;
  federation_shares: FederationSharesTable;
  feed_views: FeedViewsTable;
  field_default_overrides: FieldDefaultOverridesTable;
  field_runs: FieldRunsTable;
  field_term_aliases: FieldTermAliasesTable;
  field_terms: FieldTermsTable;
  field_value_history: FieldValueHistoryTable;
  fields: FieldsTable;
  fields_epoch: FieldsEpochTable;
  file_checksums: FileChecksumsTable;
  file_metadata: FileMetadataTable;
  files: FilesTable;
  guest_comments: GuestCommentsTable;
  identity_providers: IdentityProvidersTable;
  import_runs: ImportRunsTable;
  imported_ids: ImportedIdsTable;
  invitation_teams: InvitationTeamsTable;
  invitations: InvitationsTable;
  job_progress: JobProgressTable;
  job_workers: JobWorkersTable;
  last_writes: LastWritesTable;
  link_decisions: LinkDecisionsTable;
  link_guests: LinkGuestsTable;
  link_picks: LinkPicksTable;
  link_streams: LinkStreamsTable;
  logos: LogosTable;
  mail_counts: MailCountsTable;
  migrations: MigrationsTable;
  notification_preferences: NotificationPreferencesTable;
  notifications: NotificationsTable;
  notified_likes: NotifiedLikesTable;
  passkey_challenges: PasskeyChallengesTable;
  passkeys: PasskeysTable;
  picture_codes: PictureCodesTable;
  picture_prints: PicturePrintsTable;
  picture_vectors: PictureVectorsTable;
  post_documents: PostDocumentsTable;
  post_gated_documents: PostGatedDocumentsTable;
  post_likes: PostLikesTable;
  post_members: PostMembersTable;
  post_pins: PostPinsTable;
  post_presence: PostPresenceTable;
  post_schedules: PostSchedulesTable;
  post_shares: PostSharesTable;
  post_watches: PostWatchesTable;
  posts: PostsTable;
  push_subscriptions: PushSubscriptionsTable;
  rate_budgets: RateBudgetsTable;
  recovery_codes: RecoveryCodesTable;
  related_assets: RelatedAssetsTable;
  remote_actors: RemoteActorsTable;
  remote_post_likes: RemotePostLikesTable;
  resource_requests: ResourceRequestsTable;
  review_file_decisions: ReviewFileDecisionsTable;
  review_reviewers: ReviewReviewersTable;
  reviewed_posts: ReviewedPostsTable;
  reviews: ReviewsTable;
  role_capabilities: RoleCapabilitiesTable;
  roles: RolesTable;
  root_changes: RootChangesTable;
  root_edits: RootEditsTable;
  root_files: RootFilesTable;
  roots: RootsTable;
  saved_searches: SavedSearchesTable;
  scim_groups: ScimGroupsTable;
  scim_members: ScimMembersTable;
  scim_tokens: ScimTokensTable;
  scim_users: ScimUsersTable;
  sessions: SessionsTable;
  settings: SettingsTable;
  share_link_files: ShareLinkFilesTable;
  share_links: ShareLinksTable;
  shown_members: ShownMembersTable;
  sign_in_failures: SignInFailuresTable;
  sign_in_flows: SignInFlowsTable;
  similar_files: SimilarFilesTable;
  stacked_assets: StackedAssetsTable;
  subtitles: SubtitlesTable;
  tag_documents: TagDocumentsTable;
  tag_follows: TagFollowsTable;
  tag_runs: TagRunsTable;
  tags: TagsTable;
  team_closure: TeamClosureTable;
  team_follows: TeamFollowsTable;
  team_members: TeamMembersTable;
  team_parents: TeamParentsTable;
  teams: TeamsTable;
  transcodes: TranscodesTable;
  two_factor: TwoFactorTable;
  uploads: UploadsTable;
  used_logout_tokens: UsedLogoutTokensTable;
  user_capability_grants: UserCapabilityGrantsTable;
  user_capability_revokes: UserCapabilityRevokesTable;
  user_documents: UserDocumentsTable;
  user_follows: UserFollowsTable;
  user_identities: UserIdentitiesTable;
  users: UsersTable;
  whiteboards: WhiteboardsTable;
  workflow_states: WorkflowStatesTable;
}
