import { expect, it } from 'vitest';
import { textPieces } from '#lib/texts/pieces.ts';

const linksOf = (text: string) =>
  textPieces(text).flatMap((piece) =>
    'href' in piece ? [piece.href] : 'username' in piece ? [`@${piece.username}`] : [],
  );

it('finds addresses and names, and keeps every character of the text', () => {
  const text = 'See https://a.example/x?y=1, (http://b.example/z_(1)) or ask @ana. "https://c.example/@ben"';
  expect(linksOf(text)).toEqual([
    'https://a.example/x?y=1',
    'http://b.example/z_(1)',
    '@ana',
    'https://c.example/@ben',
  ]);
  expect(
    textPieces(text)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(text);
});

it('links nothing but http and https', () => {
  for (const text of [
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://a.example',
    'https://',
    'mail me@a.example',
  ])
    expect(linksOf(text), text).toEqual([]);
  expect(linksOf('http://[::bad')).toEqual([]);
});

it('shows names as text where readers cannot open profiles', () => {
  expect(textPieces('@ana and https://a.example', false)).toEqual([
    { text: '@ana and ' },
    { text: 'https://a.example', href: 'https://a.example/' },
  ]);
});
