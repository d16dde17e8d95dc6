import type { BufferGeometry, Mesh, Object3D } from 'three';

/** Whether no normal has a direction, as some writers of STL leave them. */
function areEmpty(geometry: BufferGeometry): boolean {
  const normals = geometry.getAttribute('normal');
  if (normals === undefined) return false;
  for (let at = 0; at < normals.count; at += 1) {
    if (Math.hypot(normals.getX(at), normals.getY(at), normals.getZ(at)) > 1e-6) return false;
  }
  return true;
}

function isMesh(object: Object3D): object is Mesh {
  return 'isMesh' in object && object.isMesh === true;
}

/**
 * Gives the surfaces of a model whose normals are all empty the normals of their faces; with empty ones, light falls on every
 * side alike. Surfaces without any normals are shaded by their faces already.
 */
export function computeEmptyNormals(model: Object3D): void {
  model.traverse((object) => {
    if (!isMesh(object) || !areEmpty(object.geometry)) return;
    const given: BufferGeometry = object.geometry;
    // Corners that several faces share would be rounded.
    const geometry = given.index === null ? given : given.toNonIndexed();
    geometry.deleteAttribute('normal');
    geometry.computeVertexNormals();
    object.geometry = geometry;
  });
}
