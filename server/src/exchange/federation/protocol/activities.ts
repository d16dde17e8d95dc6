import { closed, nullable } from '@vitrine/contract/values';
import { type Static, type TProperties, Type } from 'typebox';
import { parseActorUri, parseObjectUri } from './addresses.ts';
import { type AaObject, readObject } from './objects.ts';
import { Rejection } from './rejection.ts';
import {
  ActivityUri,
  ActorUri,
  CasUri,
  InstanceUrl,
  ObjectUri,
  objectOrActorUri,
  objectUriOf,
  ThingUri,
  Time,
  text,
} from './values.ts';

const kindOfObject = {
  post: 'posts',
  collection: 'collections',
  workspace: 'workspaces',
  brand_kit: 'brand_kits',
  asset: 'assets',
} as const;

const shared = {
  object_kind: Type.Enum(['post', 'collection', 'workspace', 'brand_kit', 'asset', 'user']),
  object: objectOrActorUri('posts', 'collections', 'workspaces', 'brand_kits', 'assets'),
  target_peer: InstanceUrl,
  /** Absent or null: everyone at the peer. */
  target_user: Type.Optional(nullable(ActorUri)),
  /** Extension of the protocol: the members of a team at the peer. */
  target_team: Type.Optional(nullable(objectUriOf('workspaces'))),
};
const share = {
  ...shared,
  scope: Type.Enum(['view', 'comment', 'annotate', 'edit']),
  expires_at: Type.Optional(nullable(Time)),
};
const Share = closed(share);
type Share = Static<typeof Share>;
const Unshare = closed(shared);
type Unshare = Static<typeof Unshare>;

const comment = { 'aa:comment': Type.Optional(text(10_000)) };
const review = { object: objectUriOf('assets', 'posts'), ...comment, 'aa:reviewedAt': Type.Optional(Time) };

/** A like inside the activity that undoes it, or only the liked object. */
const UndoneLike = closed({
  type: Type.Literal('Like'),
  id: Type.Optional(ActivityUri),
  actor: Type.Optional(ActorUri),
  object: ThingUri,
});

/** The properties of each activity beside those of every envelope. */
export const bodies = {
  /** `object` is read by its own type. */
  Create: { object: Type.Unknown() },
  Update: { object: Type.Unknown() },
  Delete: { object: ThingUri },
  Like: { object: ThingUri },
  Undo: { object: Type.Union([ThingUri, UndoneLike]) },
  Follow: { object: ActorUri },
  Accept: { object: ActivityUri },
  Reject: { object: ActivityUri },
  Announce: { object: ObjectUri },
  Block: { object: ActorUri },
  'aa:Share': share,
  'aa:Unshare': shared,
  'aa:Approve': review,
  'aa:RequestChanges': review,
  'aa:MarkReviewed': review,
  'aa:Annotation': { object: objectUriOf('assets'), ...comment },
  'aa:WorkflowTransition': {
    object: ObjectUri,
    'aa:from': Type.Optional(text(100)),
    'aa:to': Type.Optional(text(100)),
    ...comment,
  },
  'aa:AssetVersion': { object: objectUriOf('assets'), 'aa:url': CasUri },
  'aa:Subscribe': { object: objectOrActorUri('collections', 'workspaces') },
  'aa:Mention': { object: ActorUri, ...comment },
} as const satisfies Record<string, TProperties>;

export type ActivityType = keyof typeof bodies;

type Plain<T extends ActivityType> = Static<ReturnType<typeof closed<(typeof bodies)[T]>>>;

/** Activities whose parsed properties differ from those on the wire. */
interface Read {
  Create: { object: AaObject };
  Update: { object: AaObject };
  Undo: { object: { type: 'Like'; object: string } };
  'aa:Share': Omit<Share, 'target_user' | 'target_team' | 'expires_at'> & {
    target_user?: string;
    target_team?: string;
    expires_at?: string;
  };
  'aa:Unshare': Omit<Unshare, 'target_user' | 'target_team'> & { target_user?: string; target_team?: string };
}

/** The content of an activity, by its type. */
export type Activity = {
  [T in ActivityType]: { type: T } & (T extends keyof Read ? Read[T] : Plain<T>);
}[ActivityType];

export function isActivityType(type: string): type is ActivityType {
  return Object.hasOwn(bodies, type);
}

/** Checks what the schema cannot: that the parts are consistent. Null is the same as absent. */
function readShare<S extends Share | Unshare>(body: S) {
  const {
    object,
    object_kind: kind,
    target_peer: peer,
    target_user: user,
    target_team: team,
    ...rest
  } = body;
  const fits =
    kind === 'user' ? parseActorUri(object) !== null : parseObjectUri(object)?.kind === kindOfObject[kind];
  if (!fits) throw new Rejection('malformed', 'object is not of the kind that object_kind names');
  if (user != null && parseActorUri(user)?.base !== peer)
    throw new Rejection('malformed', 'target_user does not belong to target_peer');
  if (team != null && (parseObjectUri(team)?.base !== peer || user != null))
    throw new Rejection('malformed', 'target_team belongs to target_peer and excludes target_user');
  const expires = 'expires_at' in rest ? rest.expires_at : null;
  if (expires == null) Reflect.deleteProperty(rest, 'expires_at');
  return {
    ...rest,
    object,
    object_kind: kind,
    target_peer: peer,
    ...(user != null && { target_user: user }),
    ...(team != null && { target_team: team }),
  };
}

/** Returns an activity from the properties that the schema of its type has checked; throws Rejection. */
export function readActivity(type: ActivityType, body: object): Activity {
  const object: unknown = Reflect.get(body, 'object');
  switch (type) {
    case 'Create':
    case 'Update':
      return { type, object: readObject(object) };
    case 'Undo':
      // The schema allows either the like or the liked object.
      return {
        type,
        object: {
          type: 'Like',
          object: typeof object === 'string' ? object : (object as { object: string }).object,
        },
      };
    case 'aa:Share':
    case 'aa:Unshare':
      // The schema of the type has checked the properties, and readShare drops nulls.
      return { type, ...readShare(body as Share | Unshare) } as Activity;
    default:
      // The schema of the type has checked the properties.
      return { type, ...body } as Activity;
  }
}
