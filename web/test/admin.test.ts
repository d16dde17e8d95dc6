import type { SessionUser } from '@vitrine/contract/identity';
import { describe, expect, it } from 'vitest';
import { auditAddress, auditExportAddress, readAuditFilter, readPerson } from '#lib/admin/audit-filter.ts';
import { sectionAt, sectionsFor } from '#lib/admin/sections.ts';
import { allowanceOf } from '#lib/identity/allowance.ts';
import { readToEnd } from '#lib/paging.ts';
import { agoOf } from '#lib/time/ago.ts';
import { userOf } from './samples.ts';

const user = userOf({ capabilities: ['roles.read', 'system.audit.read'] });

// SESSION-13
describe('capabilities of a session', () => {
  it('are those listed, or all for system.admin', () => {
    expect(allowanceOf(user, 'roles.read')).toBe('held');
    expect(allowanceOf(user, 'users.read')).toBe('missing');
    expect(allowanceOf({ ...user, capabilities: ['system.admin'] }, 'users.read')).toBe('held');
    expect(allowanceOf(null, 'users.read')).toBe('missing');
  });

  // SESSION-13
  it('are unknown, not granted, when the lookup fails', () => {
    const { capabilities: _, ...rest } = user;
    const failed: SessionUser = { ...rest, capabilities_status: 'unavailable' };
    expect(allowanceOf(failed, 'roles.read')).toBe('unknown');
    expect(allowanceOf({ ...failed, capabilities: ['system.admin'] }, 'roles.read')).toBe('unknown');
    expect(sectionsFor(failed)).toEqual([]);
  });

  it('open the sections in order', () => {
    expect(sectionsFor(user).map((one) => one.href)).toEqual(['/admin/roles', '/admin/audit']);
    expect(sectionAt('/admin/users/7')?.label).toBe('Users');
    expect(sectionAt('/admin/usersettings')).toBeUndefined();
    expect(sectionAt('/admin')).toBeUndefined();
  });
});

describe('agoOf', () => {
  const now = Date.parse('2026-03-10T12:00:00Z');
  it.each([
    ['2026-03-10T11:59:30Z', 'just now'],
    ['2026-03-10T12:00:20Z', 'just now'],
    ['2026-03-10T11:59:10Z', '1 minute ago'],
    ['2026-03-10T11:00:01Z', '59 minutes ago'],
    ['2026-03-10T10:00:00Z', '2 hours ago'],
    ['2026-03-09T11:00:00Z', '1 day ago'],
    ['2026-03-10T14:00:00Z', 'in 2 hours'],
    ['2025-03-10T12:00:00Z', 'Mar 10, 2025'],
  ])('of %s is %s', (moment, words) => {
    expect(agoOf(moment, now, 'en-US')).toBe(words);
  });
});

describe('the audit filter', () => {
  it('survives a round trip through the URL', () => {
    const filter = { actor: 7, subject: 12, event: 'auth.*' };
    const address = auditAddress(filter);
    expect(readAuditFilter(new URL(address, 'https://library.test').searchParams)).toEqual(filter);
    expect(auditExportAddress(filter)).toBe('/api/v1/admin/audit/export?actor=7&subject=12&event=auth.*');
    expect(auditAddress({})).toBe('/admin/audit');
    expect(auditAddress({ event: 'a&actor=1' })).toBe('/admin/audit?event=a%26actor%3D1');
  });

  it.each(['0', '-1', '1.5', '07', '1e3', 'ana', '99999999999999999999', ''])(
    'leaves out %j as a ref',
    (text) => {
      expect(readAuditFilter(new URLSearchParams({ actor: text, subject: text }))).toEqual({});
    },
  );

  it('reads a number as a ref and other text as a username', () => {
    expect(readPerson(' 42 ')).toEqual({ ref: 42 });
    expect(readPerson('@42')).toEqual({ username: '42' });
    expect(readPerson(' @Ana Lima ')).toEqual({ username: 'Ana Lima' });
    expect(readPerson('042')).toEqual({ username: '042' });
    expect(readPerson(' ')).toBeUndefined();
    expect(readPerson('@')).toBeUndefined();
  });
});

it('reads every page of a list', async () => {
  const pages = [
    { items: [1, 2], next_cursor: 'b' },
    { items: [3, 4], next_cursor: 'c' },
    { items: [5], next_cursor: null },
  ];
  const asked: (string | undefined)[] = [];
  const read = async ({ cursor }: { cursor?: string }) => {
    asked.push(cursor);
    return pages[asked.length - 1] ?? { items: [], next_cursor: null };
  };
  expect(await readToEnd(read)).toEqual([1, 2, 3, 4, 5]);
  expect(asked).toEqual([undefined, 'b', 'c']);
});
