/** Where a route of a module is; `path` has no slash in front. */
export function modulePath(name: string, path: string): string {
  return `/v1/modules/${name}/${path}`;
}

/** What permissions for the routes of a module are about. */
export function resourceOfModule(name: string): string {
  return `modules/${name}`;
}
