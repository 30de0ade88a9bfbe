import { describe, expect, it } from "vitest";
import { digestOfKey, parseApiKeyFile } from "./api-keys.js";
import { type Configuration, readConfiguration } from "./configuration.js";
import { readConfigurationText } from "./configuration-text.js";
import { environmentSource } from "./setting.js";

function readWithWarnings(environment: Record<string, string>, file = "") {
  const values = readConfigurationText(file, "f.yaml");
  const warnings: string[] = [];
  const configuration = readConfiguration([environmentSource(environment), ({ key }) => values.get(key)], (message) =>
    warnings.push(message),
  );
  return { configuration, warnings };
}

function read(environment: Record<string, string>, file = ""): Configuration {
  return readWithWarnings(environment, file).configuration;
}

const OIDC = {
  AUTHENTICATION_OIDC_ENABLED: "true",
  AUTHENTICATION_OIDC_ISSUER: "https://issuer.example.com/realm/",
  AUTHENTICATION_OIDC_USERNAME_CLAIM: "email",
  AUTHENTICATION_OIDC_CLIENT_ID: "shoal",
};

const OIDC_FILE = `
authentication:
  oidc:
    enabled: true
    issuer: https://issuer.example.com/realm/
    username_claim: email
    client_id: shoal
    groups_claim: groups
`;

describe("authentication", () => {
  it("lets everybody in when nothing is said, and tells nobody", () => {
    expect(readWithWarnings({})).toMatchObject({
      configuration: { authentication: { anonymousAccess: true, oidc: undefined }, authorization: undefined },
      warnings: [],
    });
  });

  it("keeps anonymous requests out with OpenID Connect alone, and the issuer exactly as written", () => {
    expect(read(OIDC).authentication).toEqual({
      anonymousAccess: false,
      oidc: {
        issuer: "https://issuer.example.com/realm/",
        clientId: "shoal",
        skipClientIdCheck: false,
        usernameClaim: "email",
        groupsClaim: undefined,
        scopes: [],
        keysUrl: undefined,
      },
    });
    expect(read({}, OIDC_FILE).authentication).toMatchObject({
      anonymousAccess: false,
      oidc: { groupsClaim: "groups" },
    });
  });

  it("combines both schemes when both are named", () => {
    const { anonymousAccess, oidc } = read({ ...OIDC, AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true" }).authentication;
    expect(anonymousAccess).toBe(true);
    expect(oidc?.clientId).toBe("shoal");
  });

  it("lets a variable switch off what the file switches on, and the other way round", () => {
    const off = read({ AUTHENTICATION_OIDC_ENABLED: "false" }, OIDC_FILE).authentication;
    expect(off).toEqual({ anonymousAccess: true, oidc: undefined });
    const on = read(
      { AUTHENTICATION_OIDC_ENABLED: "1" },
      OIDC_FILE.replace("enabled: true", "enabled: false"),
    ).authentication;
    expect(on.oidc?.usernameClaim).toBe("email");
  });

  it("refuses to let nobody in", () => {
    expect(() => read({ AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "false" })).toThrow(
      /^invalid config: no authentication scheme configured, you must select at least one/,
    );
    expect(() => read({}, "authentication: {anonymous_access: {enabled: false}, oidc: {enabled: false}}")).toThrow(
      "authentication.anonymous_access.enabled (f.yaml line 1) is false",
    );
  });

  it("names all missing fields of OpenID Connect at once", () => {
    expect(() => read({ AUTHENTICATION_OIDC_ENABLED: "true" })).toThrow(
      "oidc init: invalid config: missing required field 'issuer', missing required field 'username_claim', missing required field 'client_id': either set a client_id or explicitly disable the check with 'skip_client_id_check: true'",
    );
    const { AUTHENTICATION_OIDC_USERNAME_CLAIM: _, ...rest } = OIDC;
    expect(() => read(rest)).toThrow(
      /^oidc init: invalid config: missing required field 'username_claim' \(AUTHENTICATION_OIDC_ENABLED is true\)$/,
    );
  });

  it("needs no client id when its check is skipped", () => {
    const { AUTHENTICATION_OIDC_CLIENT_ID: _, ...rest } = OIDC;
    expect(() => read(rest)).toThrow("missing required field 'client_id'");
    expect(() => read({ ...rest, AUTHENTICATION_OIDC_SKIP_CLIENT_ID_CHECK: "false" })).toThrow("'client_id'");
    expect(read({ ...rest, AUTHENTICATION_OIDC_SKIP_CLIENT_ID_CHECK: "true" }).authentication.oidc).toMatchObject({
      clientId: undefined,
      skipClientIdCheck: true,
    });
  });

  it("does not look at the details while OpenID Connect is off, but says so", () => {
    const { configuration, warnings } = readWithWarnings({
      AUTHENTICATION_OIDC_ISSUER: "not a url",
      AUTHENTICATION_OIDC_SKIP_CLIENT_ID_CHECK: "perhaps",
    });
    expect(configuration.authentication).toEqual({ anonymousAccess: true, oidc: undefined });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^AUTHENTICATION_OIDC_ISSUER is set but has no effect/);
  });

  it.each(["issuer.example.com", "ftp://x", "https://x?y=1", "https://u:p@x", "https://x#y", "https://x y"])(
    "refuses the issuer %j",
    (issuer) => {
      expect(() => read({ ...OIDC, AUTHENTICATION_OIDC_ISSUER: issuer })).toThrow(
        `AUTHENTICATION_OIDC_ISSUER must be an absolute http or https URL without query, got ${JSON.stringify(issuer)}`,
      );
    },
  );

  it.each([
    ["https://keycloak", 0],
    ["http://127.0.0.1:8080/realm", 0],
    ["http://127.9.9.9", 0],
    ["http://localhost:1", 0],
    ["http://[::1]:1", 0],
    ["http://keycloak:8080", 1],
    ["http://127.0.0.1.example.com", 1],
    ["http://10.0.0.1", 1],
  ])("warns where an issuer is asked over a network without TLS: %s", (issuer, warningCount) => {
    const { configuration, warnings } = readWithWarnings({ ...OIDC, AUTHENTICATION_OIDC_ISSUER: issuer });
    expect(configuration.authentication.oidc?.issuer).toBe(issuer);
    expect(warnings).toHaveLength(warningCount);
    for (const warning of warnings) expect(warning).toContain(issuer);
  });

  it.each(["true", "TRUE", "on", "On", "enabled", "1"])("takes %j for on", (word) => {
    expect(read({ ...OIDC, AUTHENTICATION_OIDC_ENABLED: word }).authentication.oidc).toBeDefined();
  });

  it.each(["false", "False", "off", "disabled", "0"])("takes %j for off", (word) => {
    expect(read({ ...OIDC, AUTHENTICATION_OIDC_ENABLED: word }).authentication.oidc).toBeUndefined();
  });

  it.each(["yes", "no", "tru", " true", "2", "null"])("refuses %j, which may mean either", (word) => {
    expect(() => read({ ...OIDC, AUTHENTICATION_OIDC_ENABLED: word })).toThrow(
      `AUTHENTICATION_OIDC_ENABLED must be one of true, on, enabled, 1, false, off, disabled, 0, got ${JSON.stringify(word)}`,
    );
  });
});

describe("requiresAuthentication", () => {
  const { AUTHENTICATION_OIDC_ENABLED: _, ...details } = OIDC;

  it("switches OpenID Connect on and anonymous access off", () => {
    expect(read({ ...details, REQUIRES_AUTHENTICATION: "true" }).authentication).toMatchObject({
      anonymousAccess: false,
      oidc: { issuer: OIDC.AUTHENTICATION_OIDC_ISSUER },
    });
    expect(read({}, `requiresAuthentication: true\n${OIDC_FILE}`).authentication).toMatchObject({
      anonymousAccess: false,
      oidc: { clientId: "shoal" },
    });
  });

  it("wins over anonymous access that is switched on, with a warning", () => {
    const { configuration, warnings } = readWithWarnings({
      ...OIDC,
      REQUIRES_AUTHENTICATION: "true",
      AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true",
    });
    expect(configuration.authentication.anonymousAccess).toBe(false);
    expect(warnings).toEqual([
      "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED is true but has no effect: REQUIRES_AUTHENTICATION switches anonymous access off",
    ]);
  });

  it("demands OpenID Connect, fully set", () => {
    expect(() => read({ REQUIRES_AUTHENTICATION: "true" })).toThrow(
      /missing required field 'issuer', missing required field 'username_claim', missing required field 'client_id'.* \(REQUIRES_AUTHENTICATION is true\)$/,
    );
    expect(() => read({ ...details, REQUIRES_AUTHENTICATION: "true", AUTHENTICATION_OIDC_ENABLED: "false" })).toThrow(
      "REQUIRES_AUTHENTICATION is true and demands OpenID Connect or API keys, but AUTHENTICATION_OIDC_ENABLED is false and AUTHENTICATION_APIKEY_ENABLED is not true",
    );
  });
});

describe("API keys", () => {
  const on = (more: Record<string, string>) => ({ AUTHENTICATION_APIKEY_ENABLED: "on", ...more });
  const KEYS = "AUTHENTICATION_APIKEY_ALLOWED_KEYS";
  const USERS = "AUTHENTICATION_APIKEY_USERS";
  const FILE = "AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE";
  const holders = (environment: Record<string, string>, file?: string) =>
    read(environment, file).authentication.apiKeys?.allowed.map(({ username }) => username);

  it("switch anonymous access off unless it is named, and stand beside OpenID Connect", () => {
    const settings = on({ [KEYS]: "k1", [USERS]: "ann" });
    expect(read(settings).authentication).toMatchObject({ anonymousAccess: false, oidc: undefined });
    expect(read({ ...settings, AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: "true" }).authentication).toMatchObject({
      anonymousAccess: true,
    });
    expect(read({ ...settings, ...OIDC }).authentication).toMatchObject({ apiKeys: {}, oidc: { clientId: "shoal" } });
    expect(read({ ...settings, REQUIRES_AUTHENTICATION: "true" }).authentication).toMatchObject({
      anonymousAccess: false,
      oidc: undefined,
    });
  });

  it("belong to one user, or to as many as there are, in their order", () => {
    expect(holders(on({ [KEYS]: "k1,k2", [USERS]: "ann" }))).toEqual(["ann", "ann"]);
    expect(holders(on({ [KEYS]: "k1,k2", [USERS]: "ann,bob" }))).toEqual(["ann", "bob"]);
    const file = "authentication:\n  apikey: {enabled: true, allowed_keys: [k1, k2], users: [ann, bob]}";
    expect(holders({}, file)).toEqual(["ann", "bob"]);
  });

  it("are kept as digests", () => {
    const { allowed } = read(on({ [KEYS]: "k1", [USERS]: "ann" })).authentication.apiKeys ?? {};
    expect(allowed).toEqual([{ digest: digestOfKey("k1"), username: "ann" }]);
    expect(digestOfKey("abc").toString("hex")).toMatch(/^ba7816bf8f01cfea414140de5dae2223/);
  });

  it.each([
    [{}, /^invalid apikey config: need at least one valid allowed key \(AUTHENTICATION_APIKEY_ENABLED is true/],
    [{ [KEYS]: "", [USERS]: "ann" }, /need at least one valid allowed key/],
    [{ [KEYS]: "k1,,k2", [USERS]: "ann" }, /^invalid apikey config: keys cannot have length 0/],
    [{ [KEYS]: "k1" }, /need at least one user/],
    [
      { [KEYS]: "k1,k2,k3", [USERS]: "ann,bob" },
      /length of users and keys must match, alternatively provide single user for all keys/,
    ],
    [{ [FILE]: "f", [USERS]: "ann,bob" }, /length of users and keys must match/],
    [{ [KEYS]: "k1, k2", [USERS]: "ann" }, /without space and comma/],
    [{ [KEYS]: "k1,k\u00e4", [USERS]: "ann" }, /visible ASCII/],
    [{ [KEYS]: "k1,k2", [USERS]: "ann, bob" }, /no space at its ends/],
    [{ [KEYS]: "k1,k2", [USERS]: "ann," }, /a user's name has 1 to 256 characters/],
    [{ [KEYS]: "k1,k1", [USERS]: "ann,bob" }, /the users 'ann' and 'bob' have the same key/],
  ])("stop the start when they are wrong: %j", (settings, message) => {
    expect(() => read(on(settings))).toThrow(message);
  });

  it("in form of a token are refused beside an issuer, which they would be sent to", () => {
    const settings = on({ [KEYS]: "eyJhbGciOiJub25lIn0.e30.", [USERS]: "ann" });
    expect(holders(settings)).toEqual(["ann"]);
    expect(() => read({ ...settings, ...OIDC })).toThrow("a key in form of a JSON Web Token cannot be used while");
  });

  it("never stand in an error", () => {
    const secret = "s3cr3t";
    for (const settings of [
      { [KEYS]: `${secret},${secret} x`, [USERS]: "ann" },
      { [KEYS]: `${secret},${secret}`, [USERS]: "ann,bob" },
      { [KEYS]: `${secret},b,c`, [USERS]: "ann,bob" },
      { [KEYS]: `${secret}\u0000`, [USERS]: "ann" },
    ]) {
      expect(() => read(on(settings))).toThrow(/^(?!.*s3cr3t)/);
    }
    const file = `authentication:\n  apikey: {enabled: true, allowed_keys: [${secret}, true], users: [ann]}`;
    expect(() => read({}, file)).toThrow(/^(?!.*s3cr3t).*got a value that is not shown/);
  });

  it("of few characters are warned about once, without any key", () => {
    const read = (keys: string) => readWithWarnings(on({ [KEYS]: keys, [USERS]: "ann" }));
    const long = "0123456789abcdef";
    expect(read(long).warnings).toEqual([]);
    const [warning = "", ...others] = read(`${long},Q,Q7`).warnings;
    expect(others).toEqual([]);
    expect(warning).toContain(
      `${KEYS} has 2 keys of fewer than 16 characters, which can be guessed: key 2 (user 'ann'), key 3 (user 'ann'); `,
    );
    expect(warning).not.toContain("Q");
    const many = read(Array.from({ length: 20 }, (_, i) => `Q${i}`).join()).warnings;
    expect(many).toEqual([expect.stringMatching(/ has 20 keys .* key 8 \(user 'ann'\), and 12 more; /)]);
  });

  it("that are off are warned about", () => {
    const { warnings } = readWithWarnings({ [KEYS]: "k1", [FILE]: "f" });
    expect(warnings).toEqual([
      "AUTHENTICATION_APIKEY_ALLOWED_KEYS is set but has no effect: API keys are off (authentication.apikey.enabled)",
      "AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE is set but has no effect: API keys are off (authentication.apikey.enabled)",
    ]);
  });
});

describe("a file of API keys", () => {
  const parse = (text: string, soleUser?: string, warn: (message: string) => void = () => {}) =>
    parseApiKeyFile(text, { soleUser, besideIssuer: false }, "keys.txt", warn).map(
      ({ username, digest }) => `${username} ${digest.toString("hex")}`,
    );
  const expected = (username: string, key: string) => `${username} ${digestOfKey(key).toString("hex")}`;

  it("has a user and a key a line, or a key of the one user", () => {
    const text = "\ufeff# who may in\r\n ann , k1 \r\n\nk2\n#bob,k3\nbob,k4";
    expect(parse(text, "cyd")).toEqual([expected("ann", "k1"), expected("cyd", "k2"), expected("bob", "k4")]);
  });

  it("is warned about when it has keys of few characters, by line and user, without any key", () => {
    const warnings: string[] = [];
    parse(`# ours\nann,Q\nbob,0123456789abcdef\ncyd,Q7\n`, undefined, (message) => warnings.push(message));
    expect(warnings).toEqual([
      "'keys.txt' has 2 keys of fewer than 16 characters, which can be guessed: line 2 (user 'ann'), line 4 (user 'cyd'); " +
        "'openssl rand -hex 32' makes one that cannot",
    ]);
  });

  it.each([
    ["", "need at least one valid allowed key ('keys.txt')"],
    ["# nothing\n\n", "need at least one valid allowed key"],
    ["ann,k1\ns3cr3t", "needs exactly one user in AUTHENTICATION_APIKEY_USERS ('keys.txt', line 2)"],
    ["ann,", "keys cannot have length 0 ('keys.txt', line 1)"],
    [",s3cr3t", "a user's name has 1 to 256 characters"],
    ["ann,s3cr3t,more", "without space and comma"],
    ["ann,s3cr3t more", "without space and comma"],
    ["ann,s3cr3t\nbob,s3cr3t", "the users 'ann' and 'bob' have the same key ('keys.txt')"],
  ])("is refused with its line and never with a key: %j", (text, message) => {
    expect(() => parse(text)).toThrow(message);
    expect(() => parse(text)).toThrow(/^(?!.*s3cr3t)/);
  });
});

describe("details of OpenID Connect", () => {
  it("are scopes, and where the keys are", () => {
    const { oidc } = read({
      ...OIDC,
      AUTHENTICATION_OIDC_SCOPES: "openid, email",
      AUTHENTICATION_OIDC_JWKS_URL: "https://issuer.example.com/keys",
    }).authentication;
    expect(oidc).toMatchObject({ scopes: ["openid", "email"], keysUrl: "https://issuer.example.com/keys" });
  });

  it("that are not built stop the start, and say what to do", () => {
    expect(() => read({ ...OIDC, AUTHENTICATION_OIDC_CERTIFICATE: "/ca.pem" })).toThrow(
      /AUTHENTICATION_OIDC_CERTIFICATE asks for an issuer's certificate as a setting.*NODE_EXTRA_CA_CERTS/,
    );
  });

  it("warn of keys that come over http", () => {
    const settings = { ...OIDC, AUTHENTICATION_OIDC_JWKS_URL: "http://issuer.example.com/keys" };
    expect(readWithWarnings(settings).warnings).toEqual([
      expect.stringMatching(/^AUTHENTICATION_OIDC_JWKS_URL is http/),
    ]);
  });
});

describe("the admin list", () => {
  it("names groups too, and none as both", () => {
    const settings = { ...OIDC, AUTHORIZATION_ADMINLIST_ENABLED: "true", AUTHORIZATION_ADMINLIST_GROUPS: "ops, dba" };
    expect(read(settings).authorization).toEqual({
      users: [],
      readOnlyUsers: [],
      groups: ["ops", "dba"],
      readOnlyGroups: [],
    });
    expect(() => read({ ...settings, AUTHORIZATION_ADMINLIST_READONLY_GROUPS: "dba" })).toThrow(
      "group 'dba' is present on both admin and read-only list",
    );
  });

  it("trims names, and leaves out empty and repeated ones", () => {
    expect(
      read({
        ...OIDC,
        AUTHORIZATION_ADMINLIST_ENABLED: "true",
        AUTHORIZATION_ADMINLIST_USERS: " ann, bob b ,,ann",
        AUTHORIZATION_ADMINLIST_READONLY_USERS: "carl",
      }).authorization,
    ).toEqual({ users: ["ann", "bob b"], readOnlyUsers: ["carl"], groups: [], readOnlyGroups: [] });
  });

  it("is a list in a file", () => {
    const file =
      "authorization:\n  admin_list:\n    enabled: true\n    users:\n      - ann\n    read_only_users: [bob, carl]";
    expect(read(OIDC, file).authorization).toEqual({
      users: ["ann"],
      readOnlyUsers: ["bob", "carl"],
      groups: [],
      readOnlyGroups: [],
    });
    expect(read({ ...OIDC, AUTHORIZATION_ADMINLIST_USERS: "eve" }, file).authorization?.users).toEqual(["eve"]);
  });

  it("may have readers alone", () => {
    expect(
      read({ AUTHORIZATION_ADMINLIST_ENABLED: "on", AUTHORIZATION_ADMINLIST_READONLY_USERS: "anonymous" })
        .authorization,
    ).toEqual({ users: [], readOnlyUsers: ["anonymous"], groups: [], readOnlyGroups: [] });
  });

  it("must name somebody", () => {
    expect(() => read({ AUTHORIZATION_ADMINLIST_ENABLED: "true", AUTHORIZATION_ADMINLIST_USERS: " , " })).toThrow(
      /^invalid config: authorization: admin list: .* none of AUTHORIZATION_ADMINLIST_USERS, .*AUTHORIZATION_ADMINLIST_READONLY_GROUPS names anybody/,
    );
  });

  it("names anonymous where everybody is", () => {
    const on = { AUTHORIZATION_ADMINLIST_ENABLED: "true", AUTHORIZATION_ADMINLIST_USERS: "ann" };
    expect(() => read(on)).toThrow(
      /AUTHORIZATION_ADMINLIST_ENABLED is on, but neither .*APIKEY_ENABLED nor .*OIDC_ENABLED is true: everybody is anonymous, who is on no list\. Switch/,
    );
    for (const list of ["USERS", "READONLY_USERS", "GROUPS", "READONLY_GROUPS"]) {
      const { configuration, warnings } = readWithWarnings({
        ...on,
        AUTHORIZATION_ADMINLIST_USERS: "",
        [`AUTHORIZATION_ADMINLIST_${list}`]: "anonymous",
      });
      expect(configuration.authorization).toBeDefined();
      expect(warnings).toEqual([]);
    }
    expect(read({ ...on, AUTHENTICATION_DB_USERS_ENABLED: "true" }).authorization).toBeDefined();
  });

  it("says that nobody is in a group where tokens have none", () => {
    const lists = {
      AUTHORIZATION_ADMINLIST_ENABLED: "true",
      AUTHORIZATION_ADMINLIST_GROUPS: "ops",
      AUTHORIZATION_ADMINLIST_READONLY_GROUPS: "anonymous, dev",
    };
    const said = (needed: string) =>
      ["", "READONLY_"].map(
        (kind) =>
          `AUTHORIZATION_ADMINLIST_${kind}GROUPS names groups, which come with tokens, but nobody is in one: ${needed} is not set`,
      );
    const keys = {
      AUTHENTICATION_APIKEY_ENABLED: "true",
      AUTHENTICATION_APIKEY_ALLOWED_KEYS: "0123456789abcdef",
      AUTHENTICATION_APIKEY_USERS: "ann",
    };
    expect(readWithWarnings({ ...keys, ...lists }).warnings).toEqual(said("AUTHENTICATION_OIDC_ENABLED"));
    expect(readWithWarnings({ ...OIDC, ...lists }).warnings).toEqual(said("AUTHENTICATION_OIDC_GROUPS_CLAIM"));
    expect(readWithWarnings({ ...lists, ...OIDC, AUTHENTICATION_OIDC_GROUPS_CLAIM: "groups" }).warnings).toEqual([]);
  });

  it("has nobody on both lists", () => {
    expect(() =>
      read({
        AUTHORIZATION_ADMINLIST_ENABLED: "true",
        AUTHORIZATION_ADMINLIST_USERS: "a,b",
        AUTHORIZATION_ADMINLIST_READONLY_USERS: "c, b",
      }),
    ).toThrow("invalid config: authorization: admin list: subject 'b' is present on both admin and read-only list");
  });

  it("has no effect while it is off, and says so", () => {
    const { configuration, warnings } = readWithWarnings({ AUTHORIZATION_ADMINLIST_USERS: "ann" });
    expect(configuration.authorization).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/^AUTHORIZATION_ADMINLIST_USERS is set but has no effect/)]);
  });

  it("takes texts only", () => {
    const file = (users: string) => `authorization: {admin_list: {enabled: true, users: ${users}}}`;
    for (const users of ["[1]", "true", "7", "[[a]]"]) expect(() => read({}, file(users)), users).toThrow(/list/);
  });
});
