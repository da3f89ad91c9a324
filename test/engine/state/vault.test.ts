/** Sealing and opening secrets, and keeping the key (SPEC C5). */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/engine/errors.ts";
import { SecretValue } from "../../../src/engine/secret-value.ts";
import { createSecretLink, hashSecretLink } from "../../../src/engine/state/secret-links.ts";
import { createVaultCipher, type SealedValue } from "../../../src/engine/state/vault.ts";
import { loadVaultKey, toVaultKey, type VaultKeys } from "../../../src/engine/state/vault-key.ts";

const PLACE = { botId: "ada", connector: "github", field: "token" };

function newKeys(...more: VaultKeys[]): VaultKeys {
  const current = toVaultKey(randomBytes(32));
  return { current, all: [current, ...more.flatMap((keys) => keys.all)] };
}

function flip(sealed: SealedValue, part: "nonce" | "ciphertext" | "tag"): SealedValue {
  const bytes = new Uint8Array(sealed[part]);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return { ...sealed, [part]: bytes };
}

describe("sealing", () => {
  const keys = newKeys();
  const cipher = createVaultCipher(keys);
  const sealed = cipher.seal({ plaintext: new SecretValue("ghp_töken-✓"), aad: PLACE });

  test("a sealed secret opens again in its place", () => {
    const opened = cipher.unseal(sealed, PLACE);
    expect(opened.ok && opened.value.reveal()).toBe("ghp_töken-✓");
    expect(sealed).toMatchObject({ keyId: keys.current.id });
    expect([sealed.nonce.length, sealed.tag.length]).toEqual([12, 16]);
  });

  test("the same secret sealed twice looks different", () => {
    const again = cipher.seal({ plaintext: new SecretValue("ghp_töken-✓"), aad: PLACE });
    expect(Buffer.from(again.ciphertext)).not.toEqual(Buffer.from(sealed.ciphertext));
    expect(Buffer.from(sealed.ciphertext).includes("ghp_")).toBe(false);
  });

  test.each([
    { ...PLACE, botId: "bo" },
    { ...PLACE, connector: "gitlab" },
    { ...PLACE, field: "password" },
    { botId: "ada", connector: "githubtok", field: "en" },
  ])("moved to another place (%o) it does not open", (place) => {
    expect(cipher.unseal(sealed, place)).toMatchObject({ ok: false, reason: "damaged" });
  });

  test.each(["nonce", "ciphertext", "tag"] as const)("with a changed %s it does not open", (part) => {
    expect(cipher.unseal(flip(sealed, part), PLACE)).toMatchObject({ ok: false, reason: "damaged" });
  });

  test("a shortened tag or missing part does not open", () => {
    expect(cipher.unseal({ ...sealed, tag: sealed.tag.slice(0, 4) }, PLACE)).toMatchObject({ reason: "damaged" });
    expect(cipher.unseal({ ...sealed, nonce: new Uint8Array() }, PLACE)).toMatchObject({ reason: "damaged" });
    expect(cipher.unseal({ ...sealed, ciphertext: new Uint8Array() }, PLACE)).toMatchObject({ reason: "damaged" });
  });

  test("after a change of key, old secrets open and new ones use the new key", () => {
    const rotated = createVaultCipher(newKeys(keys));
    expect(rotated.unseal(sealed, PLACE)).toMatchObject({ ok: true });
    const fresh = rotated.seal({ plaintext: new SecretValue("new-secret"), aad: PLACE });
    expect(fresh.keyId).not.toBe(sealed.keyId);
    expect(cipher.unseal(fresh, PLACE)).toMatchObject({ ok: false, reason: "unknown-key" });
  });
});

describe("the key", () => {
  let dir: string;
  let keyFile: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "parley-key-"));
    keyFile = join(dir, "data", "parley.key");
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  test("is made at the first start, readable by its owner only, and stays the same", async () => {
    const first = await loadVaultKey({ keyFile });
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect((await loadVaultKey({ keyFile })).current.id).toBe(first.current.id);
    expect(readdirSync(join(dir, "data"))).toEqual(["parley.key"]);
  });

  test("is the same for processes that start together", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => loadVaultKey({ keyFile })));
    expect(new Set(all.map((keys) => keys.current.id)).size).toBe(1);
    expect(readdirSync(join(dir, "data"))).toEqual(["parley.key"]);
  });

  test.each([0o640, 0o604, 0o660])("in a file with mode %o is refused with the command that helps", async (mode) => {
    await loadVaultKey({ keyFile });
    chmodSync(keyFile, mode);
    await expect(loadVaultKey({ keyFile })).rejects.toThrow(`chmod 600 ${keyFile}`);
    await expect(loadVaultKey({ keyFile })).rejects.toThrow(ConfigError);
  });

  test("in the environment is used without making a file", async () => {
    const key = randomBytes(32);
    const keys = await loadVaultKey({ keyFile, envKey: key.toString("base64") });
    expect(keys.current.id).toBe(toVaultKey(key).id);
    expect((await loadVaultKey({ keyFile, envKey: key.toString("hex") })).current.id).toBe(keys.current.id);
    expect(existsSync(keyFile)).toBe(false);
  });

  test("in the environment goes first, and the file's key still opens older secrets", async () => {
    const old = await loadVaultKey({ keyFile });
    const keys = await loadVaultKey({ keyFile, envKey: randomBytes(32).toString("base64") });
    expect(keys.current.id).not.toBe(old.current.id);
    expect(keys.all.map((key) => key.id)).toContain(old.current.id);
  });

  test("can be changed by putting a new line first", async () => {
    const old = await loadVaultKey({ keyFile });
    const next = randomBytes(32);
    writeFileSync(keyFile, `${next.toString("base64")}\n${readFileSync(keyFile, "utf8")}`);
    const keys = await loadVaultKey({ keyFile });
    expect(keys.all.map((key) => key.id)).toEqual([toVaultKey(next).id, old.current.id]);
  });

  test.each(["", "# only a comment\n", "not a key\n"])(
    "that cannot be read (%j) is an error, never replaced",
    async (text) => {
      await loadVaultKey({ keyFile });
      writeFileSync(keyFile, text);
      await expect(loadVaultKey({ keyFile })).rejects.toThrow(ConfigError);
      expect(readFileSync(keyFile, "utf8")).toBe(text);
    },
  );

  test("is never quoted in an error", async () => {
    const wrong = "almost-a-key-but-too-short";
    await expect(loadVaultKey({ keyFile, envKey: wrong })).rejects.toThrow(/openssl rand/);
    await expect(loadVaultKey({ keyFile, envKey: wrong })).rejects.not.toThrow(wrong);
  });
});

test("a link's token is long, random, and only its hash need be kept", () => {
  const link = createSecretLink();
  expect(link.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(link.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(hashSecretLink(link.token)).toBe(link.hash);
  expect(createSecretLink().token).not.toBe(link.token);
});

test.each(["", "short", "../../../etc/passwd", `${"a".repeat(43)}=`, "a".repeat(44)])("%j is no token", (text) => {
  expect(hashSecretLink(text)).toBeNull();
});
