import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDecoders } from '@vitrine/server/decoders';

const run = promisify(execFile);

/** Seconds of video. */
const SECONDS = 8;
const ROUNDS = 3;

const rungs = [
  { edge: 360, rate: 900_000, sound: 96_000 },
  { edge: 720, rate: 3_000_000, sound: 128_000 },
  { edge: 1080, rate: 6_000_000, sound: 160_000 },
];

/** The ffmpeg command that a person would run for the same streams. */
function bareCommand(source: string, outDir: string): string[] {
  const outputs = rungs.flatMap(({ edge, rate, sound }) => [
    ...['-map', '0:v', '-map', '0:a', '-vf', `scale=-2:${edge}`, '-c:v', 'libx264', '-preset', 'veryfast'],
    ...['-profile:v', 'high', '-crf', '23', '-maxrate', String(rate), '-bufsize', String(rate * 2)],
    ...['-g', '120', '-keyint_min', '120', '-sc_threshold', '0', '-pix_fmt', 'yuv420p'],
    ...['-c:a', 'aac', '-b:a', String(sound), '-ac', '2', '-ar', '48000'],
    ...['-f', 'hls', '-hls_time', '4', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4'],
    ...['-hls_flags', 'single_file', '-hls_segment_filename', join(outDir, `${edge}.mp4`)],
    join(outDir, `${edge}.m3u8`),
  ]);
  return ['-v', 'error', '-nostdin', '-y', '-i', source, ...outputs];
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * `bench video`: compares making the streams of a 1080-line video with the bare ffmpeg command. Needs the system's
 * ffmpeg.
 */
export async function benchVideo(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'vitrine-bench-video-'));
  const decoders = openDecoders();
  try {
    const path = join(directory, 'source.mp4');
    const picture = `testsrc2=s=1920x1080:r=30:d=${SECONDS},noise=alls=6`;
    const lavfi = ['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', `sine=d=${SECONDS}`];
    const encoding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '20', '-pix_fmt', 'yuv420p'];
    await run('ffmpeg', ['-v', 'error', ...lavfi, ...encoding, '-c:a', 'aac', path]);
    const times = { ours: [] as number[], bare: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const outDir = await mkdtemp(join(directory, 'out-'));
      const input = { path, mime: 'video/mp4', outDir };
      times.ours.push(await secondsOf(() => decoders.run('transcode', 'bench', 'transcode', input)));
      times.bare.push(
        await secondsOf(() => run('nice', ['-n', '5', 'ffmpeg', ...bareCommand(path, outDir)])),
      );
    }
    const [ours, bare] = [median(times.ours), median(times.bare)];
    console.log(`${SECONDS} s of 1080p to three rungs: ours ${ours.toFixed(1)} s, bare ${bare.toFixed(1)} s`);
    console.log(`ratio ${(bare / ours).toFixed(2)}`);
  } finally {
    await decoders.close();
    await rm(directory, { recursive: true, force: true });
  }
}
