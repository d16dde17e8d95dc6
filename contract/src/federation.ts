import { type Static, Type } from 'typebox';
import { peerShareErrors } from './errors/groups.ts';
import { noContent, operation } from './operation.ts';
import { Count, closed, nullable, page, pageQuery, Ref, Timestamp, Uuid } from './values.ts';

/** The address of another install, without a path. */
const Address = Type.String({ minLength: 1, maxLength: 500 });
/** SHA-256 of an Ed25519 key, in lower-case hex. */
const Fingerprint = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const PeerState = Type.Enum(['pending_inbound', 'pending_outbound', 'connected', 'disabled']);
export type PeerState = Static<typeof PeerState>;

/** The origin of mirrored content; absent for content made here. */
export const Origin = closed({
  peer_id: Uuid,
  /** The name of the other library. */
  display_name: Type.String(),
  instance_url: Address,
  /** The name of the person there. */
  author: nullable(Type.String()),
  /** The name of the library that passed it on and vouches for its author; absent if it came from its own library. */
  via: Type.Optional(Type.String()),
});
export type Origin = Static<typeof Origin>;

/** Limits a list to content made here, to content that peers share, or to that of one peer. */
export const OriginFilter = Type.Union([Type.Enum(['here', 'peers']), Uuid]);
export type OriginFilter = Static<typeof OriginFilter>;

/** Whether restricted and mature content may be shared with persons of peers, encrypted for them, or is never sent. */
export const SensitiveContent = Type.Enum(['never', 'encrypted']);
export type SensitiveContent = Static<typeof SensitiveContent>;

const KeyGraceDays = Type.Integer({ minimum: 0, maximum: 90 });

/** This install as seen by its peers. */
export const FederationIdentity = closed({
  /** Null until the library has a public address; federation needs one. */
  instance_url: nullable(Address),
  display_name: Type.String(),
  fingerprint: Fingerprint,
  sensitive_content: SensitiveContent,
  /** For how many days a key is accepted after it was replaced. */
  key_grace_days: KeyGraceDays,
  /** Until when requests may still be signed with the former key; null without one. */
  former_key_until: nullable(Timestamp),
});
export type FederationIdentity = Static<typeof FederationIdentity>;

export const Peer = closed({
  id: Uuid,
  instance_url: Address,
  display_name: Type.String(),
  fingerprint: Fingerprint,
  state: PeerState,
  /** Whether an administrator of this library, and one of the other, has compared the fingerprints and accepted. */
  accepted_here: Type.Boolean(),
  accepted_there: Type.Boolean(),
  /** Whether posts that are public there may be public here. */
  accept_public: Type.Boolean(),
  capabilities: Type.Array(Type.String()),
  /** The numbers of objects that this install shares with the peer, and that the peer shares with it. */
  shared_count: Count,
  received_count: Count,
  /** Pending changes, and changes that were abandoned after three days. */
  queued_count: Count,
  failed_count: Count,
  /** Fields of the peer whose values need a decision. */
  undecided_fields: Count,
  last_seen_at: nullable(Timestamp),
  last_error: nullable(Type.String()),
  created_at: Timestamp,
});
export type Peer = Static<typeof Peer>;

const tag = 'Federation';
const params = closed({ id: Uuid });

export const getFederation = operation({
  id: 'getFederation',
  method: 'GET',
  path: '/admin/federation',
  tag,
  summary: 'Get how this install takes part in federation',
  description: 'Returns the address and the fingerprint that administrators of peers compare.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: FederationIdentity },
  errors: [],
});

export const updateFederation = operation({
  id: 'updateFederation',
  method: 'PATCH',
  path: '/admin/federation',
  tag,
  summary: 'Change how this install takes part in federation',
  description:
    'With `sensitive_content: encrypted`, restricted and mature content may be shared with persons of peers, encrypted for them. `never` withdraws content that was shared this way.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { sensitive_content: 'encrypted' },
  body: closed({
    sensitive_content: Type.Optional(nullable(SensitiveContent)),
    key_grace_days: Type.Optional(nullable(KeyGraceDays)),
  }),
  responses: { 200: FederationIdentity },
  errors: [],
});

export const rotateInstallKey = operation({
  id: 'rotateInstallKey',
  method: 'POST',
  path: '/admin/federation/rotate-key',
  tag,
  summary: 'Replace the key of this install',
  description:
    'The former key signs the new one, and peers are notified. Both are accepted until the grace period ends. Returns 409 without a public address.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  responses: { 200: FederationIdentity },
  errors: ['public-address-missing', 'public-address-unsuitable'],
});

export const rotateOwnKeys = operation({
  id: 'rotateOwnKeys',
  method: 'POST',
  path: '/account/federation-keys/rotate',
  tag: 'Account',
  summary: "Replace the caller's keys for sharing with other libraries",
  description:
    'Replaces both keys, for signing and for encryption. Former ones are accepted, and decrypt, until the grace period ends. Returns 409 without a public address.',
  door: 'signedIn',
  scope: 'admin',
  whileImpersonating: 'refused',
  responses: { 204: noContent },
  errors: ['public-address-missing', 'public-address-unsuitable'],
});

export const listPeers = operation({
  id: 'listPeers',
  method: 'GET',
  path: '/admin/peers',
  tag,
  summary: 'List the peers',
  description: 'Lists peers, newest first, with the health of each connection.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Peer) },
  errors: [],
});

export const getPeer = operation({
  id: 'getPeer',
  method: 'GET',
  path: '/admin/peers/{id}',
  tag,
  summary: 'Get a peer',
  description: 'Returns one peer with its fingerprint, its state and the health of the connection.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  params,
  responses: { 200: Peer },
  errors: ['not-found'],
});

export const addPeer = operation({
  id: 'addPeer',
  method: 'POST',
  path: '/admin/peers',
  tag,
  summary: 'Begin to pair with another install',
  description:
    'Reads the key of the install at this address and pins it. Nothing is sent until it is accepted. Returns 409 for a known address and 422 for an install that cannot be reached.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { address: 'https://media.example.org' },
  body: closed({ address: Address }),
  responses: { 201: Peer },
  errors: [
    'install-address-invalid',
    'install-not-answering',
    'install-unreachable',
    'install-with-other-address',
    'peer-exists',
    'peer-is-this-library',
    'public-address-missing',
    'public-address-unsuitable',
  ],
});

export const acceptPeer = operation({
  id: 'acceptPeer',
  method: 'POST',
  path: '/admin/peers/{id}/accept',
  tag,
  summary: 'Accept a peer',
  description:
    'States that the fingerprints were compared; both sides must accept. Enables a disabled peer again. Returns 422 if the peer cannot be reached; try again.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params,
  responses: { 200: Peer },
  errors: ['not-found', 'peer-did-not-take-part', 'public-address-missing', 'public-address-unsuitable'],
});

export const disablePeer = operation({
  id: 'disablePeer',
  method: 'POST',
  path: '/admin/peers/{id}/disable',
  tag,
  summary: 'Disable a peer',
  description:
    'Nothing is sent to it or accepted from it until it is accepted again. What was received stays.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params,
  responses: { 200: Peer },
  errors: ['not-found', 'peer-not-connected'],
});

export const updatePeer = operation({
  id: 'updatePeer',
  method: 'PATCH',
  path: '/admin/peers/{id}',
  tag,
  summary: 'Change what is accepted from a peer',
  description: 'With `accept_public`, posts that are public at the peer are public here as well.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params,
  example: { accept_public: true },
  body: closed({ accept_public: Type.Optional(nullable(Type.Boolean())) }),
  responses: { 200: Peer },
  errors: ['not-found'],
});

export const removePeer = operation({
  id: 'removePeer',
  method: 'DELETE',
  path: '/admin/peers/{id}',
  tag,
  summary: 'Unpair a peer',
  description:
    'Cancels pending changes, revokes every share, asks the peer to purge it, and purges everything received from it.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params,
  responses: { 204: noContent },
  errors: ['not-found'],
});

/** A change that is queued for a peer. */
export const QueuedChange = closed({
  seq: Count,
  activity: Type.String(),
  kind: Type.String(),
  object_id: Uuid,
  status: Type.Enum(['queued', 'sent', 'failed', 'cancelled', 'skipped']),
  attempts: Count,
  last_error: nullable(Type.String()),
  next_attempt_at: nullable(Timestamp),
  created_at: Timestamp,
});

export const listPeerQueue = operation({
  id: 'listPeerQueue',
  method: 'GET',
  path: '/admin/peers/{id}/queue',
  tag,
  summary: 'List what is sent to a peer',
  description: 'Lists pending, recently sent and permanently failed changes, newest first.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  params,
  query: closed(pageQuery),
  responses: { 200: page(QueuedChange) },
  errors: ['not-found'],
});

export const retryPeerQueue = operation({
  id: 'retryPeerQueue',
  method: 'POST',
  path: '/admin/peers/{id}/retry',
  tag,
  summary: 'Retry failed changes',
  description: 'Queues all permanently failed changes again and sends them immediately.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params,
  responses: { 204: noContent },
  errors: ['not-found'],
});

/** An envelope or request that was refused. */
export const FederationRejection = closed({
  id: Uuid,
  peer_id: nullable(Uuid),
  instance_url: Type.String(),
  activity_uri: nullable(Type.String()),
  type: nullable(Type.String()),
  reason: Type.String(),
  detail: Type.String(),
  received_at: Timestamp,
});

export const listFederationRejections = operation({
  id: 'listFederationRejections',
  method: 'GET',
  path: '/admin/federation/rejections',
  tag,
  summary: 'List refused envelopes',
  description: 'Lists refused envelopes, newest first, each with the reason.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(FederationRejection) },
  errors: [],
});

/** A peer as seen by people who may share with it. */
export const ShareablePeer = closed({ id: Uuid, display_name: Type.String(), instance_url: Address });

export const listShareablePeers = operation({
  id: 'listShareablePeers',
  method: 'GET',
  path: '/peers',
  tag,
  summary: 'List the peers that things can be shared with',
  description: 'Lists the connected peers by name.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ items: Type.Array(ShareablePeer) }) },
  errors: [],
});

export const PeerScope = Type.Enum(['view', 'comment']);
export type PeerScope = Static<typeof PeerScope>;

/** A share of an object with everyone at a peer, one person or one team. */
export const PeerShare = closed({
  id: Uuid,
  /** The person's address at the peer; null for everyone there. */
  person: nullable(Address),
  /** The team there, whose members receive it; null for everyone or one person. */
  team: nullable(closed({ address: Address, name: Type.String() })),
  scope: PeerScope,
  expires_at: nullable(Timestamp),
  granted_by_user_ref: Ref,
  granted_at: Timestamp,
  /** Whether restricted and mature content is included, encrypted for this person. */
  encrypted: Type.Boolean(),
  /** Whether the peer has confirmed that it received the object. */
  delivered: Type.Boolean(),
});
export type PeerShare = Static<typeof PeerShare>;

export const PeerShares = closed({ peer: ShareablePeer, shares: Type.Array(PeerShare) });

/** A restricted or mature asset that a share of the object would include. */
export const SensitiveAsset = closed({
  asset_id: Uuid,
  title: Type.String(),
  restricted: Type.Boolean(),
  mature: Type.Boolean(),
  /** Whether the caller may confirm that it is sent: they manage its shares. */
  confirmable: Type.Boolean(),
});
export type SensitiveAsset = Static<typeof SensitiveAsset>;

/** One that is withheld from the caller, who therefore cannot confirm it: exactly these properties. */
export const WithheldSensitiveAsset = closed({
  asset_id: Uuid,
  restricted: Type.Literal(true),
  owner_display_name: Type.Optional(Type.String({ minLength: 1 })),
});
export type WithheldSensitiveAsset = Static<typeof WithheldSensitiveAsset>;

export const SensitiveMember = Type.Union([SensitiveAsset, WithheldSensitiveAsset]);
export type SensitiveMember = Static<typeof SensitiveMember>;

export const PeerShareList = closed({
  items: Type.Array(PeerShares),
  sensitive_content: SensitiveContent,
  /** Empty for collections, which include no such content. */
  sensitive: Type.Array(SensitiveMember),
});
export type PeerShareList = Static<typeof PeerShareList>;

export const PeerShareCreate = closed({
  /** A name at the peer, or the address of the person there; absent and null for everyone there. */
  person: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 500 }))),
  /** The slug of a team there, whose members receive it; not together with `person`. */
  team: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 80 }))),
  scope: Type.Optional(nullable(PeerScope)),
  expires_at: Type.Optional(nullable(Timestamp)),
  /**
   * Whether to include restricted and mature content of which the caller manages the shares, encrypted for the person.
   * False omits it.
   */
  confirm_sensitive: Type.Optional(nullable(Type.Boolean())),
});
export type PeerShareCreate = Static<typeof PeerShareCreate>;

const shareParams = closed({ id: Uuid, peer_id: Uuid });
const kinds = {
  post: { path: '/posts/{id}', scope: 'posts.write', name: 'Post', noun: 'post' },
  asset: { path: '/assets/{id}', scope: 'assets.write', name: 'Asset', noun: 'asset' },
  collection: { path: '/collections/{id}', scope: 'posts.write', name: 'Collection', noun: 'collection' },
} as const;

function listOf<const K extends keyof typeof kinds>(kind: K) {
  const { path, name, noun } = kinds[kind];
  return operation({
    id: `list${name}Peers`,
    method: 'GET',
    path: `${path}/peers`,
    tag,
    summary: `List the peers a ${noun} is shared with`,
    description: 'Lists its shares with peers, for its editors.',
    door: 'signedIn',
    scope: 'read',
    params,
    responses: { 200: PeerShareList },
    errors: ['not-author', 'not-found', 'not-owner'],
  });
}

function getOf<const K extends keyof typeof kinds>(kind: K) {
  const { path, name, noun } = kinds[kind];
  return operation({
    id: `get${name}Peer`,
    method: 'GET',
    path: `${path}/peers/{peer_id}`,
    tag,
    summary: `Get how a ${noun} is shared with a peer`,
    description: 'Returns its shares with this peer, for its editors. Returns 404 while nothing is shared.',
    door: 'signedIn',
    scope: 'read',
    params: shareParams,
    responses: { 200: PeerShares },
    errors: ['not-author', 'not-found', 'not-owner'],
  });
}

function putOf<const K extends keyof typeof kinds>(kind: K) {
  const { path, name, noun, scope } = kinds[kind];
  return operation({
    id: `put${name}Peer`,
    method: 'PUT',
    path: `${path}/peers/{peer_id}`,
    tag,
    summary: `Share a ${noun} with a peer`,
    description:
      'Shares with everyone there, one person or the members of one team. Repeating it replaces scope and expiry. Returns 409 for drafts and private posts. Restricted and mature content is only sent to one person, encrypted for them; returns 409 unless the library allows it, the peer can decrypt it, and `confirm_sensitive` is true. Only its owner and administrators of assets confirm it; for others it is left out, and 403 if nothing else remains or it is confirmed.',
    door: 'signedIn',
    scope,
    params: shareParams,
    example: { scope: 'comment' },
    body: PeerShareCreate,
    bodyOptional: true,
    responses: { 200: PeerShare, 201: PeerShare },
    errors: [
      ...peerShareErrors,
      'exclusive-properties',
      'not-author',
      'not-found',
      'not-owner',
      'time-in-the-past',
    ],
  });
}

function deleteOf<const K extends keyof typeof kinds>(kind: K) {
  const { path, name, noun, scope } = kinds[kind];
  return operation({
    id: `delete${name}Peer`,
    method: 'DELETE',
    path: `${path}/peers/{peer_id}`,
    tag,
    summary: `Stop sharing a ${noun} with a peer`,
    description:
      'Without `person` and `team` (the address of a team), ends all shares with the peer. The peer is asked to purge its copy.',
    door: 'signedIn',
    scope,
    params: shareParams,
    query: closed({
      person: Type.Optional(Type.String({ maxLength: 500 })),
      team: Type.Optional(Type.String({ maxLength: 500 })),
    }),
    responses: { 204: noContent },
    errors: ['not-author', 'not-found', 'not-owner', 'public-address-missing', 'public-address-unsuitable'],
  });
}

export const listPostPeers = listOf('post');
export const getPostPeer = getOf('post');
export const putPostPeer = putOf('post');
export const deletePostPeer = deleteOf('post');
export const listAssetPeers = listOf('asset');
export const getAssetPeer = getOf('asset');
export const putAssetPeer = putOf('asset');
export const deleteAssetPeer = deleteOf('asset');
export const listCollectionPeers = listOf('collection');
export const getCollectionPeer = getOf('collection');
export const putCollectionPeer = putOf('collection');
export const deleteCollectionPeer = deleteOf('collection');
