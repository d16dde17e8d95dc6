import type { ErrorCode } from './codes.ts';

/** What the value in a body may be wrong about, whatever its field allows (VALUE-1). */
export const readValueErrors = [
  'value-empty',
  'value-exceeds-column',
  'value-in-other-member',
  'value-member-missing',
  'value-names-too-many-terms',
  'value-not-boolean',
  'value-not-day',
  'value-not-finite',
  'value-not-instant',
  'value-without-text',
] as const satisfies readonly ErrorCode[];

/** What a field may not allow in a value, or the caller in the field (FIELD-16, FIELD-21). */
export const writtenValueErrors = [
  'field-archived',
  'field-capability-missing',
  'field-deprecated',
  'field-not-for-type',
  'field-read-only',
  'value-above-maximum',
  'value-after-maximum',
  'value-asset-not-found',
  'value-before-minimum',
  'value-below-minimum',
  'value-blank-term',
  'value-exceeds-term',
  'value-not-date',
  'value-not-matching',
  'value-not-multiple-of-step',
  'value-not-whole',
  'value-term-has-narrower',
  'value-term-not-active',
  'value-term-unknown',
  'value-text-too-long',
  'value-text-too-short',
  'value-too-few-terms',
  'value-too-many-terms',
  'vocabulary-capability-missing',
  'vocabulary-full',
] as const satisfies readonly ErrorCode[];

/** What a field may not allow in a default (FIELD-31). */
export const defaultErrors = [
  'default-above-maximum',
  'default-after-maximum',
  'default-before-minimum',
  'default-below-minimum',
  'default-context-missing',
  'default-context-not-allowed',
  'default-context-not-for-type',
  'default-empty',
  'default-in-other-member',
  'default-literal-missing',
  'default-literal-not-allowed',
  'default-not-date',
  'default-not-finite',
  'default-not-multiple-of-step',
  'default-not-whole',
  'default-term-has-narrower',
  'default-term-not-active',
  'default-term-not-found',
  'default-term-repeated',
  'default-terms-missing',
  'default-text-too-long',
  'default-text-too-short',
  'default-too-few-terms',
  'default-too-many-terms',
] as const satisfies readonly ErrorCode[];

/** What may be wrong with a term. */
export const termErrors = [
  'alias-is-alias',
  'alias-is-label',
  'alias-is-value',
  'alias-malformed',
  'alias-repeated',
  'aliases-malformed',
  'successor-in-cycle',
  'successor-is-itself',
  'successor-not-found',
  'successor-of-active',
  'term-repeated',
] as const satisfies readonly ErrorCode[];

/** What may be wrong with a new term. */
export const newTermErrors = [
  'successor-malformed',
  'term-children-malformed',
  'term-children-not-allowed',
  'term-label-malformed',
  'term-malformed',
  'term-not-slug',
  'term-property-unknown',
  'term-status-unknown',
  'term-without-value',
] as const satisfies readonly ErrorCode[];

/** What may be wrong with the options of a field (FIELD-37). */
export const optionErrors = [
  'asset-type-not-found',
  'option-invalid',
  'options-bounds-reversed',
  'options-too-large',
  'options-truncated',
  'options-without-values',
  'term-children-too-deep',
  'term-in-use',
  'too-many-option-terms',
  'vocabulary-not-list',
] as const satisfies readonly ErrorCode[];

/** What may be wrong with the flags of a field (FIELD-18, FIELD-19). */
export const flagErrors = [
  'capability-not-found',
  'card-excludes-read-capability',
  'edit-tab-empty',
  'extraction-source-unknown',
  'extraction-without-file',
  'pattern-anchored',
  'pattern-for-other-type',
  'pattern-invalid',
  'pattern-too-complex',
  'pattern-too-complex-for-length',
  'pattern-too-long',
] as const satisfies readonly ErrorCode[];

/** What may be wrong with a display condition or a replacement. */
export const conditionErrors = [
  'condition-contradictory',
  'condition-empty',
  'condition-field-not-found',
  'condition-in-cycle',
  'condition-malformed',
  'condition-of-itself',
  'condition-of-other-kind',
  'condition-operator-not-allowed',
  'condition-operator-not-for-type',
  'condition-term-too-long',
  'condition-too-many-terms',
  'replacement-in-cycle',
  'replacement-is-itself',
  'replacement-not-found',
  'replacement-of-other-kind',
] as const satisfies readonly ErrorCode[];

/** Why a peer does not get what is shared with it. */
export const peerShareErrors = [
  'from-other-library',
  'install-address-invalid',
  'install-not-answering',
  'install-unreachable',
  'install-with-other-address',
  'peer-person-not-found',
  'peer-team-not-found',
  'peer-without-team-shares',
  'person-document-unreadable',
  'post-not-shareable',
  'public-address-missing',
  'public-address-unsuitable',
  'sensitive-needs-person',
  'sensitive-not-decryptable',
  'sensitive-not-yours',
  'sensitive-stays',
  'sensitive-unconfirmed',
  'sensitive-without-key',
] as const satisfies readonly ErrorCode[];

/** What may be wrong with a request of tus. */
export const tusErrors = [
  'tus-content-type-required',
  'tus-refused',
  'tus-state-conflict',
  'tus-too-large',
  'tus-version-required',
  'upload-at-other-offset',
  'upload-continued-elsewhere',
  'upload-interrupted',
  'upload-locked',
] as const satisfies readonly ErrorCode[];
