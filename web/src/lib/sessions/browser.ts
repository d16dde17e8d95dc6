/** Names in user agents, most specific first, because every browser also claims to be an older one. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/\S+.*\bSafari\//, 'Safari'],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b|\biPod\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b|\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

function firstOf(names: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return names.find(([pattern]) => pattern.test(text))?.[1];
}

/** Describes a user agent: "Firefox on Windows"; a program by the name it sends. */
export function browserIn(userAgent: string | null): string {
  const text = userAgent?.trim() ?? '';
  const browser = firstOf(browsers, text);
  const system = firstOf(systems, text);
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  if (text.startsWith('Mozilla/')) return system === undefined ? 'A browser' : `A browser on ${system}`;
  const program = /^[^\s/()]{1,40}/.exec(text)?.[0];
  return program ?? 'An unknown program';
}

/** Returns whether the user agent is that of a handheld device. */
export function isHandheld(userAgent: string | null): boolean {
  return /\b(?:iPhone|iPod|iPad|Android)\b/.test(userAgent ?? '');
}
