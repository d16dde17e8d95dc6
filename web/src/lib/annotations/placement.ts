/** Where a picture is inside its stage, in CSS pixels. */
export interface Placement {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Returns where a picture is that is shown whole in the middle of a room. */
export function containedIn(
  room: { readonly width: number; readonly height: number },
  picture: { readonly width: number; readonly height: number },
): Placement {
  const scale = Math.min(room.width / picture.width, room.height / picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  return { left: (room.width - width) / 2, top: (room.height - height) / 2, width, height };
}

/** Returns the fractions of the picture at the middle of what is visible of it. */
export function middleOf(
  { left, top, width, height }: Placement,
  room: { readonly width: number; readonly height: number },
): { x: number; y: number } {
  const middle = (start: number, size: number, end: number) =>
    ((Math.max(0, start) + Math.min(end, start + size)) / 2 - start) / size;
  return { x: middle(left, width, room.width), y: middle(top, height, room.height) };
}
