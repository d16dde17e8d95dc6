import { foldName } from '@vitrine/contract/names';
import { closed } from '@vitrine/contract/values';
import { Type } from 'typebox';
import { ownTeam } from '../../../access/teams.ts';
import type { Deps } from '../../../core/deps.ts';
import type { Database } from '../../../platform/database/pool.ts';
import { compileLater } from '../../../platform/http/compile-later.ts';
import { refuse } from '../../../platform/http/refuse.ts';
import { type Install, TEAM_SHARES } from '../identity.ts';
import { getJson, OutboundError } from '../outbound.ts';
import { objectUri, parseObjectUri } from '../protocol/addresses.ts';

/** The document of a team for peers, which they need to share something with it. */
const TeamDocument = closed({
  '@context': Type.Literal('https://artist-alley.org/protocol/v1'),
  type: Type.Literal('aa:Workspace'),
  id: Type.String({ maxLength: 500 }),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  slug: Type.String({ minLength: 1, maxLength: 80 }),
});
const teamDocument = compileLater(TeamDocument);

/** Returns the document of a team of this library; null when there is none (FED-65). Slugs are their own keys (NAME-9). */
export async function readTeamDocument(db: Database, install: Install, asked: string) {
  const slug = foldName(asked);
  const team = await db
    .selectFrom('teams as t')
    .select(['t.id', 't.name'])
    .where('t.slug', '=', slug)
    .where(ownTeam)
    .executeTakeFirst();
  if (team === undefined) return null;
  return {
    '@context': 'https://artist-alley.org/protocol/v1',
    type: 'aa:Workspace',
    id: objectUri(install.url, 'workspaces', team.id),
    name: team.name,
    slug,
  };
}

/** A team of a peer that something is shared with. */
export interface TargetTeam {
  uri: string;
  name: string;
}

/**
 * Returns the team at a peer with this slug; throws 422 if it does not exist, 409 if the peer does not support shares
 * with teams.
 */
export async function teamAt(
  deps: Deps,
  install: Install,
  peer: { display_name: string; instance_url: string; capabilities: readonly string[] },
  slug: string,
): Promise<TargetTeam> {
  if (!peer.capabilities.includes(TEAM_SHARES))
    throw refuse('peer-without-team-shares', { peer: peer.display_name });
  const none = refuse('peer-team-not-found', { peer: peer.display_name });
  try {
    const address = `${peer.instance_url}/federation/teams/${encodeURIComponent(slug)}`;
    const found = await getJson(deps, address, install);
    if (!teamDocument().Check(found) || foldName(found.slug) !== foldName(slug)) throw none;
    const at = parseObjectUri(found.id);
    if (at?.kind !== 'workspaces' || at.base !== peer.instance_url) throw none;
    return { uri: found.id, name: found.name };
  } catch (error) {
    if (error instanceof OutboundError) throw none;
    throw error;
  }
}
