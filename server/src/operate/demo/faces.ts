import { sharp } from '../../media/tuned-sharp.ts';
import { pick, type Random } from './random.ts';

const skins = ['#f2d3bd', '#d9a883', '#a9724f', '#7a4b32', '#e8bfa0'] as const;
const hairs = ['#2b2118', '#5b3a22', '#8c6239', '#1c1c22', '#b08d57'] as const;
const grounds = ['#8fb8b4', '#d8a48f', '#b9c7a4', '#a7a6cf', '#e0c27b'] as const;
const clothes = ['#2f4858', '#7d3c44', '#3d5a3c', '#50457a', '#8a6a2f'] as const;

/** Draws a face as a square JPEG, for a profile picture. */
export function drawFace(random: Random): Promise<Buffer> {
  const [skin, hair, ground, cloth] = [
    pick(random, skins),
    pick(random, hairs),
    pick(random, grounds),
    pick(random, clothes),
  ];
  const isLong = random() < 0.5;
  const long = isLong ? `<rect x="150" y="190" width="212" height="190" rx="70" fill="${hair}"/>` : '';
  const body = `<rect width="512" height="512" fill="${ground}"/>${long}
    <ellipse cx="256" cy="530" rx="190" ry="150" fill="${cloth}"/>
    <rect x="216" y="320" width="80" height="90" rx="36" fill="${skin}"/>
    <ellipse cx="256" cy="240" rx="98" ry="120" fill="${skin}"/>
    <path d="M150,240 C140,100 372,100 362,240 C340,180 300,165 256,165 C212,165 172,180 150,240 Z" fill="${hair}"/>
    <circle cx="220" cy="245" r="8" fill="#23201e"/><circle cx="292" cy="245" r="8" fill="#23201e"/>
    <path d="M222,300 Q256,${Math.round(318 + random() * 16)} 290,300" fill="none" stroke="#7c3f36" stroke-width="7" stroke-linecap="round"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512">${body}</svg>`;
  return sharp(Buffer.from(svg)).jpeg({ quality: 88 }).toBuffer();
}
