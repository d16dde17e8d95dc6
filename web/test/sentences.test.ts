import type { AssetHistoryEntry } from '@vitrine/contract/asset-history';
import type { ResourceRequest } from '@vitrine/contract/requests';
import { describe, expect, test } from 'vitest';
import { happeningInWords } from '#lib/assets/history-words.ts';
import { listOf } from '#lib/languages/list.ts';
import { partsOf, places } from '#lib/languages/parts.ts';
import { stateText } from '#lib/requests/wording.ts';

test('a sentence has its values where the translation puts them', () => {
  const [who, what] = places;
  const values = { [who]: 'Otto', [what]: 'Quay' };
  expect(partsOf(`${what}: seen by ${who}`, values, (text) => text)).toEqual(['Quay', ': seen by ', 'Otto']);
});

test('lists have no comma before the last', () => {
  expect(listOf(['a', 'b', 'c'])).toBe('a, b and c');
  expect(listOf(['a', 'b'], 'disjunction')).toBe('a or b');
});

describe('the history of a file', () => {
  const who = { ref: 2, username: 'otto', display_name: 'Otto Brandt' };
  const told = (given: Partial<AssetHistoryEntry>) =>
    happeningInWords({ at: '2026-03-04T05:06:07Z', what: 'created', ...given })
      .map((part) => ('text' in part ? part.text : part.who.display_name))
      .join('');

  test.each<[Partial<AssetHistoryEntry>, string]>([
    [{ who }, 'Otto Brandt uploaded the file'],
    [{}, 'Uploaded the file'],
    [
      { who, what: 'edited', properties: ['title', 'ai_provenance', 'clear_ai_provenance', 'tags'] },
      'Otto Brandt changed title, use of AI and tags',
    ],
    [{ who, what: 'version_added', version: 2, note: 'Sky' }, 'Otto Brandt added version 2: “Sky”'],
    [{ what: 'link_revoked', label: 'Nord' }, 'The share link “Nord” was revoked'],
    [{ what: 'viewed_through_link', count: 1 }, 'One view through a share link'],
    [
      { what: 'downloaded_through_link', count: 3, label: 'Nord' },
      '3 downloads through the share link “Nord”',
    ],
  ])('%j', (given, words) => {
    expect(told(given)).toBe(words);
  });
});

describe('the state of a request', () => {
  const request: ResourceRequest = {
    id: 'r',
    target_kind: 'asset',
    target_id: 'a',
    requested_capability: 'content.access.request',
    state: 'granted',
    requester_user_ref: 1,
    requested_at: '2026-03-04T05:06:07Z',
    grant_expires_at: null,
    decidable_by_caller: false,
  };
  const said = (given: Partial<ResourceRequest>, decider?: string, isOpen = false) =>
    stateText({ ...request, ...given }, decider, 'en', isOpen)
      .map((part) => ('text' in part ? part.text : '<time>'))
      .join('');

  test.each<[Partial<ResourceRequest>, string | undefined, boolean, string]>([
    [{ state: 'pending' }, undefined, false, 'Waiting. The owner decides.'],
    [{ state: 'denied' }, 'Mara', false, 'Denied by Mara <time>.'],
    [{}, 'you', true, 'Agreed to by you <time>. You can open the file.'],
    [{}, undefined, false, 'Agreed to <time>. That records consent; it does not unlock the file by itself.'],
    [{ state: 'expired' }, 'Mara', false, 'Agreed to by Mara <time>, ended since.'],
    [{ requested_capability: 'content.restore.request' }, 'Mara', false, 'Restored by Mara <time>.'],
    [{ requested_capability: 'posts.create' }, 'Mara', false, 'Granted by Mara <time>.'],
  ])('%j by %s', (given, decider, isOpen, words) => {
    expect(said(given, decider, isOpen)).toBe(words);
  });
});
