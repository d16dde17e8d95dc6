export interface Box {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the largest box with a picture's aspect ratio inside a container, in CSS pixels, no larger than the
 * picture.
 */
export function fitInside(picture: { width: number | null; height: number | null }, room: Box): Box {
  const { width, height } = picture;
  if (width === null || height === null || width <= 0 || height <= 0) {
    const edge = Math.min(room.width, room.height);
    return { width: edge, height: edge };
  }
  const scale = Math.min(1, room.width / width, room.height / height);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}
