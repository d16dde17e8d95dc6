import type { FastifyBaseLogger } from 'fastify';
import type { Encoder, EncoderInfo } from '../../core/deps.ts';

/** The encoder cannot be reached now; a retry may succeed. */
export class EncoderUnavailable extends Error {}

/** The encoder refused this picture. */
export class PictureRefused extends Error {}

const LOOK_EVERY_MS = 60_000;
const LOOK_TIMEOUT_MS = 2_000;
const ENCODE_TIMEOUT_MS = 15_000;
/** More than a vector of 4,096 numbers takes as JSON. */
const MOST_ANSWER_BYTES = 256 * 1024;
const LEAST_DIMENSIONS = 8;
const MOST_DIMENSIONS = 4096;

/** Reads a response as JSON, limited in size. */
async function jsonOf(response: Response): Promise<unknown> {
  if (response.body === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MOST_ANSWER_BYTES) throw new EncoderUnavailable("the encoder's response is too large");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function readInfo(answer: unknown): EncoderInfo {
  if (typeof answer !== 'object' || answer === null)
    throw new EncoderUnavailable('GET /info returned no object');
  const model = 'model' in answer ? answer.model : undefined;
  const version = 'version' in answer ? answer.version : undefined;
  const dimensions = 'dimensions' in answer ? answer.dimensions : undefined;
  if (typeof model !== 'string' || !/^[\w.:/-]{1,100}$/.test(model))
    throw new EncoderUnavailable('GET /info returned no valid model');
  if (typeof version !== 'string' || !/^[\w.:/-]{1,100}$/.test(version))
    throw new EncoderUnavailable('GET /info returned no valid version');
  if (
    typeof dimensions !== 'number' ||
    !Number.isInteger(dimensions) ||
    dimensions < LEAST_DIMENSIONS ||
    dimensions > MOST_DIMENSIONS
  ) {
    throw new EncoderUnavailable(`dimensions must be ${LEAST_DIMENSIONS} to ${MOST_DIMENSIONS}`);
  }
  return { model: `${model}@${version}`, dimensions };
}

/** Scales the numbers to a vector of length one. */
function readVector(answer: unknown, dimensions: number): number[] {
  const given: unknown =
    typeof answer === 'object' && answer !== null && 'vector' in answer ? answer.vector : undefined;
  if (!Array.isArray(given) || given.length !== dimensions) {
    throw new EncoderUnavailable(`the encoder returned no vector of ${dimensions} numbers`);
  }
  const numbers = given.filter(
    (value): value is number => typeof value === 'number' && Number.isFinite(value),
  );
  const length = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0));
  if (numbers.length !== dimensions || !Number.isFinite(length) || length < 1e-12) {
    throw new EncoderUnavailable('the encoder returned a zero vector');
  }
  return numbers.map((value) => value / length);
}

/** Turns every other error into EncoderUnavailable. */
async function reach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EncoderUnavailable || error instanceof PictureRefused) throw error;
    throw new EncoderUnavailable(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Opens the encoder at an address: checks it immediately and then every minute, to find one that is started later or
 * has another model.
 */
export async function openEncoder(address: string, log: FastifyBaseLogger): Promise<Encoder> {
  let info: EncoderInfo | null = null;
  async function look(): Promise<void> {
    try {
      const found = await reach(async () => {
        const response = await fetch(`${address}/info`, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) });
        if (!response.ok) throw new EncoderUnavailable(`GET /info returned ${response.status}`);
        return readInfo(await jsonOf(response));
      });
      if (info?.model !== found.model) log.info({ encoder: found.model }, 'visual encoder found');
      info = found;
    } catch (error) {
      if (info !== null) log.warn({ err: error }, 'visual encoder lost');
      info = null;
    }
  }
  await look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  return {
    get info() {
      return info;
    },
    look,
    async encode(picture) {
      const asked = info;
      if (asked === null) throw new EncoderUnavailable('the encoder is unreachable');
      const vector = await reach(async () => {
        const response = await fetch(`${address}/encode`, {
          method: 'POST',
          headers: { 'content-type': 'application/octet-stream' },
          body: new Uint8Array(picture),
          signal: AbortSignal.timeout(ENCODE_TIMEOUT_MS),
        });
        if (response.status === 422) throw new PictureRefused('the encoder cannot read the picture');
        if (!response.ok) throw new EncoderUnavailable(`POST /encode returned ${response.status}`);
        return readVector(await jsonOf(response), asked.dimensions);
      });
      return { model: asked.model, vector };
    },
    close: () => clearInterval(timer),
  };
}
