import type { TSchema } from 'typebox';
import type { ErrorStatus } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { definitionOf, type ErrorCode } from './codes.ts';

/** Requests that are refused on every path, and outages. */
const always: readonly ErrorCode[] = [
  'bearer-token-invalid',
  'body-timeout',
  'bucket-not-configured',
  'connection-closing',
  'connection-cut-off',
  'database-unavailable',
  'file-damaged',
  'file-missing',
  'head-timeout',
  'head-too-large',
  'malformed-address',
  'malformed-request',
  'object-locked',
  'referenced-object-deleted',
  'request-refused',
  'server-error',
  'storage-unavailable',
  'temporary-space-full',
  'too-many-connections',
  'too-many-large-requests',
  'too-many-requests',
  'value-out-of-range',
  'write-conflict',
];

/** The body is read even if the operation expects none. */
const ofWrites: readonly ErrorCode[] = [
  'body-too-large',
  'content-length-mismatch',
  'cross-site-request',
  'disk-full',
  'malformed-json',
  'storage-unavailable-for-writing',
  'unsupported-content-type',
];

/** What a schema may not allow. */
const ofInput: readonly ErrorCode[] = [
  'input-malformed',
  'items-repeated',
  'nested-too-deeply',
  'nul-character',
  'number-not-finite',
  'properties-unknown',
  'property-unknown',
  'too-few-items',
  'too-few-properties',
  'too-many-items',
  'too-many-properties',
  'unpaired-surrogate',
  'value-invalid',
  'value-malformed',
  'value-missing',
  'value-not-above',
  'value-not-allowed',
  'value-not-below',
  'value-not-listed',
  'value-not-multiple',
  'value-of-no-variant',
  'value-of-wrong-type',
  'value-of-wrong-types',
  'value-too-large',
  'value-too-long',
  'value-too-short',
  'value-too-small',
  'value-without-match',
];

const ofForms: readonly ErrorCode[] = [
  'file-too-large',
  'malformed-form',
  'too-many-form-parts',
  'too-many-uploads-by-account',
  'too-many-uploads-from-address',
];

const ofAccounts: readonly ErrorCode[] = ['account-not-active', 'impersonation-ended', 'sign-in-required'];

function ofDoor({ door, scope, whileImpersonating, beforeSecondFactor }: Operation): ErrorCode[] {
  return [
    ...(door === 'open' ? [] : ofAccounts),
    ...(door === 'open' || beforeSecondFactor === true ? [] : ['second-factor-required' as const]),
    ...(typeof door === 'object' ? ['capability-missing' as const] : []),
    ...(scope === 'none'
      ? []
      : scope === 'session'
        ? ['session-required' as const]
        : ['scope-missing' as const]),
    ...(whileImpersonating === 'refused' ? ['not-while-impersonating' as const] : []),
  ];
}

function propertiesOf(schema: TSchema | undefined): string[] {
  return schema !== undefined && 'properties' in schema ? Object.keys(Object(schema.properties)) : [];
}

/**
 * Returns the codes of errors that do not depend on what the operation does: those of its door, its scope, and how its
 * input is read (HTTP-44).
 */
export function frameCodes(operation: Operation): Set<ErrorCode> {
  const { method, params, query, body, form, raw, tus, budget } = operation;
  const writes = method !== 'GET';
  return new Set([
    ...always,
    ...ofDoor(operation),
    ...(writes ? ofWrites : []),
    ...(writes || params !== undefined || query !== undefined || body !== undefined ? ofInput : []),
    ...(propertiesOf(query).includes('cursor') ? ['malformed-cursor' as const] : []),
    // Passwords are hashed in a bounded number of threads.
    ...(propertiesOf(body).some((name) => name.includes('password')) ? ['too-many-sign-ins' as const] : []),
    // The bytes of a mirrored file come from the library that has it.
    ...(budget === 'bytes' ? ['origin-unavailable' as const] : []),
    ...(writes && (form !== undefined || raw !== undefined || tus === true) ? ofForms : []),
    ...(form === 'only' ? ['form-required' as const] : []),
  ]);
}

/** Returns every code with which an operation may answer. */
export function codesOf(operation: Operation): Set<ErrorCode> {
  return new Set([...frameCodes(operation), ...operation.errors]);
}

/** Returns the error statuses with which an operation may answer, in ascending order. The body is always `{error}`. */
export function errorStatuses(operation: Operation): ErrorStatus[] {
  const statuses = [...codesOf(operation)].map((code) => definitionOf(code).status);
  return [...new Set(statuses)].sort((a, b) => a - b);
}
