import type { Language } from '@vitrine/contract/languages';
import cliProgress from 'cli-progress';
import { say } from '../../platform/language/say.ts';

/** Shows on the terminal how many of so many files or rows are done. */
export function progressBar(language: Language, total: number) {
  // The library of the bar fills in these values.
  const words = {
    done: say(language, '{value} of {total}', { value: '{value}', total: '{total}' }),
    rate: say(language, '{rate} a second', { rate: '{rate}' }),
    left: say(language, '{left} left', { left: '{left}' }),
  };
  const bar = new cliProgress.SingleBar({
    format: `{bar} {percentage}% | ${words.done} | ${words.rate} | ${words.left}`,
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
