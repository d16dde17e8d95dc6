import type { Library } from '../support/library.ts';
import { grant } from '../support/people.ts';
import type { TeamName } from './matrix.ts';
import { type Caller, enter, type World } from './world.ts';

/**
 * Accounts that see content like a stranger, but have additional rights concerning fields, requests or teams. The kinds
 * of callers in the table concern the content itself.
 */
const others = {
  'share.grant': [['share.grant', 'none']],
  'share.grant in the team': [['share.grant', 'team']],
  'fields.admin': [['fields.admin', 'none']],
  'fields.vocabulary.extend': [['fields.vocabulary.extend', 'none']],
  'fields.vocabulary.extend in the team': [['fields.vocabulary.extend', 'team']],
  'teams.write': [['teams.write', 'none']],
  viewer: [],
} as const satisfies Record<string, readonly (readonly [capability: string, team: TeamName])[]>;
export type Other = keyof typeof others;

const isOther = (name: string): name is Other => name in others;
const otherNames: readonly Other[] = Object.keys(others).filter(isOther);

/** Creates these accounts with a session; `none` means everywhere. */
export async function addOthers(library: Library, world: Pick<World, 'teamIds'>): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const name of otherNames) {
    // Members may extend vocabularies anyway, so viewers test the capability.
    const isViewer = name === 'viewer' || name.startsWith('fields.vocabulary.extend');
    const visitor = await enter(library, name, isViewer ? 'viewer' : 'member');
    for (const [capability, team] of others[name]) {
      const team_id = team === 'none' ? null : (world.teamIds.get(team) ?? null);
      await grant(library, visitor, capability, team_id);
    }
    callers.push({ name, kind: 'stranger', scopes: null, ref: visitor.ref, visitor });
  }
  return callers;
}
