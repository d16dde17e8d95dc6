import type { BufferGeometry, Mesh, Object3D } from 'three';

/** Returns whether all normals are zero, as some STL exporters write them. */
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
 * Replaces zero normals of a model by the normals of its faces; otherwise lighting would have no effect. Surfaces
 * without normals are already shaded by face.
 */
export function computeEmptyNormals(model: Object3D): void {
  model.traverse((object) => {
    if (!isMesh(object) || !areEmpty(object.geometry)) return;
    const given: BufferGeometry = object.geometry;
    // Shared vertices would be shaded smoothly.
    const geometry = given.index === null ? given : given.toNonIndexed();
    geometry.deleteAttribute('normal');
    geometry.computeVertexNormals();
    object.geometry = geometry;
  });
}
