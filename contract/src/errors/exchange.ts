import type { ErrorDefinitions } from './definition.ts';

/** Errors of peers and of followers elsewhere. */
export const exchangeErrors = {
  'activity-malformed': { status: 400, text: 'the activity is malformed: {reason}' },
  'activity-not-processed': { status: 400, text: 'the activity cannot be processed' },
  'code-requires-adopt': { status: 400, text: 'code requires the decision adopt', property: 'code' },
  'field-id-requires-map': { status: 400, text: 'field_id requires the decision map', property: 'field_id' },
  'followers-off': { status: 409, text: 'following from other systems is off in this library' },
  'from-other-library': { status: 409, text: 'it comes from another library' },
  'install-address-invalid': { status: 400, text: 'that is not the address of an install' },
  'install-not-answering': { status: 422, text: 'no install answers at this address' },
  'install-unreachable': { status: 422, text: 'no install answers at this address: {reason}' },
  'install-with-other-address': { status: 422, text: 'the install at this address calls itself {address}' },
  'offer-code-not-found': { status: 409, text: 'there is no field {code} here' },
  'offer-code-taken-by-type': {
    status: 409,
    text: '{code} is of another type here; adopt it with another code',
    property: 'code',
  },
  'offer-field-mirrors': { status: 409, text: '{field} mirrors the {column}' },
  'offer-field-mirrors-here': { status: 409, text: '{field} mirrors the {column} here' },
  'offer-field-not-found': { status: 409, text: 'there is no such field', property: 'field_id' },
  'offer-field-of-other-kind': { status: 409, text: '{field} is a field of another kind ({kind})' },
  'offer-type-mismatch': {
    status: 409,
    text: 'a field of type {type} does not accept values of type {offered}',
  },
  'offer-vocabulary-too-long': { status: 409, text: 'the vocabulary here is too long to be merged' },
  'origin-unavailable': {
    status: 503,
    text: 'the library that has this file does not send it: {reason}',
  },
  'peer-did-not-take-part': { status: 422, text: 'the peer did not take part: {reason}' },
  'peer-exists': { status: 409, text: 'this install is among the peers already' },
  'peer-is-this-library': { status: 409, text: 'this is the address of this library' },
  'peer-not-connected': { status: 409, text: 'a peer that is not connected cannot be disabled' },
  'peer-person-not-found': { status: 422, text: 'no such person at {peer}', property: 'person' },
  'peer-team-not-found': { status: 422, text: 'no such team at {peer}', property: 'team' },
  'peer-without-team-shares': { status: 409, text: '{peer} does not support sharing with teams' },
  'person-document-unreadable': { status: 503, text: 'the document of the person cannot be read' },
  'post-not-shareable': { status: 409, text: 'drafts and private posts stay in this library' },
  'profile-hidden': {
    status: 409,
    text: 'your profile is hidden from visitors, so nobody could follow it',
  },
  'public-address-missing': { status: 409, text: 'set the public address of this library first' },
  'public-address-unsuitable': {
    status: 409,
    text: 'peers need a public address with https and without a path, and this is {address}',
  },
  'resent-recently': { status: 429, text: 'everything was sent again a moment ago' },
  'sensitive-needs-person': {
    status: 409,
    text: 'restricted and mature content goes to one person, encrypted for them, and not to a whole library: {assets}',
    property: 'person',
  },
  'sensitive-not-decryptable': {
    status: 409,
    text: '{peer} cannot decrypt restricted and mature content',
  },
  'sensitive-not-yours': {
    status: 403,
    text: 'only the owner of restricted and mature content and administrators of assets can confirm that it is sent',
  },
  'sensitive-stays': { status: 409, text: 'restricted and mature content stays in this library: {assets}' },
  'sensitive-unconfirmed': {
    status: 409,
    text: 'sharing restricted and mature content needs a second confirmation (confirm_sensitive): {assets}',
    property: 'confirm_sensitive',
  },
  'sensitive-without-key': { status: 409, text: '{person} has no key that content can be encrypted for' },
  'signature-insufficient': {
    status: 401,
    text: 'a signature must cover the method, the address and the digest of the body',
  },
  'username-not-addressable': {
    status: 409,
    text: 'other systems cannot address your username: it has characters other than a-z, 0-9, _, . and -',
  },
} as const satisfies ErrorDefinitions;
