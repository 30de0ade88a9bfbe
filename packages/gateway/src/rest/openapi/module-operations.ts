import type { EnabledModules } from "@shoal/module-api";
import { modulePath } from "../module-paths.js";
import type { Operation } from "./operation.js";

/** The routes of modules, as they describe them. */
export function moduleOperations(modules: EnabledModules): readonly Operation[] {
  return modules.all.flatMap(({ name, routes = [] }) =>
    routes.map(
      ({ method, path, operation }): Operation => ({
        method,
        path: modulePath(name, path),
        tag: "modules",
        ...operation,
      }),
    ),
  );
}
