/** Which mail a turn takes, and with whose authority it then acts (SPEC T5, I6). */
import { describe, expect, test } from "vitest";
import type { Mail, MailBody } from "../../../src/engine/mail.ts";
import type { Role } from "../../../src/engine/person.ts";
import { authorityOf, firstBatch, joinAuthority, joinable } from "../../../src/engine/turn/take-mail.ts";

/** "A1" = Ann on route 1; "b" = bot mail; "g" = background. */
function mailOf(sign: string, at: number): Mail {
  const names: Record<string, string> = { A: "Ann", B: "Bob" };
  const kind = sign === "b" ? "bot" : sign === "g" ? "background" : "person";
  const letter = sign[0] ?? "";
  return {
    id: `${sign}#${at}`,
    sessionId: "ses",
    kind,
    route: kind === "person" ? `route${sign[1] ?? ""}` : "route1",
    body: kind === "person" ? { type: "message", role: "member" } : { type: "host", text: "x" },
    audience: "a",
    hops: 0,
    orderAt: new Date(at),
    ...(kind === "person" ? { authorId: `slack:T1:${letter}`, authorName: names[letter] ?? letter } : {}),
  };
}
const box = (signs: string) => signs.split(" ").filter(Boolean).map(mailOf);

describe("a turn begins with", () => {
  test.each([
    ["", ""],
    ["A1", "A1#0"],
    ["A1 A1 A1", "A1#0 A1#1 A1#2"],
    ["A1 B1 A1", "A1#0 A1#2"],
    ["A1 A2", "A1#0"],
    ["B1 A1", "B1#0"],
    ["b A1", "b#0"],
    ["b b", "b#0"],
    ["g A1 A1", "g#0"],
    ["A1 b A1 g A1", "A1#0 A1#2 A1#4"],
  ])("of the mailbox %j: %j", (due, taken) => {
    expect(
      firstBatch(box(due))
        .map((mail) => mail.id)
        .join(" "),
    ).toBe(taken);
  });
});

test("what a person answered to a card in a Group is told in a turn of its own", () => {
  const ask = { discussionId: "dis", key: "card:1" };
  const [first, second] = box("A1 A1") as [Mail, Mail];
  const answer: Mail = { ...second, body: { type: "host", text: "x", ask } };
  expect(firstBatch([first, answer])).toEqual([first]);
  expect(firstBatch([answer, first])).toEqual([answer]);
});

describe("a running turn is joined by", () => {
  test.each([
    ["A1", "A1 B1 A2 b g A1", "A1#0 A1#5"],
    ["A1 B1", "B1 A1", "B1#0 A1#1"],
    ["b", "A1 b", ""],
    ["g", "A1 g", ""],
    ["A1", "", ""],
    ["", "A1", ""],
  ])("serving %j, of the mailbox %j: %j", (taken, due, joined) => {
    expect(
      joinable(box(due), box(taken))
        .map((mail) => mail.id)
        .join(" "),
    ).toBe(joined);
  });
});

describe("its authority", () => {
  const from = (person: string, role: Role | undefined, body: Partial<MailBody> = {}): Mail => ({
    ...mailOf(`${person}1`, 0),
    body: { type: "message", ...(role ? { role } : {}), ...body } as MailBody,
  });

  test("is the lowest role among the people it serves", () => {
    const { role, personIds, names } = authorityOf([from("A", "admin"), from("B", "member"), from("A", "admin")]);
    expect({ role, personIds }).toEqual({ role: "member", personIds: ["slack:T1:A", "slack:T1:B"] });
    expect(names).toEqual({ "slack:T1:A": "Ann", "slack:T1:B": "Bob" });
  });

  test.each<[string, Role | undefined, Role]>([
    ["owner", "owner", "owner"],
    ["guest", "guest", "guest"],
    ["nothing known", undefined, "guest"],
  ])("of one person with %s", (_name, role, expected) => expect(authorityOf([from("A", role)]).role).toBe(expected));

  test("never rises because a person's mail does not say its role", () => {
    expect(authorityOf([from("A", undefined, { type: "host", text: "dismissed" })]).role).toBe("guest");
    expect(authorityOf([from("A", "admin"), from("A", undefined)]).role).toBe("guest");
  });

  test("without a person is a member's, for nobody", () => {
    expect(authorityOf(box("b g"))).toEqual({ role: "member", personIds: [], names: {} });
  });

  test("falls, and never rises, when more people join", () => {
    const admin = authorityOf([from("A", "admin")]);
    const guest = authorityOf([from("B", "guest")]);
    expect(joinAuthority(admin, guest)).toEqual({
      role: "guest",
      personIds: ["slack:T1:A", "slack:T1:B"],
      names: { "slack:T1:A": "Ann", "slack:T1:B": "Bob" },
    });
    expect(joinAuthority(guest, admin).role).toBe("guest");
  });
});
