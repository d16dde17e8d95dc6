import sharp from 'sharp';

// No cache that grows, and one thread a picture: a worker has as many pictures in hand as there are cores.
sharp.cache(false);
sharp.concurrency(1);

/** The one way to libvips. It is large: who serves imports it with the first picture, not with the start. */
export { sharp };
