import { type Sentence, WordedError } from '../../../platform/language/sentence.ts';

/**
 * Why an envelope or a request of a peer is refused. The reasons up to `decrypt_failed` are those of the protocol, the
 * others our own.
 */
export const rejectionReasons = [
  /** `@context` is not the string of protocol v1. */
  'invalid_context',
  /** The request has no usable `Signature` header. */
  'unsigned',
  /** The envelope has no `signature`, or it lacks `type`, `publicKey` or `value`. */
  'envelope_sig_missing',
  /** The signature is not Ed25519, or the request's algorithm is not `hs2019`. */
  'unsupported_algorithm',
  /** The signature is not 64 bytes of unpadded base64url. */
  'sig_malformed',
  /** The signature, or the digest of a request, does not match the signed content. */
  'sig_invalid',
  /** The key that signed is not a known key of the sender. */
  'unknown_key',
  /** A property that the protocol does not define, in the envelope or in its object. */
  'unknown_field',
  /** `actor` is not a person that the peer knows. */
  'unknown_actor',
  /** The sender is not a peer. */
  'unknown_peer',
  /** The sender is a peer that is disabled. */
  'peer_disabled',
  /** The activity is about something that does not exist here. */
  'unknown_object',
  /** The activity is about something that is not shared with the sender. */
  'unshared_object',
  /** The envelope is plain where it must be encrypted. */
  'encryption_required',
  /** No recipient of the encrypted envelope can decrypt it here. */
  'encryption_not_supported',
  /** The decrypted content is not that of an activity of this type. */
  'plaintext_type_mismatch',
  /** The clocks differ by more than five minutes, or the request is an old one. */
  'stale_request',
  /** The activity was received before. The sender gets 200, and nothing happens. */
  'replay',
  /** No key of the recipient decrypts the envelope. */
  'decrypt_failed',
  /** Not strict JSON, or a property is missing or has a value that the protocol does not allow. */
  'malformed',
  /** An unknown type of activity or object, or one that this install does not support. */
  'unsupported_type',
  /** More bytes than an envelope or batch may have. */
  'too_large',
  /** The actor may not do this, such as comment on a post whose comments are closed. */
  'forbidden',
] as const;

export type RejectionReason = (typeof rejectionReasons)[number];

/** A refusal of what a peer sent. Its message is for the operators of both sides. */
export class Rejection extends WordedError {
  readonly reason: RejectionReason;
  /** What is logged for the operators of this library, if that is more than the message. */
  readonly logged: string;

  constructor(reason: RejectionReason, detail: string | Sentence, logged?: string) {
    super(detail);
    this.reason = reason;
    this.logged = logged ?? this.message;
  }
}

type Hyphenated<Text extends string> = Text extends `${infer Head}_${infer Rest}`
  ? `${Head}-${Hyphenated<Rest>}`
  : Text;

/** Returns the error code of a rejection. */
export function rejectionCode<R extends RejectionReason>(reason: R): `rejected-${Hyphenated<R>}` {
  // `replaceAll` loses the type of the text; `contract/src/errors/rejections.ts` must have the result.
  return `rejected-${reason.replaceAll('_', '-')}` as `rejected-${Hyphenated<R>}`;
}
