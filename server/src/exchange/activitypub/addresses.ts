/** Addresses below `/ap`, apart from those of the federation protocol and of pages. `base` has no trailing slash. */

export const publicAudience = 'https://www.w3.org/ns/activitystreams#Public';

export function actorUri(base: string, actorId: string): string {
  return `${base}/ap/users/${actorId}`;
}

export function keyUri(base: string, actorId: string): string {
  return `${actorUri(base, actorId)}#main-key`;
}

export function followersUri(base: string, actorId: string): string {
  return `${actorUri(base, actorId)}/followers`;
}

export function noteUri(base: string, actorId: string, postId: string): string {
  return `${actorUri(base, actorId)}/posts/${postId}`;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const actorPattern = new RegExp(`^/ap/users/(${UUID})$`);
const notePattern = new RegExp(`^/ap/users/(${UUID})/posts/(${UUID})$`);
export const uuidPattern = new RegExp(`^${UUID}$`);

function pathBelow(base: string, uri: string): string | null {
  return uri.startsWith(`${base}/`) ? uri.slice(base.length) : null;
}

/** Returns the id of an actor of this library, or null for every other address. */
export function parseActor(base: string, uri: string): string | null {
  return actorPattern.exec(pathBelow(base, uri) ?? '')?.[1] ?? null;
}

/** Returns actor and post of a note of this library, or null for every other address. */
export function parseNote(base: string, uri: string): { actorId: string; postId: string } | null {
  const [, actorId, postId] = notePattern.exec(pathBelow(base, uri) ?? '') ?? [];
  return actorId === undefined || postId === undefined ? null : { actorId, postId };
}
