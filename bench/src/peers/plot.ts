import type { Load } from '../load.ts';

export interface Compared {
  name: string;
  vitrine: Load;
  directus: Load;
}

const WIDTH = 760;
const ROW = 52;
const TOP = 56;
const LEFT = 190;
const RIGHT = 150;
const GOAL = 5;

/** Draws how many times as many requests a second Vitrine answers, with the goal as a line. Returns an SVG. */
export function plot(all: readonly Compared[], peer: string): string {
  const ratios = all.map(({ vitrine, directus }) => vitrine.requestsPerSecond / directus.requestsPerSecond);
  const most = Math.max(GOAL, ...ratios) * 1.05;
  const x = (ratio: number) => LEFT + (ratio / most) * (WIDTH - LEFT - RIGHT);
  const height = TOP + all.length * ROW + 16;
  const rows = all.map(({ name, vitrine, directus }, at) => {
    const y = TOP + at * ROW;
    const ratio = ratios[at] ?? 0;
    const times = `p95 ${vitrine.p95.toFixed(0)} and ${directus.p95.toFixed(0)} ms`;
    return `<text x="${LEFT - 10}" y="${y + 20}" text-anchor="end">${name}</text>
<rect x="${LEFT}" y="${y + 4}" width="${(x(ratio) - LEFT).toFixed(1)}" height="24" rx="3" fill="#3f6fb5"/>
<text x="${(x(ratio) + 8).toFixed(1)}" y="${y + 15}">${ratio.toFixed(1)} times</text>
<text x="${(x(ratio) + 8).toFixed(1)}" y="${y + 30}" fill="#667" font-size="11">${times}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="#223">
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="16" y="24" font-size="15">Requests a second, as multiples of ${peer} on the same rows (p95: Vitrine and ${peer})</text>
${[1, GOAL].map((mark) => `<line x1="${x(mark).toFixed(1)}" x2="${x(mark).toFixed(1)}" y1="${TOP - 6}" y2="${height - 10}" stroke="#889" stroke-dasharray="4 4"/><text x="${x(mark).toFixed(1)}" y="${TOP - 10}" text-anchor="middle" font-size="11" fill="#667">${mark === GOAL ? 'goal: 5' : '1'}</text>`).join('\n')}
${rows.join('\n')}
</svg>
`;
}
