import { expect, it } from 'vitest';
import { originChoices, peerLabel } from '../src/lib/federation/origin.ts';

const harbour = { id: 'a', display_name: 'Harbour', instance_url: 'https://harbour.example' };
const studio = { id: 'b', display_name: 'Studio', instance_url: 'https://studio.example' };
const namesake = { id: 'c', display_name: 'Studio', instance_url: 'https://other.example:8443' };

it('the names of peers include the host when two of them have the same name', () => {
  const peers = [harbour, studio, namesake];
  expect(peers.map((peer) => peerLabel(peer, peers))).toEqual([
    'Harbour',
    'Studio (studio.example)',
    'Studio (other.example:8443)',
  ]);
});

it('the filter by library has no choices without peers, and one for each of several peers', () => {
  expect(originChoices([], undefined)).toEqual([]);
  expect(originChoices([harbour], undefined).map(({ label }) => label)).toEqual([
    'All libraries',
    'This library',
    'Other libraries',
  ]);
  expect(originChoices([harbour, studio], undefined).slice(3)).toEqual([
    { value: 'a', label: 'Harbour' },
    { value: 'b', label: 'Studio' },
  ]);
});
