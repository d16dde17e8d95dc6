import type { AuditEvent } from '@vitrine/contract/audit';
import { describe, expect, it } from 'vitest';
import { impersonatorOf, kindOf, knownEvents, sentenceOf, targetOf } from '#lib/admin/event-words.ts';

const event = (name: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  id: '00000000-0000-4000-8000-000000000001',
  event: name,
  actor_user_ref: 1,
  metadata: {},
  occurred_at: '2026-03-10T12:00:00.000Z',
  ...more,
});

const text = (one: AuditEvent): string =>
  sentenceOf(one)
    .map((part) => ('text' in part ? part.text : `<${part.slot}>`))
    .join('');
const written = (name: string, more: Partial<AuditEvent> = {}) => text(event(name, more));
const about = (subject_user_ref: number) => ({ subject_user_ref });
const labelled = (code: string) => `label of ${code}`;
const labels = { capability: labelled, role: labelled, state: labelled };

describe('sentenceOf', () => {
  it('names actor, action and target', () => {
    expect(written('admin.impersonation.started', about(2))).toBe('<actor> started acting as <subject>');
    expect(written('post.published', { target_kind: 'post' })).toBe('<actor> published <target>');
  });

  it('names the status of an account as pages do', () => {
    const status = (code: string) =>
      written('user.status.changed', { ...about(2), metadata: { status: code } });
    expect(status('disabled')).toBe('<actor> set the status of <subject> to “Disabled”');
    expect(status('unknown')).toBe('<actor> set the status of <subject> to “unknown”');
  });

  it('writes numbers', () => {
    const metadata = { number: 2 };
    expect(written('asset.version.added', { metadata })).toBe('<actor> uploaded version 2 of <target>');
  });

  it('distinguishes the actor’s own account from others', () => {
    expect(written('auth.2fa.disabled', about(1))).toBe('<actor> turned off their second factor');
    expect(written('auth.2fa.disabled', about(2))).toBe('<actor> removed the second factor of <subject>');
  });

  it('escapes text from the metadata', () => {
    const metadata = { name: '{subject} <b>' };
    const made = written('auth.token.created', { metadata });
    expect(made).toBe('<actor> created the access token “{subject} <b>”');
    expect(written('auth.token.created')).toBe('<actor> created the access token “…”');
  });

  it('says whether something was turned on or off', () => {
    const turned = (enabled: boolean) => written('system.public_mode.changed', { metadata: { enabled } });
    expect([turned(true), turned(false)]).toEqual([
      '<actor> turned public mode on',
      '<actor> turned public mode off',
    ]);
  });

  it('shows the label of a capability', () => {
    const metadata = { capability: 'users.read' };
    const given = event('capability.grant.added', { ...about(2), metadata });
    expect(text(given)).toBe('<actor> gave <subject> “users.read”');
    expect(sentenceOf(given, labels).at(-2)).toEqual({ text: 'label of users.read' });
  });

  it('shows the names of roles and states, and words for a failed sign-in', () => {
    const texts = (name: string, metadata: AuditEvent['metadata']) =>
      sentenceOf(event(name, { ...about(2), metadata }), labels).flatMap((part) =>
        'text' in part ? part.text : [],
      );
    expect(texts('user.role.changed', { role: 'editor' })).toContain('label of editor');
    expect(texts('invitation.created', { role: 'viewer' })).toContain('label of viewer');
    expect(texts('asset.state.changed', { to: 'review' })).toContain('label of review');
    expect(texts('tag.renamed', { from: 'sea', to: 'review' })).not.toContain('label of review');
    expect(texts('team.member.role.changed', { role: 'lead' })).toContain('Lead');
    expect(texts('auth.provider.failed', { provider: 'x', error: 'inactive' })).toContain(
      'the account is not active',
    );
  });

  it('shows an unknown event by its name', () => {
    expect(written('peer.added', about(2))).toBe('<actor> · peer.added · <subject>');
    expect(written('constructor')).toBe('<actor> · constructor');
  });

  it('links to its subject if that has a page', () => {
    const link = (target_kind: string) =>
      targetOf(event('team.updated', { target_kind, target_id: 'x' }))?.href;
    const links = ['post', 'team', 'session', 'constructor'].map(link);
    expect(links).toEqual(['/posts/x', '/teams/x', undefined, undefined]);
    const words = ['post', 'session', 'constructor', undefined].map((target_kind) =>
      kindOf(event('team.updated', target_kind === undefined ? {} : { target_kind })),
    );
    expect(words).toEqual(['a post', 'a session', 'something', 'something']);
  });

  it('leaves no placeholder unfilled', () => {
    for (const name of knownEvents) expect(written(name, about(2))).not.toMatch(/[{}]/);
  });
});

it('the impersonator is the administrator behind the actor', () => {
  const metadata = { impersonated_by: { ref: 9, username: 'mara' } };
  expect(impersonatorOf(event('x', { metadata }))).toEqual({ ref: 9, name: 'mara' });
  expect(impersonatorOf(event('x', { actor_user_ref: 9, metadata }))).toBeUndefined();
});
