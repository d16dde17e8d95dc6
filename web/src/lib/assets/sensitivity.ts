import type { ShownAsset } from '@vitrine/contract/assets';

type Sensitivity = NonNullable<ShownAsset['sensitivity']>;
type Status = ShownAsset['status'];

interface InWords {
  readonly label: string;
  readonly explanation: string;
}

/** Who is shown an asset that is active, in words (choices, assets: the field rule). */
export const sensitivityWords: Readonly<Record<Sensitivity, InWords>> = {
  public: {
    label: 'Everyone here',
    explanation: 'Anyone who signs in, and visitors without an account while public mode is on.',
  },
  team: {
    label: 'Its team',
    explanation: 'Members of its team and administrators. Others see an empty frame and its owner’s name.',
  },
  restricted: {
    label: 'Only the owner',
    explanation: 'The owner and administrators. Others see an empty frame and its owner’s name.',
  },
};

/** What an asset's status means for those who look (choices, assets: the read rule). */
export const statusWords: Readonly<Record<Status, InWords>> = {
  active: { label: 'Active', explanation: 'In use: whoever may see it is given it.' },
  draft: { label: 'Draft', explanation: 'Not ready: only the owner and administrators are given it.' },
  archived: { label: 'Archived', explanation: 'Put away: only the owner and administrators are given it.' },
};

export const statuses: readonly Status[] = ['active', 'draft', 'archived'];

/** Who can be chosen. A team only where there is one, or where it was chosen before. */
export function sensitivityChoices(asset: ShownAsset): readonly Sensitivity[] {
  const hasTeam = asset.team_id !== undefined || asset.sensitivity === 'team';
  return hasTeam ? ['public', 'team', 'restricted'] : ['public', 'restricted'];
}

/** spec 2.5: sensitivity is told to exactly those who may change the asset (choices, assets). */
export function mayChange(asset: ShownAsset): boolean {
  return asset.sensitivity !== undefined;
}

/** Who is given an asset, in words: all of it to those who may change it, and a stranger's part to others. */
export function seenBy(asset: ShownAsset): string {
  const rated = asset.mature ? ' The picture itself is shown to those who chose to see mature content.' : '';
  if (asset.anonymously_visible) {
    return `Anyone who signs in, and visitors without an account while public mode is on.${rated}`;
  }
  if (asset.sensitivity === undefined) return `You, and whoever else it is shared with.${rated}`;
  const owners = 'Only the owner and administrators';
  if (asset.status === 'draft') return `${owners}, because it is a draft.`;
  if (asset.status === 'archived') return `${owners}, because it is archived.`;
  if (asset.processing_status === 'failed') return `${owners}, until its previews could be made.`;
  if (asset.sensitivity === 'public')
    return `Anyone who signs in. Visitors too once its previews are made.${rated}`;
  if (asset.sensitivity === 'team' && asset.team_id === undefined) return `${owners}: it belongs to no team.`;
  return `${sensitivityWords[asset.sensitivity].explanation}${rated}`;
}
