import type { ErrorDefinitions } from './definition.ts';

/** Why a signed request of a peer is refused. The texts are the reasons of the protocol between libraries. */
export const rejectionErrors = {
  'rejected-decrypt-failed': { status: 400, text: 'decrypt_failed' },
  'rejected-encryption-not-supported': { status: 400, text: 'encryption_not_supported' },
  'rejected-encryption-required': { status: 400, text: 'encryption_required' },
  'rejected-envelope-sig-missing': { status: 400, text: 'envelope_sig_missing' },
  'rejected-forbidden': { status: 400, text: 'forbidden' },
  'rejected-invalid-context': { status: 400, text: 'invalid_context' },
  'rejected-malformed': { status: 400, text: 'malformed' },
  'rejected-peer-disabled': { status: 403, text: 'peer_disabled' },
  'rejected-plaintext-type-mismatch': { status: 400, text: 'plaintext_type_mismatch' },
  'rejected-replay': { status: 400, text: 'replay' },
  'rejected-sig-invalid': { status: 401, text: 'sig_invalid' },
  'rejected-sig-malformed': { status: 401, text: 'sig_malformed' },
  'rejected-stale-request': { status: 401, text: 'stale_request' },
  'rejected-too-large': { status: 400, text: 'too_large' },
  'rejected-unknown-actor': { status: 400, text: 'unknown_actor' },
  'rejected-unknown-field': { status: 400, text: 'unknown_field' },
  'rejected-unknown-key': { status: 401, text: 'unknown_key' },
  'rejected-unknown-object': { status: 400, text: 'unknown_object' },
  'rejected-unknown-peer': { status: 403, text: 'unknown_peer' },
  'rejected-unshared-object': { status: 403, text: 'unshared_object' },
  'rejected-unsigned': { status: 401, text: 'unsigned' },
  'rejected-unsupported-algorithm': { status: 401, text: 'unsupported_algorithm' },
  'rejected-unsupported-type': { status: 400, text: 'unsupported_type' },
} as const satisfies ErrorDefinitions;
