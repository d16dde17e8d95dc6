import cliProgress from 'cli-progress';

/** Shows on the terminal how many of so many files or rows are done. */
export function progressBar(total: number, what = 'files') {
  const bar = new cliProgress.SingleBar({
    format: `{bar} {percentage}% | {value} of {total} ${what} | {rate} a second | {left} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    noTTYOutput: true,
    notTTYSchedule: 5000,
    hideCursor: true,
    stream: process.stderr,
  });
  const began = Date.now();
  bar.start(total, 0, { rate: '0.0', left: '-' });
  return {
    show(done: number) {
      const rate = done / Math.max(0.001, (Date.now() - began) / 1000);
      const seconds = rate === 0 ? 0 : Math.round((total - done) / rate);
      const left = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
      bar.update(done, { rate: rate.toFixed(1), left });
    },
    stop: () => bar.stop(),
  };
}
