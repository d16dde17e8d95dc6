/** Formats a secret in groups of four, for copying by hand. */
export function groupsOfFour(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? '';
}

/** Returns the dark modules of a QR code as the data of one SVG path, one unit per module. */
export function darkPath(modules: readonly (readonly boolean[])[]): string {
  return modules.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
}

/** Returns the recovery codes as a text file for download. */
export function recoveryFile(codes: readonly string[], siteName: string, username: string): string {
  const lines = [`${siteName}: recovery codes of ${username}`, 'Each works once.', '', ...codes];
  return `${lines.join('\n')}\n`;
}
