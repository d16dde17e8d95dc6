import type { Sensitivity, ShownAsset } from '@vitrine/contract/assets';
import { fileWords, type InWords } from '#lib/audience/words.ts';
import { phrase } from '#lib/languages/phrase.ts';

type Status = ShownAsset['status'];

/** What the status of a file means for its audience (ASSET-1: the read rule). */
export const statusWords: Readonly<Record<Status, InWords>> = {
  active: { label: 'Active', explanation: 'In use: its audience can see it.' },
  draft: { label: 'Draft', explanation: 'Not ready: only the owner and administrators see it.' },
  archived: { label: 'Archived', explanation: 'No longer in use: only the owner and administrators see it.' },
};

export const statuses: readonly Status[] = ['active', 'draft', 'archived'];

/** Returns the audiences that can be chosen. The team is included if the file has one or if it was chosen before. */
export function sensitivityChoices(asset: ShownAsset): readonly Sensitivity[] {
  const hasTeam = asset.team_id !== undefined || asset.sensitivity === 'team';
  return hasTeam
    ? ['posts', 'team', 'org', 'public', 'restricted']
    : ['posts', 'org', 'public', 'restricted'];
}

/**
 * ASSET-12: the sensitivity is present only for its owner and administrators. Mirrored content is changed only at its
 * origin.
 */
export function mayChange(asset: ShownAsset): boolean {
  return asset.sensitivity !== undefined && asset.origin === undefined;
}

/** Describes who sees a file, as far as the viewer may know. People who may change it know everything. */
export function audienceText(asset: ShownAsset): string {
  const whoSees = phrase('The picture itself is shown to people who chose to see mature content.');
  const rated = asset.mature ? ` ${whoSees}` : '';
  if (asset.anonymously_visible)
    return `Everyone who signs in, and visitors while public mode is on.${rated}`;
  if (asset.sensitivity === undefined) return `You, and others it is shared with.${rated}`;
  const owners = 'Only the owner and administrators';
  if (asset.status === 'draft') return `${owners}, because it is a draft.`;
  if (asset.status === 'archived') return `${owners}, because it is archived.`;
  if (asset.processing_status === 'failed') return `${owners}, until its previews can be made.`;
  if (asset.sensitivity === 'public')
    return `Everyone who signs in. Visitors too once its previews are made.${rated}`;
  if (asset.sensitivity === 'team' && asset.team_id === undefined) return `${owners}: it belongs to no team.`;
  return `${fileWords[asset.sensitivity].explanation}${rated}`;
}
