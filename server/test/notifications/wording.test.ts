import type { Notification } from '@vitrine/contract/notifications';
import { expect, test } from 'vitest';
import { sentenceOf } from '../../src/people/notifications/wording.ts';

type Request = NonNullable<Notification['request']>;

const told = (kind: Notification['kind'], request: Partial<Request>): string =>
  sentenceOf('en', {
    id: '00000000-0000-4000-8000-000000000001',
    kind,
    actor: { ref: 7, username: 'ada', display_name: 'Ada', avatar_url: null },
    actor_count: 1,
    request: {
      id: '00000000-0000-4000-8000-000000000002',
      target_kind: 'asset',
      target_id: '00000000-0000-4000-8000-000000000003',
      requested_capability: 'content.access.request',
      state: 'pending',
      ...request,
    },
    read: false,
    happened_at: '2026-01-01T00:00:00Z',
  });

// NOTICE-5
test('shows deciders what is requested: access, a restore, or a capability by its code', () => {
  expect(told('request_received', {})).toBe('Ada asks for access to an asset');
  expect(told('request_received', { title: 'Dunes' })).toBe('Ada asks for access to “Dunes”');
  expect(
    told('request_received', { requested_capability: 'content.restore.request', target_kind: 'post' }),
  ).toBe('Ada asks to have a post restored');
  expect(told('request_received', { requested_capability: 'system.admin', title: 'Dunes' })).toBe(
    'Ada asks for the capability system.admin, naming “Dunes”',
  );
});

// NOTICE-20, NOTICE-21
test('shows who assigned an annotation, and the link at which guests left feedback', () => {
  expect(told('assigned', {})).toBe('Ada assigned an annotation in a post to you');
  expect(told('guest_feedback', {})).toBe('Guests left feedback at your link without a label');
});

// DELETION-1, DELETION-4
test('shows who asks to have their account deleted, and that it was refused', () => {
  expect(told('deletion_requested', {})).toBe('Ada asks to have their account deleted');
  expect(told('deletion_decided', {})).toBe('Your request to delete your account was refused');
});

// REQUEST-11
test('shows the requester only the decision', () => {
  for (const state of ['granted', 'denied'] as const)
    expect(told('request_decided', { state })).toBe(`Your request was ${state}`);
});
