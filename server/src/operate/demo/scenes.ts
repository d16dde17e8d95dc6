import { between, pick, type Random } from './random.ts';

/** Draws a picture of this size as SVG; different random numbers give another picture. */
type Scene = (random: Random, width: number, height: number) => string;

type Palette = readonly [sky: string, glow: string, far: string, middle: string, near: string];

const palettes: readonly [Palette, ...Palette[]] = [
  ['#1f2a4d', '#f7a072', '#5b4b7a', '#3a2f5b', '#1b1a33'],
  ['#88b7d5', '#fdf3d8', '#7fa3a8', '#4f7a74', '#274b46'],
  ['#f3c9a5', '#fff3e0', '#d98b6a', '#a6544d', '#552a35'],
  ['#0f1c2e', '#9ad1d4', '#2b4c6b', '#1c3450', '#0a1526'],
  ['#f6d6d8', '#fff8f0', '#b9a1c9', '#7b6f9e', '#463f66'],
  ['#c9d8b6', '#fffbe6', '#8aa37b', '#56704f', '#2d3f2c'],
];

const vivid: readonly [readonly [string, ...string[]], ...(readonly [string, ...string[]])[]] = [
  ['#e63946', '#f1faee', '#a8dadc', '#457b9d', '#1d3557'],
  ['#ffb703', '#fb8500', '#023047', '#219ebc', '#8ecae6'],
  ['#264653', '#2a9d8f', '#e9c46a', '#f4a261', '#e76f51'],
  ['#f8edeb', '#fec5bb', '#d8e2dc', '#ffd7ba', '#6d6875'],
  ['#10002b', '#5a189a', '#9d4edd', '#ff6d00', '#ffd60a'],
];

function svg(width: number, height: number, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${body}</svg>`;
}

function gradient(id: string, from: string, to: string, x2: number, y2: number): string {
  return `<linearGradient id="${id}" x1="0" y1="0" x2="${x2}" y2="${y2}"><stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>`;
}

/** Draws a line of hills as a closed shape: a few overlaid waves. */
function ridge(
  random: Random,
  width: number,
  height: number,
  base: number,
  rise: number,
  rough: number,
): string {
  const waves = [1, 2, 4, 8, 16].map((n) => ({
    n: n * between(random, 0.7, 1.3),
    phase: between(random, 0, 6.28),
    size: rise / n ** rough,
  }));
  const points = Array.from({ length: 121 }, (_, i) => {
    const x = (i / 120) * width;
    const lift = waves.reduce((sum, w) => sum + w.size * Math.sin((i / 120) * 6.28 * w.n + w.phase), 0);
    return `${x.toFixed(1)},${(base - lift).toFixed(1)}`;
  });
  return `M0,${height} L${points.join(' L')} L${width},${height} Z`;
}

const mountains: Scene = (random, width, height) => {
  const [sky, glow, far, middle, near] = pick(random, palettes);
  const sunX = between(random, 0.2, 0.8) * width;
  const sunY = between(random, 0.25, 0.5) * height;
  const sun = Math.min(width, height) * between(random, 0.05, 0.12);
  const layer = (colour: string, base: number, rise: number, opacity: number) =>
    `<path d="${ridge(random, width, height, base * height, rise * height, 0.9)}" fill="${colour}" opacity="${opacity}"/>`;
  return svg(
    width,
    height,
    `<defs>${gradient('s', sky, glow, 0, 1)}<radialGradient id="g"><stop offset="0" stop-color="#fff" stop-opacity=".95"/><stop offset=".25" stop-color="${glow}" stop-opacity=".8"/><stop offset="1" stop-color="${glow}" stop-opacity="0"/></radialGradient></defs>
    <rect width="100%" height="100%" fill="url(#s)"/><circle cx="${sunX}" cy="${sunY}" r="${sun * 4}" fill="url(#g)"/>
    <circle cx="${sunX}" cy="${sunY}" r="${sun}" fill="#fffaf0"/>
    ${layer(far, 0.62, 0.12, 0.55)}${layer(far, 0.7, 0.1, 0.9)}${layer(middle, 0.79, 0.08, 1)}${layer(near, 0.9, 0.06, 1)}`,
  );
};

const dunes: Scene = (random, width, height) => {
  const [, glow, far, middle, near] = pick(random, palettes);
  const bands = Array.from({ length: 9 }, (_, i) => {
    const base = height * (0.28 + i * 0.09);
    const colour = i < 3 ? far : i < 6 ? middle : near;
    return `<path d="${ridge(random, width, height, base, height * 0.07, 1.6)}" fill="${colour}" opacity="${0.35 + i * 0.07}"/>`;
  });
  return svg(
    width,
    height,
    `<defs>${gradient('s', glow, far, 0, 1)}</defs><rect width="100%" height="100%" fill="url(#s)"/>${bands.join('')}`,
  );
};

const shapes: Scene = (random, width, height) => {
  const colours = pick(random, vivid);
  const columns = Math.round(between(random, 3, 6));
  const side = width / columns;
  const rows = Math.ceil(height / side);
  const cells: string[] = [];
  for (let y = 0; y < rows; y += 1) {
    for (let x = 0; x < columns; x += 1) {
      const at = `transform="translate(${x * side} ${y * side}) rotate(${Math.floor(random() * 4) * 90} ${side / 2} ${side / 2})"`;
      const back = `<rect width="${side + 1}" height="${side + 1}" fill="${pick(random, colours)}"/>`;
      const ink = pick(random, colours);
      const forms: [string, ...string[]] = [
        `<path d="M0,0 A${side},${side} 0 0 1 ${side},${side} L0,${side} Z" fill="${ink}"/>`,
        `<circle cx="${side / 2}" cy="${side / 2}" r="${side * 0.36}" fill="${ink}"/>`,
        `<path d="M0,0 L${side},0 L0,${side} Z" fill="${ink}"/>`,
        `<path d="M0,${side / 2} A${side / 2},${side / 2} 0 0 1 ${side},${side / 2} Z" fill="${ink}"/>`,
        `<rect width="${side / 2}" height="${side}" fill="${ink}"/>`,
      ];
      cells.push(`<g ${at}>${back}${pick(random, forms)}</g>`);
    }
  }
  return svg(width, height, cells.join(''));
};

const night: Scene = (random, width, height) => {
  const stars = Array.from({ length: 420 }, () => {
    const r = random() ** 6 * 3.2 + 0.5;
    return `<circle cx="${(random() * width).toFixed(0)}" cy="${(random() * height * 0.85).toFixed(0)}" r="${r.toFixed(2)}" fill="#fff" opacity="${between(random, 0.3, 1).toFixed(2)}"/>`;
  });
  const [, glow, far, , near] = pick(random, palettes);
  return svg(
    width,
    height,
    `<defs>${gradient('s', '#070b1d', '#27345f', 0, 1)}<radialGradient id="m"><stop offset="0" stop-color="${glow}" stop-opacity=".6"/><stop offset="1" stop-color="${far}" stop-opacity="0"/></radialGradient></defs>
    <rect width="100%" height="100%" fill="url(#s)"/>
    <ellipse cx="${width * between(random, 0.3, 0.7)}" cy="${height * 0.45}" rx="${width * 0.7}" ry="${height * 0.18}" fill="url(#m)" transform="rotate(${between(random, -35, 35)} ${width / 2} ${height / 2})"/>
    ${stars.join('')}<path d="${ridge(random, width, height, height * 0.88, height * 0.09, 0.8)}" fill="${near}"/>`,
  );
};

const city: Scene = (random, width, height) => {
  const [sky, glow, far, middle, near] = pick(random, palettes);
  const block = (colour: string, base: number, tall: number, lit: number) => {
    let x = -20;
    let body = '';
    while (x < width) {
      const w = between(random, width * 0.03, width * 0.09);
      const h = between(random, tall * 0.35, tall) * height;
      const top = base * height - h;
      body += `<rect x="${x}" y="${top}" width="${w}" height="${height - top}" fill="${colour}"/>`;
      for (let wy = top + 14; wy < base * height && lit > 0; wy += 22) {
        for (let wx = x + 8; wx < x + w - 12; wx += 18) {
          if (random() < lit)
            body += `<rect x="${wx}" y="${wy}" width="8" height="11" fill="#ffe8a3" opacity=".85"/>`;
        }
      }
      x += w + between(random, 0, width * 0.012);
    }
    return body;
  };
  return svg(
    width,
    height,
    `<defs>${gradient('s', sky, glow, 0, 1)}</defs><rect width="100%" height="100%" fill="url(#s)"/>
    <g opacity=".5">${block(far, 0.95, 0.55, 0)}</g><g opacity=".85">${block(middle, 1, 0.5, 0.12)}</g>${block(near, 1.05, 0.42, 0.28)}`,
  );
};

const bloom: Scene = (random, width, height) => {
  const colours = pick(random, vivid);
  const centre = { x: width * between(random, 0.4, 0.6), y: height * between(random, 0.4, 0.6) };
  const size = Math.min(width, height) * 0.46;
  const rings = Array.from({ length: 7 }, (_, ring) => {
    const petals = 8 + ring * 2;
    const length = size * (1 - ring * 0.13);
    const turn = between(random, 0, 360);
    const colour = pick(random, colours);
    return Array.from({ length: petals }, (_, i) => {
      const angle = turn + (i * 360) / petals;
      return `<ellipse cx="${centre.x}" cy="${centre.y - length * 0.55}" rx="${length * 0.16}" ry="${length * 0.48}" fill="${colour}" opacity=".62" transform="rotate(${angle} ${centre.x} ${centre.y})"/>`;
    }).join('');
  });
  return svg(
    width,
    height,
    `<rect width="100%" height="100%" fill="${pick(random, ['#fbf7f0', '#11131a', '#f1ece4', '#1e2a2f'])}"/>${rings.join('')}<circle cx="${centre.x}" cy="${centre.y}" r="${size * 0.09}" fill="${pick(random, colours)}"/>`,
  );
};

const papers: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['#f4efe6', '#2d4a43'],
  ['#10212b', '#e7c98f'],
  ['#fdf6f0', '#9b3b32'],
  ['#1b1b2f', '#8fd3c1'],
];

const contours: Scene = (random, width, height) => {
  const [paper, ink] = pick(random, papers);
  const hills = Array.from({ length: 5 }, () => ({
    x: random() * width,
    y: random() * height,
    phase: random() * 6.28,
    wobble: between(random, 0.06, 0.2),
  }));
  const lines = hills.flatMap((hill) =>
    Array.from({ length: 13 }, (_, ring) => {
      const radius = (ring + 1) * Math.min(width, height) * 0.04;
      const points = Array.from({ length: 73 }, (_, i) => {
        const angle = (i / 72) * 6.2832;
        const r =
          radius *
          (1 + hill.wobble * Math.sin(3 * angle + hill.phase) + 0.08 * Math.sin(7 * angle + ring * 0.3));
        return `${(hill.x + r * Math.cos(angle)).toFixed(1)},${(hill.y + r * 0.8 * Math.sin(angle)).toFixed(1)}`;
      });
      return `<path d="M${points.join(' L')} Z" fill="none" stroke="${ink}" stroke-width="${ring % 4 === 0 ? 4 : 1.8}" opacity="${0.85 - ring * 0.045}"/>`;
    }),
  );
  return svg(width, height, `<rect width="100%" height="100%" fill="${paper}"/>${lines.join('')}`);
};

const sea: Scene = (random, width, height) => {
  const [sky, glow, far, middle, near] = pick(random, palettes);
  const horizon = height * between(random, 0.38, 0.55);
  const waves = Array.from({ length: 16 }, (_, i) => {
    const base = horizon + ((height - horizon) * (i + 0.4)) / 16;
    return `<path d="${ridge(random, width, height, base, 3 + i * 1.6, 0.35)}" fill="${i < 5 ? far : i < 10 ? middle : near}" opacity=".34"/>`;
  });
  const sunX = width * between(random, 0.25, 0.75);
  return svg(
    width,
    height,
    `<defs>${gradient('s', sky, glow, 0, 1)}</defs><rect width="100%" height="100%" fill="url(#s)"/>
    <circle cx="${sunX}" cy="${horizon}" r="${height * 0.09}" fill="#fff6e3" opacity=".95"/>
    <rect y="${horizon}" width="100%" height="${height - horizon}" fill="${far}"/>
    <rect x="${sunX - height * 0.06}" y="${horizon}" width="${height * 0.12}" height="${height - horizon}" fill="${glow}" opacity=".28"/>${waves.join('')}`,
  );
};

export const scenes = { mountains, dunes, shapes, night, city, bloom, contours, sea } as const;
export type SceneName = keyof typeof scenes;
