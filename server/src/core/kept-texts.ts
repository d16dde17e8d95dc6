import { LRUCache } from 'lru-cache';
import type { Columns } from '../platform/database/pool.ts';

/** The part of an asset that is the same for every caller of a kind, as JSON, and what the rest depends on. */
export interface KeptAsset extends Columns<'assets', 'owner_user_ref' | 'mature' | 'sensitivity'> {
  version: string;
  /** Without the closing brace. */
  text: string;
  asset_team_id: string | null;
  asset_deleted_at: string | null;
  /** The root of its file and the path there, which few callers see. */
  root: { id: string; path: string } | null;
  has_col: boolean;
  has_ladder: boolean;
  has_cues: boolean;
}

/** The part of a post that is the same for every caller of a kind, as JSON without the closing brace. */
export interface KeptPost {
  version: string;
  text: string;
}

/** What keeps texts by their key. */
export interface Texts<T> {
  get(key: string): T | undefined;
  set(key: string, text: T): unknown;
}

/**
 * Keeps nothing. For transactions: one that has changed a row may change it again under the same version, and may be rolled
 * back.
 */
export const noTexts: Texts<never> = { get: () => undefined, set: () => undefined };

/** Assets as text, the most recently used ones, within a bound of memory. */
export type AssetTexts = LRUCache<string, KeptAsset>;
/** Posts as text without their members, the most recently used ones, within a bound of memory. */
export type PostTexts = LRUCache<string, KeptPost>;

/** Roughly bytes, because most text is ASCII. */
const MOST_ASSET_CHARACTERS = 32 * 1024 * 1024;
const MOST_POST_CHARACTERS = 16 * 1024 * 1024;

const sizeOf = <T extends { text: string }>(kept: T) => kept.text.length + 200;

/** Opens the cache of assets. */
export function openAssetTexts(maxSize = MOST_ASSET_CHARACTERS): AssetTexts {
  return new LRUCache({ maxSize, sizeCalculation: sizeOf<KeptAsset> });
}

/** Opens the cache of posts. */
export function openPostTexts(maxSize = MOST_POST_CHARACTERS): PostTexts {
  return new LRUCache({ maxSize, sizeCalculation: sizeOf<KeptPost> });
}
