import type { ShownAsset } from '@vitrine/contract/assets';
import type { Comment } from '@vitrine/contract/comments';
import type { FieldDefinition } from '@vitrine/contract/fields';
import type { SessionUser } from '@vitrine/contract/identity';
import type { Post } from '@vitrine/contract/posts';

const moment = '2026-01-02T03:04:05.000Z';

/** Returns a ready picture of 600 by 400 pixels, with these properties overridden. */
export function assetOf(id: string, given: Partial<ShownAsset> = {}): ShownAsset {
  return {
    id,
    restricted: false,
    title: '',
    description: '',
    asset_type: 1,
    owner_user_ref: 1,
    status: 'active',
    mature: false,
    ai_provenance: null,
    file_hash: 'h',
    file_extension: 'jpg',
    file_size_bytes: 1000,
    tags: [],
    tag_details: [],
    metadata: {},
    state_id: null,
    processing_status: 'ready',
    preview_available: true,
    ladder_available: true,
    scrub_available: false,
    anonymously_visible: false,
    thumbhash: null,
    pixel_width: 600,
    pixel_height: 400,
    subtitle_tracks: [],
    created_at: moment,
    updated_at: moment,
    ...given,
  };
}

/** Returns a post of these assets, published by Ana, with these properties overridden. */
export function postOf(assets: readonly ShownAsset[], given: Partial<Post> = {}): Post {
  return {
    id: 'p',
    author_user_ref: 1,
    author: { ref: 1, username: 'ana', display_name: 'Ana' },
    title: 'Post',
    description: '',
    visibility: 'org-only',
    draft: false,
    comments_enabled: true,
    posted_at: moment,
    like_count: 0,
    liked: false,
    comment_count: 0,
    tags: [],
    members: assets.map((asset, sort_order) => ({
      asset_id: asset.id,
      sort_order,
      restricted: false as const,
      asset,
    })),
    created_at: moment,
    updated_at: moment,
    ...given,
  };
}

/** Returns a comment whose body is its id, with these properties overridden. */
export function commentOf(id: string, given: Partial<Comment> = {}): Comment {
  return {
    id,
    post_id: 'p',
    parent_id: null,
    body: id,
    created_at: moment,
    edited_at: null,
    like_count: 0,
    liked: false,
    reply_count: 0,
    ...given,
  };
}

/** Returns the user of Ana's session, with these properties overridden. */
export function userOf(given: Partial<SessionUser> = {}): SessionUser {
  return {
    ref: 1,
    username: 'ana',
    fullname: null,
    email: null,
    auth_method: 'session',
    language: '',
    theme: '',
    default_views: { feed: '', layout: '', sort: '' },
    mature_content_allowed: false,
    capabilities: [],
    capabilities_status: 'resolved',
    impersonated_by: null,
    ...given,
  };
}

/** Returns a text field of assets in the default group, with these properties overridden. Its code is its id. */
export function fieldOf(code: string, given: Partial<FieldDefinition> = {}): FieldDefinition {
  return {
    id: code,
    code,
    label: code,
    description: '',
    type: 'text',
    subject_kind: 'asset',
    options: {},
    open_vocabulary: false,
    required: false,
    searchable: true,
    applies_to: [],
    read_capability: null,
    write_capability: null,
    display_order: 100,
    display_group: 'general',
    extraction_source: '',
    extraction_mode: '',
    show_on_card: false,
    show_in_advanced_search: true,
    show_on_upload: true,
    edit_tab: null,
    read_only: false,
    regexp_filter: null,
    mirrors_column: null,
    display_condition: null,
    translations: {},
    status: 'active',
    deprecated_replacement_id: null,
    default_value: null,
    created_at: moment,
    updated_at: moment,
    ...given,
  };
}
