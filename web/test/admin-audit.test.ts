import type { AuditEvent } from '@vitrine/contract/audit';
import { describe, expect, it } from 'vitest';
import { impersonatorOf, knownEvents, sentenceOf, targetOf } from '#lib/admin/event-words.ts';

const event = (name: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  id: '00000000-0000-4000-8000-000000000001',
  event: name,
  actor_user_ref: 1,
  metadata: {},
  occurred_at: '2026-03-10T12:00:00.000Z',
  ...more,
});

const written = (one: AuditEvent): string =>
  sentenceOf(one)
    .map((part) => ('text' in part ? part.text : `<${part.slot}>`))
    .join('');

describe('sentenceOf', () => {
  it('names actor, action and target', () => {
    expect(written(event('admin.impersonation.started', { subject_user_ref: 2 }))).toBe(
      '<actor> started acting as <subject>',
    );
    expect(written(event('post.published', { target_kind: 'post' }))).toBe('<actor> published <target>');
  });

  it('distinguishes the actor’s own account from others', () => {
    expect(written(event('auth.2fa.disabled', { subject_user_ref: 1 }))).toBe(
      '<actor> turned off their second factor',
    );
    expect(written(event('auth.2fa.disabled', { subject_user_ref: 2 }))).toBe(
      '<actor> removed the second factor of <subject>',
    );
  });

  it('escapes text from the metadata', () => {
    const made = event('auth.token.created', { metadata: { name: '{subject} <b>' } });
    expect(written(made)).toBe('<actor> created the access token “{subject} <b>”');
    expect(written(event('auth.token.created'))).toBe('<actor> created the access token “…”');
  });

  it('shows the label of a capability', () => {
    const given = event('capability.grant.added', {
      subject_user_ref: 2,
      metadata: { capability: 'users.read' },
    });
    expect(written(given)).toBe('<actor> gave <subject> “users.read”');
    expect(sentenceOf(given, () => 'See accounts').at(-2)).toEqual({ text: 'See accounts' });
  });

  it('shows an unknown event by its name', () => {
    expect(written(event('peer.added', { subject_user_ref: 2 }))).toBe('<actor> · peer.added · <subject>');
    expect(written(event('constructor'))).toBe('<actor> · constructor');
  });

  it('links to its subject if that has a page', () => {
    const about = (target_kind: string) =>
      targetOf(event('team.updated', { target_kind, target_id: 'x' }))?.href;
    expect(['post', 'team', 'session', 'constructor'].map(about)).toEqual([
      '/posts/x',
      '/teams/x',
      undefined,
      undefined,
    ]);
  });

  it('leaves no placeholder unfilled', () => {
    for (const name of knownEvents) {
      expect(written(event(name, { subject_user_ref: 2 }))).not.toMatch(/[{}]/);
    }
  });
});

describe('impersonatorOf', () => {
  it('is the administrator behind the actor', () => {
    const by = { ref: 9, username: 'mara' };
    expect(impersonatorOf(event('x', { metadata: { impersonated_by: by } }))).toEqual({
      ref: 9,
      name: 'mara',
    });
    expect(
      impersonatorOf(event('x', { actor_user_ref: 9, metadata: { impersonated_by: by } })),
    ).toBeUndefined();
  });
});
