import { closed } from '@vitrine/contract/values';
import { type Static, Type } from 'typebox';
import { type Activity, type ActivityType, bodies, isActivityType, readActivity } from './activities.ts';
import { mainKeyUri, parseActivityUri, parseActorUri } from './addresses.ts';
import { checked } from './checked.ts';
import { Rejection } from './rejection.ts';
import { ActivityUri, ActorUri, Base64Url, Time } from './values.ts';

/** The version of the protocol. It is compared as a string and never resolved. */
export const PROTOCOL = 'https://artist-alley.org/protocol/v1';

const MOST_RECIPIENTS = 200;
const Recipients = Type.Optional(Type.Array(ActorUri, { maxItems: MOST_RECIPIENTS, uniqueItems: true }));

const header = {
  '@context': Type.Literal(PROTOCOL),
  id: ActivityUri,
  actor: ActorUri,
  published: Time,
  to: Recipients,
  cc: Recipients,
  signature: closed({
    type: Type.Literal('Ed25519'),
    publicKey: Type.String({ maxLength: 600 }),
    value: Type.String({ maxLength: 1000 }),
  }),
};

const Encrypted = closed({
  alg: Type.Literal('nacl-box'),
  ephemeralKey: Base64Url.key,
  recipients: Type.Array(closed({ actor: ActorUri, nonce: Base64Url.nonce, ciphertext: Base64Url.bytes }), {
    minItems: 1,
    maxItems: MOST_RECIPIENTS,
  }),
});
/** Content that is encrypted for each recipient; bytes are unpadded base64url. */
export type Encrypted = Static<typeof Encrypted>;

const checks = new Map(
  Object.entries(bodies).map(([type, body]) => [
    type,
    {
      plain: checked(closed({ ...header, type: Type.Literal(type), ...body }), 'envelope'),
      encrypted: checked(closed({ ...header, type: Type.Literal(type), encrypted: Encrypted }), 'envelope'),
      /** What `encrypted` decrypts to: the properties of the type, and perhaps its name. */
      content: checked(closed({ type: Type.Optional(Type.Literal(type)), ...body }), 'content'),
    },
  ]),
);

/** The properties that every envelope has in plain text. */
interface Header {
  id: string;
  actor: string;
  /** In the sender's form. */
  published: string;
  to: string[];
  cc: string[];
  /** The envelope as received, for verifyEnvelope: the signature covers all of it. */
  received: object;
}

/** An activity with its envelope. */
export type PlainEnvelope = Header & Activity;

/** An envelope whose activity is still encrypted. */
export interface EncryptedEnvelope extends Header {
  type: 'encrypted';
  /** The type that the sender states. */
  activityType: ActivityType;
  encrypted: Encrypted;
}

export type Envelope = PlainEnvelope | EncryptedEnvelope;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checksOf(type: string) {
  const found = checks.get(type);
  if (found === undefined || !isActivityType(type))
    throw new Rejection('unsupported_type', `activities of type ${type.slice(0, 100)} are not supported`);
  return { ...found, type };
}

/** Checks that there is a signature of the right kind and shape; verifyEnvelope verifies it. */
function checkSignature(signature: unknown): void {
  if (
    !isObject(signature) ||
    ['type', 'publicKey', 'value'].some((key) => typeof signature[key] !== 'string')
  )
    throw new Rejection('envelope_sig_missing', 'the envelope has no complete signature');
  if (signature.type !== 'Ed25519')
    throw new Rejection('unsupported_algorithm', 'the signature is not Ed25519');
}

/** The properties of a checked envelope; the others depend on its type. */
interface CheckedHeader {
  '@context': string;
  type: string;
  id: string;
  actor: string;
  published: string;
  to?: string[];
  cc?: string[];
  signature: { publicKey: string };
}

/**
 * Reads an envelope that came from a peer and was parsed strictly. Throws Rejection unless it has exactly the
 * properties of its type, and its id, actor and key belong together. Verify the signature next, with verifyEnvelope.
 */
export function readEnvelope(value: unknown): Envelope {
  if (!isObject(value)) throw new Rejection('malformed', 'the envelope is no object');
  if (value['@context'] !== PROTOCOL)
    throw new Rejection('invalid_context', 'the context is not that of protocol v1');
  if (typeof value.type !== 'string') throw new Rejection('malformed', 'the envelope has no type');
  const check = checksOf(value.type);
  checkSignature(value.signature);
  const isEncrypted = Object.hasOwn(value, 'encrypted');
  // Both schemas have these properties.
  const {
    '@context': _,
    type: __,
    id,
    actor,
    published,
    to = [],
    cc = [],
    signature,
    ...content
  } = (isEncrypted ? check.encrypted(value) : check.plain(value)) as CheckedHeader;
  if (parseActivityUri(id)?.base !== parseActorUri(actor)?.base)
    throw new Rejection('malformed', 'id belongs to another install than the actor');
  if (signature.publicKey !== mainKeyUri(actor))
    throw new Rejection('unknown_key', 'the key is not that of the actor');
  const read: Header = { id, actor, published, to, cc, received: value };
  if (!isEncrypted) return { ...read, ...readActivity(check.type, content) };
  const { encrypted } = content as { encrypted: Encrypted };
  return { ...read, type: 'encrypted', activityType: check.type, encrypted };
}

/**
 * Returns the envelope with its activity, from what `encrypted` was decrypted to. Throws Rejection when the content is
 * not that of the type the envelope states.
 */
export function readDecrypted(envelope: EncryptedEnvelope, content: unknown): PlainEnvelope {
  const { activityType, encrypted: _, type: __, ...header } = envelope;
  try {
    const { type: ___, ...body } = checksOf(activityType).content(content) as { type?: string };
    return { ...header, ...readActivity(activityType, body) };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    throw new Rejection(
      'plaintext_type_mismatch',
      `the content is not that of ${activityType}: ${error.message}`,
    );
  }
}
