import { describe, expect, it } from "vitest";
import { refuseMisspelledVariables } from "./misspelled-variables.js";
import { SETTINGS } from "./setting-groups.js";
import { UNBUILT_FEATURES } from "./unbuilt-features.js";
import { UNBUILT_VARIABLES } from "./unbuilt-variables.js";

describe("refuseMisspelledVariables", () => {
  it.each([
    ["AUTHENTICATION_OIDC_ISUER", "AUTHENTICATION_OIDC_ISSUER"],
    ["AUTHENTICATION_OIDC_USER_CLAIM", "AUTHENTICATION_OIDC_USERNAME_CLAIM"],
    ["AUTHENTICATION_APIKEYS_ENABLED", "AUTHENTICATION_APIKEY_ENABLED"],
    ["AUTHENTCATION_OIDC_ENABLED", "AUTHENTICATION_OIDC_ENABLED"],
    ["AUTHORIZATION_ADMINLIST_READ_ONLY_USERS", "AUTHORIZATION_ADMINLIST_READONLY_USERS"],
    ["authorization_rbac_enabled", "AUTHORIZATION_RBAC_ENABLED"],
    ["AUTHORIZATION_USERS", "AUTHORIZATION_ADMIN_USERS"],
    ["REQUIRE_AUTHENTICATION", "REQUIRES_AUTHENTICATION"],
    ["AUTOSCHEMA_ENABLE", "AUTOSCHEMA_ENABLED"],
    ["PERSISTENCE_DATAPATH", "PERSISTENCE_DATA_PATH"],
    ["QUERY_MAXIMUM_RESULT", "QUERY_MAXIMUM_RESULTS"],
    ["LOG_LEVL", "LOG_LEVEL"],
    ["WIRE_PROFIEL", "WIRE_PROFILE"],
  ])("refuses %s, naming %s", (variable, nearest) => {
    expect(() => refuseMisspelledVariables({ PATH: "/bin", [variable]: "x" })).toThrow(
      `"${variable}" is no variable of this server, but looks like one: the nearest is ${nearest}; unset it or correct it`,
    );
  });

  it("lets other programs' variables be, and empty ones", () => {
    refuseMisspelledVariables({
      HTTP_PROXY: "x",
      HOSTNAME: "x",
      HOME: "x",
      POST: "x",
      PORTS: "x",
      LOG_FILE: "x",
      QUERY_STRING: "x",
      CLUSTER_NAME: "x",
      AUTHENTICATION_SERVICE_HOST: "10.0.0.1",
      AUTHENTICATION_SERVICE_PORT_HTTP: "80",
      AUTHENTICATION_PORT: "tcp://10.0.0.1:80",
      AUTHENTICATION_PORT_80_TCP_ADDR: "10.0.0.1",
      AUTHORIZATION_: "",
      AUTHENTICATION_OIDC_ISUER: "",
      REQUIRE_AUTHENTICATION: undefined,
    });
  });

  it("lets every variable be that is known", () => {
    const all = [...SETTINGS, ...UNBUILT_FEATURES, ...UNBUILT_VARIABLES].map(({ variable }) => [variable, "x"]);
    refuseMisspelledVariables(Object.fromEntries(all));
  });
});
